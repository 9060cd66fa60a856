"""The TypeScript client installs as a package, and the code of its tutorial runs unchanged and prints what it says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import TYPESCRIPT_KEY, System
from tests.e2e.test_tutorial import blocks
from tests.integration.clients.conftest import PROTOS, copy_example, install, run

README = PROTOS / "clients" / "typescript" / "README.md"
CONNECT = 'new Braid("127.0.0.1:50050", { timeoutMs: 30_000 })'
COMPILER = {
    "compilerOptions": {
        "strict": True,
        "target": "es2022",
        "module": "nodenext",
        "types": ["node"],
        "skipLibCheck": True,
    },
    "files": ["tutorial.ts"],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the packed client and the compiler, as the README installs them."""
    if shutil.which("npm") is None:
        pytest.skip("the TypeScript client needs npm, which is not installed")
    source = copy_example(tmp_path_factory.mktemp("source"))
    install(source)
    for command in (("npm", "run", "build"), ("npm", "pack")):
        ended = run(source, *command)
        assert ended.code == 0, ended.out + ended.err
    [package] = source.glob("braid-client-*.tgz")
    place = tmp_path_factory.mktemp("project")
    (place / "package.json").write_text(json.dumps({"type": "module"}))
    added = run(place, "npm", "install", "--prefer-offline", str(package))
    assert added.code == 0, added.err
    # The compiler and the types of Node, which the client's own folder has.
    for name in ("typescript", "@types", "undici-types", ".bin"):
        shutil.copytree(
            source / "node_modules" / name,
            place / "node_modules" / name,
            symlinks=True,
            dirs_exist_ok=True,
        )
    return place


def test_the_tutorial_runs_and_prints_its_documented_output(project: Path, system: System) -> None:
    addresses = system.stack.addresses
    options = {
        "apiKey": TYPESCRIPT_KEY,
        "vectorTarget": addresses["vector_search"],
        "graphTarget": addresses["graph_query"],
        "timeoutMs": 30_000,
    }
    here = f"new Braid({json.dumps(addresses['agent_orchestrator'])}, {json.dumps(options)})"
    program, expected = "", ""
    for language, code, printed in blocks(README):
        if language == "sh":
            subprocess.run(["bash", "-euc", code], cwd=project, check=True, timeout=60)
        else:
            program, expected = program + code, expected + printed
    assert program.count(CONNECT) == 1
    (project / "tutorial.ts").write_text(program.replace(CONNECT, here))
    (project / "tsconfig.json").write_text(json.dumps(COMPILER))
    compiled = run(project, "npx", "tsc")
    assert compiled.code == 0, compiled.out
    ended = run(project, "node", "tutorial.js")
    assert (ended.code, ended.out, ended.err) == (0, expected, "")
