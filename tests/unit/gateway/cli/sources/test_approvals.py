"""A source that was set on another machine is read here only after its place was given here."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.errors import CliError
from gateway.cli.sources.approvals import Approvals
from gateway.cli.sources.spec import SourceSpec

HERE = "http://127.0.0.1:8080"
SITE = SourceSpec("docs", "web", "https://example.org/docs/", credential_variable="DOCS_TOKEN")


def test_only_what_was_given_here_is_read(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "state", HERE)
    with pytest.raises(CliError, match="docs was set on another machine"):
        approvals.require(SITE)
    approvals.add(SITE)
    approvals.add(replace(SITE, name="other"))
    Approvals(tmp_path / "state", HERE).require(SITE)
    # What is read of it, and when, may be set elsewhere.
    approvals.require(replace(SITE, exclude=["drafts/"], every_minutes=5, paused=True))
    [file] = (tmp_path / "state").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "changed",
    [
        {"root": "https://evil.example.org/"},
        {"kind": "folder", "root": "/etc"},
        {"credential_variable": "AWS_SECRET_ACCESS_KEY"},
        {"name": "another"},
    ],
)
def test_another_place_or_secret_is_not_read(tmp_path: Path, changed: dict[str, Any]) -> None:
    approvals = Approvals(tmp_path, HERE)
    approvals.add(SITE)
    with pytest.raises(CliError, match="was set on another machine"):
        approvals.require(replace(SITE, **changed))
    with pytest.raises(CliError, match="was set on another machine"):
        Approvals(tmp_path, "http://elsewhere:8080").require(SITE)


@pytest.mark.parametrize("written", ["", "{", "{}", "[1]", "null"])
def test_a_broken_file_approves_nothing(tmp_path: Path, written: str) -> None:
    (tmp_path / "sources.json").write_text(written)
    approvals = Approvals(tmp_path, HERE)
    with pytest.raises(CliError):
        approvals.require(SITE)
    approvals.add(SITE)
    approvals.require(SITE)


def test_without_a_state_folder_nothing_is_read_by_its_name() -> None:
    approvals = Approvals(None, HERE)
    approvals.add(SITE)
    with pytest.raises(CliError):
        approvals.require(SITE)
