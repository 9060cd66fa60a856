"""A folder is compared with its stored documents, and what can hardly be meant is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import Source
from gateway.cli.ingest.folder_comparison import FolderComparison

FIVE = [f"notes/{number}.md" for number in range(5)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the files of `FIVE` and one in a folder of its own."""
    root = tmp_path / "here"
    (root / "sub").mkdir(parents=True)
    for name in [*(f"{number}.md" for number in range(5)), "sub/new.md"]:
        (root / name).write_text("text")
    return root


def test_ids_begin_with_the_folders_name_and_new_and_vanished_ones_are_named(folder: Path) -> None:
    compared = FolderComparison.of("notes", folder, [*FIVE, "notes/gone.md"])
    ids = [one.id for one in compared.files if isinstance(one, Source)]
    assert ids == [*FIVE, "notes/sub/new.md"]
    assert compared.new == ["notes/sub/new.md"]
    assert compared.vanished == ["notes/gone.md"]
    compared.require_plausible(folder, force=False)


def test_a_file_or_folder_that_cannot_be_read_has_not_vanished(folder: Path) -> None:
    (folder / "lost.md").symlink_to(folder / "nowhere.md")
    (folder / "loop").symlink_to(folder)
    stored = [*FIVE, "notes/lost.md", "notes/loop/a.md", "notes/loop.md"]
    assert FolderComparison.of("notes", folder, stored).vanished == ["notes/loop.md"]


def test_nothing_has_vanished_from_a_folder_that_is_gone_itself(tmp_path: Path) -> None:
    assert FolderComparison.of("notes", tmp_path / "unmounted", FIVE).vanished == []


def test_a_folder_whose_name_is_not_text_is_compared_as_well(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "lost.md").symlink_to(folder / "nowhere.md")
    stored = ["notes/lost.md", "notes/gone.md"]
    assert FolderComparison.of("notes", folder, stored).vanished == ["notes/gone.md"]


def test_more_than_a_fifth_of_the_documents_vanishes_only_on_request(folder: Path) -> None:
    compared = FolderComparison.of("notes", folder, [*FIVE, "notes/x.md", "notes/y.md"])
    with pytest.raises(CliError, match=r"2 of 7 documents are no longer in .*--name.*--force"):
        compared.require_plausible(folder, force=False)
    compared.require_plausible(folder, force=True)


@pytest.mark.parametrize("force", [False, True])
def test_all_documents_never_vanish_because_a_folder_is_empty(tmp_path: Path, force: bool) -> None:
    compared = FolderComparison.of("notes", tmp_path, FIVE)
    with pytest.raises(CliError, match="holds no documents at all"):
        compared.require_plausible(tmp_path, force=force)


def test_an_empty_folder_of_which_nothing_is_stored_is_in_step(tmp_path: Path) -> None:
    FolderComparison.of("notes", tmp_path, []).require_plausible(tmp_path, force=False)
