"""Archives of a space: what was written is read, an interrupted one goes on, and whatever changed is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from gateway.cli.errors import CliError
from gateway.cli.space_archive import archive as archives
from gateway.cli.space_archive.archive import (
    ArchiveWriter,
    Kind,
    Manifest,
    check_parts,
    lines_of,
    read_manifest,
)

DOCUMENTS = Kind("postgresql", "", "documents")
FACTS = Kind("neo4j", "", "facts")
PAGES: tuple[tuple[Kind, list[str], str, str], ...] = (
    (DOCUMENTS, ['{"document_id": "a"}', '{"document_id": "é"}'], "", "t1"),
    (DOCUMENTS, ['{"document_id": "b"}'], "t1", "t2"),
    (Kind("postgresql", "", "chunks"), [], "t2", "t3"),
    (FACTS, ['{"fact": 1}'], "t3", ""),
)


def write(folder: Path) -> Manifest:
    """Writes an archive."""
    writer = ArchiveWriter.begin(folder)
    for kind, rows, token, following in PAGES:
        writer.add("local", kind, rows, token, following)
    return writer.finish("1.0", "2026-11-28T00:00:00+00:00")


def rows_of(folder: Path, manifest: Manifest) -> list[tuple[Kind, list[str]]]:
    """All rows of an archive."""
    return [
        (part.rows_kind, [line.decode() for line in lines_of(folder, part)])
        for part in manifest.parts
    ]


def test_what_was_written_is_read_in_its_order(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    written = write(folder)
    read = read_manifest(folder)
    assert read == written
    assert (read.space, read.rows, len(read.parts)) == ("local", 4, 2)
    assert rows_of(folder, read) == [
        (DOCUMENTS, ['{"document_id": "a"}', '{"document_id": "é"}', '{"document_id": "b"}']),
        (FACTS, ['{"fact": 1}']),
    ]
    assert check_parts(folder, read).keys() == {DOCUMENTS, FACTS}
    assert sorted(file.suffix for file in folder.iterdir()) == [".json", ".zst", ".zst"]
    assert folder.stat().st_mode & 0o077 == 0


def test_a_kind_with_many_rows_has_several_parts_and_the_same_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write(tmp_path / "whole")
    monkeypatch.setattr(archives, "PART_BYTES", 1)
    parts = write(tmp_path / "parts")
    assert [part.rows for part in parts.parts] == [2, 1, 1]
    assert check_parts(tmp_path / "parts", parts) == check_parts(tmp_path / "whole", whole)
    assert parts.archive_id != whole.archive_id


def test_an_interrupted_export_goes_on_after_the_last_complete_part(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    writer = ArchiveWriter.begin(folder)
    assert writer.token == ""
    for kind, rows, token, following in PAGES[:3]:
        writer.add("local", kind, rows, token, following)
    # The process ends within the next part, of which nothing counts.
    writer.add("local", FACTS, ['{"fact": 0}'], "t3", "t4")
    writer.close()
    again = ArchiveWriter.begin(folder)
    assert again.token == "t2"
    for kind, rows, token, following in PAGES[2:]:
        again.add("local", kind, rows, token, following)
    again.finish("1.0", "2026-11-28T00:00:00+00:00")
    assert rows_of(folder, read_manifest(folder)) == rows_of(
        tmp_path / "whole", write(tmp_path / "whole")
    )


def test_an_export_that_was_interrupted_after_its_last_page_doubles_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    for _ in range(2):
        writer = ArchiveWriter.begin(folder)
        for kind, rows, token, following in PAGES:
            writer.add("local", kind, rows, token, following)
    assert writer.finish("1.0", "2026-11-28T00:00:00+00:00").rows == 4


def test_an_export_that_begins_again_keeps_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    writer = ArchiveWriter.begin(folder)
    for kind, rows, token, following in PAGES[:3]:
        writer.add("local", kind, rows, token, following)
    writer.begin_again()
    assert (writer.token, writer.parts) == ("", [])
    writer.add("local", FACTS, ['{"fact": 2}'], "", "")
    manifest = writer.finish("1.0", "2026-11-28T00:00:00+00:00")
    assert rows_of(folder, manifest) == [(FACTS, ['{"fact": 2}'])]
    assert len(list(folder.glob("*.zst"))) == 1


def test_no_archive_is_written_over_other_files(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("mine")
    with pytest.raises(CliError, match="is not empty"):
        ArchiveWriter.begin(tmp_path)
    folder = tmp_path / "archive"
    write(folder)
    with pytest.raises(CliError, match="is not empty"):
        ArchiveWriter.begin(folder)


def cut(file: Path) -> None:
    """Cuts a file off."""
    file.write_bytes(file.read_bytes()[:-4])


def replace(file: Path) -> None:
    """Writes other rows."""
    file.write_bytes(zstandard.compress(b'{"document_id": "x"}\n'))


def extend(file: Path) -> None:
    """Adds far more than the manifest says."""
    file.write_bytes(zstandard.compress(b"x" * 10_000_000))


@pytest.mark.parametrize("change", [cut, replace, extend, Path.unlink])
def test_a_file_that_has_changed_is_refused(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder = tmp_path / "archive"
    manifest = write(folder)
    change(folder / manifest.parts[0].file)
    with pytest.raises(CliError, match="00001-postgresql-documents"):
        check_parts(folder, manifest)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format 2, which this version of Braid does not know"),
        ({"parts": [{"file": "../a"}]}, "cannot be read"),
        ({"parts": 1}, "cannot be read"),
        ({"format": "x"}, "cannot be read"),
    ],
)
def test_a_manifest_of_a_newer_format_or_none_is_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    folder = tmp_path / "archive"
    write(folder)
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(CliError, match=message):
        read_manifest(folder)


def test_a_manifest_names_files_of_its_folder_only(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write(folder)
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace("00001", "../00001"))
    with pytest.raises(CliError, match="outside"):
        read_manifest(folder)


def test_an_export_that_has_not_ended_is_no_archive(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    writer = ArchiveWriter.begin(folder)
    for kind, rows, token, following in PAGES[:3]:
        writer.add("local", kind, rows, token, following)
    with pytest.raises(CliError, match="is not complete: export it again"):
        read_manifest(folder)
    with pytest.raises(CliError, match="is not an archive"):
        read_manifest(tmp_path)
