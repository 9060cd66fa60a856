"""A folder is compared with its stored documents, and what can hardly be meant is refused."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.cli.sources.comparison import Comparison
from gateway.cli.sources.folder import Folder
from gateway.file_fingerprints import FINGERPRINT

FIVE = [f"notes/{number}.md" for number in range(5)]
OF_TEXT = hashlib.sha256(b"text").hexdigest()


def unknown(*ids: str) -> dict[str, dict[str, str]]:
    """Returns stored documents without a fingerprint."""
    return {one: {} for one in ids}


def stored_as(digest: str, *ids: str) -> dict[str, dict[str, str]]:
    """Returns stored documents with a fingerprint, and other metadata."""
    return {one: {FINGERPRINT: digest, "pages": "1"} for one in ids}


def comparison(
    folder: Path,
    stored: Mapping[str, Mapping[str, str]],
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Comparison:
    """Compares a folder whose documents' ids begin with `notes/`."""
    return Comparison.of(Folder(folder, "notes/", include, exclude).listing(stored), stored)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the files of `FIVE` and one in a folder of its own."""
    root = tmp_path / "here"
    (root / "sub").mkdir(parents=True)
    for name in [*(f"{number}.md" for number in range(5)), "sub/new.md"]:
        (root / name).write_text("text")
    return root


def test_ids_begin_with_the_folders_name_and_new_and_vanished_ones_are_named(folder: Path) -> None:
    compared = comparison(folder, unknown(*FIVE, "notes/gone.md"))
    ids = [one.id for one in compared.files if isinstance(one, File)]
    assert ids == [*FIVE, "notes/sub/new.md"]
    assert compared.new == ["notes/sub/new.md"]
    assert compared.vanished == ["notes/gone.md"]
    compared.require_plausible(str(folder), force=False)


def test_a_file_or_folder_that_cannot_be_read_has_not_vanished(folder: Path) -> None:
    (folder / "lost.md").symlink_to(folder / "nowhere.md")
    (folder / "loop").symlink_to(folder)
    stored = unknown(*FIVE, "notes/lost.md", "notes/loop/a.md", "notes/loop.md")
    assert comparison(folder, stored).vanished == ["notes/loop.md"]


def test_nothing_has_vanished_from_a_folder_that_is_gone_itself(tmp_path: Path) -> None:
    assert comparison(tmp_path / "unmounted", unknown(*FIVE)).vanished == []


def test_a_folder_whose_name_is_not_text_is_compared_as_well(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "lost.md").symlink_to(folder / "nowhere.md")
    stored = unknown("notes/lost.md", "notes/gone.md")
    assert comparison(folder, stored).vanished == ["notes/gone.md"]


def test_more_than_a_fifth_of_the_documents_vanishes_only_on_request(folder: Path) -> None:
    compared = comparison(folder, unknown(*FIVE, "notes/x.md", "notes/y.md"))
    with pytest.raises(CliError, match=r"2 of 7 documents are no longer in .*--name.*--force"):
        compared.require_plausible(str(folder), force=False)
    compared.require_plausible(str(folder), force=True)


@pytest.mark.parametrize("force", [False, True])
def test_all_documents_never_vanish_because_a_folder_is_empty(tmp_path: Path, force: bool) -> None:
    compared = comparison(tmp_path, unknown(*FIVE))
    with pytest.raises(CliError, match="holds no documents at all"):
        compared.require_plausible(str(tmp_path), force=force)


def test_an_empty_folder_of_which_nothing_is_stored_is_in_step(tmp_path: Path) -> None:
    comparison(tmp_path, {}).require_plausible(str(tmp_path), force=False)


def test_only_files_whose_content_is_not_stored_are_ingested(folder: Path) -> None:
    (folder / "facts.jsonl").write_text("{}")
    stored = {**stored_as(OF_TEXT, *FIVE[:3]), **stored_as("another", FIVE[3]), FIVE[4]: {}}
    compared = comparison(folder, stored)
    given = [one.id for one in compared.files if isinstance(one, File)]
    assert given == [*FIVE[3:], "notes/facts.jsonl", "notes/sub/new.md"]
    assert (compared.unchanged, compared.changed) == (3, FIVE[3:])
    [new] = [one for one in compared.files if isinstance(one, File) and "new" in one.id]
    assert new.metadata == {FINGERPRINT: OF_TEXT}


def test_a_folder_of_unchanged_files_alone_is_not_empty(folder: Path) -> None:
    for name in ("3.md", "4.md", "sub/new.md"):
        (folder / name).unlink()
    compared = comparison(folder, stored_as(OF_TEXT, *FIVE))
    assert compared.files == []
    with pytest.raises(CliError, match="--force goes on"):
        compared.require_plausible(str(folder), force=False)


def test_ignored_files_are_not_of_the_folder(folder: Path) -> None:
    (folder / ".gitignore").write_text("1.md\nsub/\n")
    compared = comparison(folder, unknown(*FIVE), exclude=["2.md"])
    assert [one.id for one in compared.files if isinstance(one, File)] == [FIVE[0], *FIVE[3:]]
    assert compared.vanished == FIVE[1:3]


def test_with_include_only_what_it_matches_is_of_the_folder(folder: Path) -> None:
    compared = comparison(folder, unknown("notes/1.md"), include=["sub/", "0.md"])
    assert [one.id for one in compared.files if isinstance(one, File)] == [
        FIVE[0],
        "notes/sub/new.md",
    ]
    assert compared.vanished == ["notes/1.md"]
