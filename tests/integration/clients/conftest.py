"""The TypeScript example, built in a copy of its folder as its README describes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PROTOS = Path(__file__).parents[3] / "protos"
FOLDER = Path("clients", "typescript")
STEP_SECONDS = 120
# npm's error codes if no registry is reachable or this machine's Node is too old for the example.
SKIP_CODES = {
    *("EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTCACHED"),
    *("ENOTFOUND", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT", "EBADENGINE"),
}


@dataclass(frozen=True)
class Ended:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


def run(folder: Path, *command: str, **environment: str) -> Ended:
    """Runs a command of the README in `folder`; on a timeout, kills it with all its child processes."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=STEP_SECONDS)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return Ended(process.returncode, out, err)


def prepare(folder: Path, *command: str, **environment: str) -> Ended:
    """Runs a command that installs or compiles, at low priority: tests that run concurrently measure time."""
    return run(folder, "nice", "-n", "19", *command, **environment)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built example; the repository's folder is not changed."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            pytest.skip(f"the TypeScript example needs {tool}, which is not installed")
    folder = copy_example(tmp_path_factory.mktemp("typescript"))
    install(folder)
    built = prepare(folder, "npm", "run", "build")
    assert built.code == 0, f"{built.out}\n{built.err}"
    return folder


def copy_example(root: Path) -> Path:
    """Copies contracts and example to `root` in the repository's layout, and links this run's environment."""
    (root / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    made = shutil.ignore_patterns("node_modules", "gen", "dist")
    for name in ("braid", "buf", FOLDER):
        shutil.copytree(PROTOS / name, root / "protos" / name, ignore=made)
    shutil.copy(PROTOS / "buf.yaml", root / "protos")
    return root / "protos" / FOLDER


def install(folder: Path) -> None:
    """Installs the locked packages. Skips if no registry is reachable; fails if lock file and packages differ."""
    patience = ("--prefer-offline", "--fetch-retries=1", "--fetch-timeout=30000")
    installed = prepare(folder, "npm", "ci", *patience)
    found = re.search(r"npm (?:error|ERR!) code (\S+)", installed.err)
    if found and found[1] in SKIP_CODES:
        pytest.skip(f"npm cannot install the TypeScript example here: {found[1]}")
    assert installed.code == 0, installed.err
