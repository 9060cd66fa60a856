"""Which interpreter the Makefile sets up the environment with."""

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
    """A folder on the path."""
    return folder(tmp_path / "path")


def folder(place: Path) -> Path:
    place.mkdir()
    return place


def interpreter(place: Path, *, fits: bool = True) -> str:
    """A program that says whether it is of a version that will do, and can make environments."""
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


def test_the_systems_own_comes_before_one_on_the_path(system: Path, path: Path) -> None:
    interpreter(path / "python3.11")
    own = interpreter(system / "python3.12")

    assert found(system, path) == own


def test_one_that_cannot_make_environments_is_passed_over(system: Path, path: Path) -> None:
    interpreter(system / "python3.11", fits=False)
    other = interpreter(path / "python3.11")

    assert found(system, path) == other


def test_a_python3_of_the_right_version_will_do(system: Path, path: Path) -> None:
    only = interpreter(path / "python3")

    assert found(system, path) == only


def test_where_none_fits_the_one_there_is_gets_to_say_why(system: Path, path: Path) -> None:
    unfit = interpreter(path / "python3", fits=False)

    assert found(system, path) == unfit
