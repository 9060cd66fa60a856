"""Rules of `.gitignore` files, as Git applies them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File, find
from gateway.cli.ingest.ignore_rules import IgnoreRules


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.md", "build/b.md", "notes/a.md", "notes/deep/c.md", "notes/deep/keep.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    return tmp_path


def kept(folder: Path, *patterns: str) -> list[str]:
    found = find([folder], IgnoreRules(folder, patterns))
    return [one.id for one in found if isinstance(one, File)]


def test_without_rules_everything_is_kept(folder: Path) -> None:
    assert len(kept(folder)) == 5


def test_a_pattern_holds_at_any_depth_unless_it_begins_with_a_slash(folder: Path) -> None:
    (folder / ".gitignore").write_text("# Comment\n\na.md\nbuild/\n")
    assert kept(folder) == ["notes/deep/c.md", "notes/deep/keep.md"]
    (folder / ".gitignore").write_text("/a.md\n")
    assert "notes/a.md" in kept(folder)


def test_a_deeper_file_outweighs_one_above_and_given_patterns_outweigh_both(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.md\n")
    (folder / "notes" / "deep" / ".gitignore").write_text("!keep.md\n")
    assert kept(folder) == ["notes/deep/keep.md"]
    assert kept(folder, "keep.md") == []
    assert kept(folder, "!a.md") == ["a.md", "notes/a.md", "notes/deep/keep.md"]


def test_what_is_in_an_ignored_folder_stays_ignored(folder: Path) -> None:
    (folder / ".gitignore").write_text("notes/\n")
    (folder / "notes" / ".gitignore").write_text("!a.md\n")
    assert kept(folder) == ["a.md", "build/b.md"]


def test_a_file_of_rules_that_is_not_text_ignores_nothing_else(folder: Path) -> None:
    (folder / ".gitignore").write_bytes(b"\xff\xfe\n!\n\\\nbuild/\n")
    assert "build/b.md" not in kept(folder)


def test_a_given_pattern_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(CliError, match="exclude: Invalid git pattern: '!'"):
        IgnoreRules(folder, ["a.md", "!"])
