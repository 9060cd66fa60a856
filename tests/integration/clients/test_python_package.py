"""The distribution `braid-client`, installed in a separate environment as another backend does."""

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
# The packages of the declared dependencies and of the extra `types`, linked from this run's environment.
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
    """The Python environment of another backend."""

    python: Path
    folder: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs its Python, isolated from the repository and from this run's environment variables."""
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


def build_wheel(source: Path, folder: Path) -> Path:
    """Builds the wheel of a project, without network access."""
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", *options, "--wheel-dir", str(folder))
    made = command(*pip, str(source), folder=folder)
    assert made.returncode == 0, made.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(CLIENT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def backend(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    folder = tmp_path_factory.mktemp("backend")
    venv.create(folder / "venv", symlinks=True)
    [packages] = (folder / "venv" / "lib").glob("python*/site-packages")
    for name in (*DEPENDENCIES, *TYPES):
        (packages / name).symlink_to(Path(sysconfig.get_paths()["purelib"], name))
    with zipfile.ZipFile(wheel) as archive:  # a pure Python wheel is installed by unpacking it
        archive.extractall(packages)
    return Backend(folder / "venv" / "bin" / "python", folder)


def type_check(backend: Backend, program: str) -> tuple[int, list[str]]:
    """Runs strict mypy on a program in the backend's environment and returns its exit code and output lines."""
    (backend.folder / "program.py").write_text(program)
    options = ("--strict", "--config-file=", "--python-executable", str(backend.python))
    checked = command(
        sys.executable,
        "-m",
        "mypy",
        *options,
        "--no-incremental",
        "program.py",
        folder=backend.folder,
    )
    return checked.returncode, checked.stdout.splitlines()


def dependencies(project: Path) -> set[str]:
    read: dict[str, Any] = tomllib.loads((project / "pyproject.toml").read_text())
    return set(read["project"]["dependencies"])


def test_the_wheel_contains_only_the_client_and_the_messages(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "braid",
        "braid_calls",
        "braid_client",
        "braid_protocol",
        "buf",
    }
    assert {f"{top}/py.typed" for top in ("braid", "braid_client", "buf")} <= set(names)


def test_its_dependencies_and_versions_are_a_subset_of_the_main_projects() -> None:
    assert dependencies(CLIENT) <= dependencies(ROOT)


def test_it_can_be_imported_without_the_rest_of_braid(backend: Backend) -> None:
    output = backend.run(
        "-c",
        "import importlib.util as u, braid_client as b; b.Braid().close(); "
        "print(b.__file__, [n for n in ('services', 'gateway', 'deploy') if u.find_spec(n)])",
    )
    assert output.returncode == 0, output.stderr
    assert output.stdout.startswith(str(backend.folder))
    assert output.stdout.endswith("[]\n")


def test_the_example_passes_strict_type_checking(backend: Backend) -> None:
    code, output = type_check(backend, (CLIENT / "example.py").read_text())
    assert code == 0, output


def test_type_checking_finds_wrong_uses_of_calls_and_answers(backend: Backend) -> None:
    code, output = type_check(backend, WRONG_USE)
    found = {
        int(line[1]) for line in map(re.compile(r"program\.py:(\d+): error").match, output) if line
    }
    assert (code, found) == (1, WRONG_LINES), output


def test_the_main_distribution_is_marked_as_typed_too(tmp_path: Path) -> None:
    names = zipfile.ZipFile(build_wheel(ROOT, tmp_path)).namelist()
    assert {"braid/py.typed", "buf/py.typed", "braid_client/py.typed"} <= set(names)
