"""The choice of the interpreter with which the Makefile creates the environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "deploy" / "find-python.sh"


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """The folder of the system's programs."""
    return folder(tmp_path / "system")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder on PATH."""
    return folder(tmp_path / "path")


def folder(place: Path) -> Path:
    place.mkdir()
    return place


def interpreter(place: Path, *, fits: bool = True) -> str:
    """Creates a fake interpreter; `fits` says whether its version is supported and it can create environments."""
    place.write_text(f"#!/bin/sh\nexit {0 if fits else 1}\n")
    place.chmod(0o700)
    return str(place)


def found(system: Path, path: Path) -> str:
    answer = subprocess.run(
        ["/bin/sh", str(SCRIPT), str(system)],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    return answer.stdout.strip()


def test_the_systems_interpreter_takes_precedence_over_one_on_the_path(
    system: Path, path: Path
) -> None:
    interpreter(path / "python3.11")
    own = interpreter(system / "python3.12")

    assert found(system, path) == own


def test_an_interpreter_that_cannot_create_environments_is_skipped(
    system: Path, path: Path
) -> None:
    interpreter(system / "python3.11", fits=False)
    other = interpreter(path / "python3.11")

    assert found(system, path) == other


def test_a_python3_of_a_supported_version_is_used(system: Path, path: Path) -> None:
    only = interpreter(path / "python3")

    assert found(system, path) == only


def test_without_a_suitable_interpreter_the_unsuitable_one_is_returned(
    system: Path, path: Path
) -> None:
    unfit = interpreter(path / "python3", fits=False)

    assert found(system, path) == unfit
