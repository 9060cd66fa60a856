"""What another backend installs: the distribution `braid-client`, in an environment of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "protos" / "clients" / "python"
STEP_SECONDS = 120
# What the declared dependencies bring, and what the extra `types` does: folders of this run's environment.
DEPENDENCIES = ("google", "grpc", "grpc_status", "typing_extensions.py")
TYPES = ("google-stubs", "grpc-stubs", "grpc_status-stubs")
WRONG_USE = """
from braid_client import AsyncBraid, Braid, document_input

async def wrong(braid: AsyncBraid) -> None:
    answer = await braid.comprehensive_search("who?")
    answer.resluts
    answer.result_count.upper()
    for hit in (await braid.text_search("who?")).hits:
        hit.chunk.ordinal + ""
    await braid.vector_search("who?", limit="3")
    await braid.upsert_document("a")

Braid("127.0.0.1:1", tiemout=3)
Braid("127.0.0.1:1").get_document(5)
"""
WRONG_LINES = {6, 7, 9, 10, 11, 13, 14}


@dataclass(frozen=True)
class Backend:
    """Another backend's environment."""

    python: Path
    folder: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs its Python, isolated from the repository and from this run's variables."""
        return command(str(self.python), "-I", *arguments, folder=self.folder)


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "MYPY", "PIP_"))
    }
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=STEP_SECONDS,
        check=False,
    )


def built(source: Path, folder: Path) -> Path:
    """The wheel of a project, without network."""
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", *options, "--wheel-dir", str(folder))
    made = command(*pip, str(source), folder=folder)
    assert made.returncode == 0, made.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(CLIENT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def backend(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    folder = tmp_path_factory.mktemp("backend")
    venv.create(folder / "venv", symlinks=True)
    [packages] = (folder / "venv" / "lib").glob("python*/site-packages")
    for name in (*DEPENDENCIES, *TYPES):
        (packages / name).symlink_to(Path(sysconfig.get_paths()["purelib"], name))
    with zipfile.ZipFile(wheel) as archive:  # a pure wheel: installing it is unpacking it
        archive.extractall(packages)
    return Backend(folder / "venv" / "bin" / "python", folder)


def typed(backend: Backend, program: str) -> tuple[int, list[str]]:
    """How strict mypy judges a program there: exit code and its lines."""
    (backend.folder / "program.py").write_text(program)
    options = ("--strict", "--config-file=", "--python-executable", str(backend.python))
    judged = command(
        sys.executable,
        "-m",
        "mypy",
        *options,
        "--no-incremental",
        "program.py",
        folder=backend.folder,
    )
    return judged.returncode, judged.stdout.splitlines()


def dependencies(project: Path) -> set[str]:
    read: dict[str, Any] = tomllib.loads((project / "pyproject.toml").read_text())
    return set(read["project"]["dependencies"])


def test_it_holds_the_client_and_the_messages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "braid",
        "braid_client",
        "braid_protocol",
        "buf",
    }
    assert {f"{top}/py.typed" for top in ("braid", "braid_client", "buf")} <= set(names)


def test_it_depends_on_what_the_whole_depends_on_in_the_same_versions() -> None:
    assert dependencies(CLIENT) <= dependencies(ROOT)


def test_it_is_imported_where_nothing_else_of_braid_is(backend: Backend) -> None:
    told = backend.run(
        "-c",
        "import importlib.util as u, braid_client as b; b.Braid().close(); "
        "print(b.__file__, [n for n in ('services', 'gateway', 'deploy') if u.find_spec(n)])",
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(str(backend.folder))
    assert told.stdout.endswith("[]\n")


def test_the_example_is_right_for_a_strict_type_checker(backend: Backend) -> None:
    code, told = typed(backend, (CLIENT / "example.py").read_text())
    assert code == 0, told


def test_wrong_uses_of_calls_and_answers_are_found(backend: Backend) -> None:
    code, told = typed(backend, WRONG_USE)
    found = {
        int(line[1]) for line in map(re.compile(r"program\.py:(\d+): error").match, told) if line
    }
    assert (code, found) == (1, WRONG_LINES), told


def test_the_whole_distribution_has_its_messages_typed_too(tmp_path: Path) -> None:
    names = zipfile.ZipFile(built(ROOT, tmp_path)).namelist()
    assert {"braid/py.typed", "buf/py.typed", "braid_client/py.typed"} <= set(names)
