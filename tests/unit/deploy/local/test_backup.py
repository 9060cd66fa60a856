"""A backup holds everything of a stopped installation; one that is not whole is refused, and nothing is changed."""

from __future__ import annotations

import io
import json
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deploy.local.backup import FORMAT, BackupError, back_up, restore
from deploy.local.errors import DataFolderInUseError
from deploy.local.stores import FolderLock


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Returns a data folder with a file in each of its parts, and with an empty folder."""
    folder = tmp_path / "data"
    for name, text in (
        ("postgres/data/PG_VERSION", "18\n"),
        ("postgres/data/base/1", "rows" * 10_000),
        ("neo4j/data/graph", "nodes"),
        ("api_keys.json", "[]"),
        ("lock", "1"),
        ("run.json", "{}"),
        ("run/socket.pid", "1"),
        ("logs/postgres.log", "line"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "postgres/data/pg_notify").mkdir(mode=0o700)
    (folder / "api_keys.json").chmod(0o600)
    return folder


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Returns the modes and the bytes of everything in a folder."""
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
    }


def test_a_restored_folder_is_that_of_before_without_what_a_start_creates(
    data: Path, tmp_path: Path
) -> None:
    before = contents(data)
    made = back_up(data, tmp_path / "b.tar.gz")
    assert restore(tmp_path / "b.tar.gz", tmp_path / "restored") == made
    created = {"lock", "run.json", "run", "run/socket.pid", "logs", "logs/postgres.log"}
    expected = {name: one for name, one in before.items() if name not in created}
    assert contents(tmp_path / "restored") == expected
    assert sorted(made.files) == sorted(name for name in expected if (data / name).is_file())
    assert (made.format, made.postgresql) == (FORMAT, "18")
    assert stat.S_IMODE((tmp_path / "b.tar.gz").stat().st_mode) == 0o600


def test_a_running_installation_is_not_backed_up(data: Path, tmp_path: Path) -> None:
    lock = FolderLock(data)
    lock.acquire()
    with pytest.raises(DataFolderInUseError):
        back_up(data, tmp_path / "b.tar.gz")
    lock.release()
    assert not list(tmp_path.glob("b.tar.gz*"))


def test_a_folder_without_data_and_a_file_that_exists_are_refused(
    data: Path, tmp_path: Path
) -> None:
    with pytest.raises(BackupError, match="holds no data of Braid"):
        back_up(tmp_path / "none", tmp_path / "b.tar.gz")
    assert not (tmp_path / "none").exists()
    (tmp_path / "b.tar.gz").write_text("mine")
    with pytest.raises(BackupError, match="exists"):
        back_up(data, tmp_path / "b.tar.gz")
    assert (tmp_path / "b.tar.gz").read_text() == "mine"
    with pytest.raises(BackupError, match="is in the data folder"):
        back_up(data, data / "logs" / "b.tar.gz")
    with pytest.raises(BackupError, match="cannot be written: no such file"):
        back_up(data, tmp_path / "nowhere" / "b.tar.gz")


def test_a_backup_is_restored_into_an_empty_folder_only(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "b.tar.gz")
    before = contents(data)
    with pytest.raises(BackupError, match="is not empty"):
        restore(tmp_path / "b.tar.gz", data)
    assert contents(data) == before
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "b.tar.gz", tmp_path / "empty")
    assert (tmp_path / "empty" / "api_keys.json").is_file()


def rewritten(archive: Path, change: Callable[[tarfile.TarInfo, bytes], bytes | None]) -> None:
    """Writes an archive anew, each member as `change` returns it; None leaves it out."""
    with tarfile.open(archive) as source:
        members = [(one, _content(source, one)) for one in source]
    with tarfile.open(archive, "w:gz") as target:
        for member, content in members:
            changed = change(member, content)
            if changed is not None:
                member.size = len(changed)
                target.addfile(member, io.BytesIO(changed))


def _content(source: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = source.extractfile(member)
    return content.read() if content else b""


def manifest_with(**values: Any) -> Callable[[tarfile.TarInfo, bytes], bytes]:
    def change(member: tarfile.TarInfo, content: bytes) -> bytes:
        if member.name != "manifest.json":
            return content
        return json.dumps(json.loads(content) | values).encode()

    return change


def without(name: str) -> Callable[[tarfile.TarInfo, bytes], bytes | None]:
    return lambda member, content: None if member.name == name else content


def with_other_rows(member: tarfile.TarInfo, content: bytes) -> bytes:
    return b"x" * len(content) if member.name.endswith("base/1") else content


def renamed(name: str) -> Callable[[tarfile.TarInfo, bytes], bytes]:
    def change(member: tarfile.TarInfo, content: bytes) -> bytes:
        member.name = name if member.name == "api_keys.json" else member.name
        return content

    return change


def as_link(member: tarfile.TarInfo, content: bytes) -> bytes:
    if member.name == "api_keys.json":
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return content


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without("manifest.json"), "damaged or incomplete"),
        (without("api_keys.json"), "damaged or incomplete"),
        (with_other_rows, "damaged or incomplete"),
        (renamed("../outside"), "damaged or incomplete"),
        (renamed("/outside"), "damaged or incomplete"),
        (as_link, "damaged or incomplete"),
        (manifest_with(files=None), "damaged or incomplete"),
        (manifest_with(more=1), "damaged or incomplete"),
        (manifest_with(format=FORMAT + 1), "reads 1"),
        (manifest_with(neo4j="2999.01.0"), "upgrade Braid first"),
    ],
)
def test_a_backup_that_is_not_whole_or_too_new_is_refused(
    data: Path, tmp_path: Path, change: Callable[[tarfile.TarInfo, bytes], bytes], reason: str
) -> None:
    archive = tmp_path / "b.tar.gz"
    back_up(data, archive)
    rewritten(archive, change)
    with pytest.raises(BackupError, match=reason):
        restore(archive, tmp_path / "restored")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tar.gz", "data"]


@pytest.mark.parametrize("kept", [0, 1, 100, -1, -40])
def test_a_file_that_was_cut_off_is_refused(data: Path, tmp_path: Path, kept: int) -> None:
    archive = tmp_path / "b.tar.gz"
    back_up(data, archive)
    archive.write_bytes(archive.read_bytes()[:kept])
    with pytest.raises(BackupError, match="damaged or incomplete"):
        restore(archive, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 99])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    archive = tmp_path / "b.tar.gz"
    archive.write_bytes(content)
    with pytest.raises(BackupError, match="damaged or incomplete"):
        restore(archive, tmp_path / "restored")


def test_a_file_that_is_missing_or_left_over_is_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="cannot be read: no such file"):
        restore(tmp_path / "none", tmp_path / "restored")
    (tmp_path / "b.tar.gz.partial").touch()
    with pytest.raises(BackupError, match="left over"):
        back_up(data, tmp_path / "b.tar.gz")
