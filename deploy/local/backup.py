"""Backups of an installation that has been stopped: its data folder as one archive, with the hash of each file.

The archive is a gzipped tar file; its last member, `manifest.json`, makes it whole. A restored folder is the one of
before: documents, facts with all their versions on both clocks, memories, conversations, jobs and keys.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, cast

from deploy.local.cluster import Cluster
from deploy.local.errors import LocalStackError
from deploy.local.lock import NEO4J
from deploy.local.stores import FolderLock
from services.runtime.version import VERSION

FORMAT = 1
_MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 64 * 1024 * 1024
# Created anew by each start.
_LEFT_OUT = frozenset({"lock", "logs", "run", "run.json"})
_FAST = 1
_PIECE = 1024 * 1024
# What reading a damaged archive and its manifest can raise.
_DAMAGE = (
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
)


class BackupError(LocalStackError):
    """A backup cannot be made or restored; nothing has been changed."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive contains.

    Attributes:
        format: the version of this form.
        created: when it was made.
        braid, postgresql, neo4j: the versions that wrote the data.
        files: SHA-256 of each file by its path within the data folder.
        bytes: the size of all files.
    """

    format: int
    created: str
    braid: str
    postgresql: str
    neo4j: str
    files: dict[str, str] = field(default_factory=dict)
    bytes: int = 0


def back_up(data: Path, archive: Path) -> Manifest:
    """Writes a backup of a data folder. The archive appears once it is complete; only its owner can read it.

    Raises:
        DataFolderInUseError: the stack runs.
        BackupError: there is no data, or the archive exists, is in the folder itself, or cannot be written.
    """
    if not _postgres_version_file(data).is_file():
        raise BackupError(f"{data} holds no data of Braid")
    if archive.exists():
        raise BackupError(f"{archive} exists: choose another name")
    if data.resolve() in archive.resolve().parents:
        raise BackupError(f"{archive} is in the data folder: choose another folder")
    partial = _partial(archive)
    with _locked(data), _removed_on_failure(partial), _explained(f"{archive} cannot be written"):
        # It contains keys and passwords.
        partial.touch(mode=0o600, exist_ok=False)
        with tarfile.open(partial, "w:gz", compresslevel=_FAST) as target:
            manifest = _write(data, target)
        partial.rename(archive)
    return manifest


def restore(archive: Path, data: Path) -> Manifest:
    """Restores a backup as a new data folder, which appears once every file has been checked.

    Raises:
        BackupError: the archive is damaged, incomplete, or of newer versions; or the folder has something in it.
    """
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise BackupError(f"{data} is not empty: choose another folder")
    partial = _partial(data)
    with _removed_on_failure(partial), _explained(f"{archive} cannot be read"):
        partial.mkdir(mode=0o700, parents=True)
        try:
            with gzip.open(archive) as stream, tarfile.open(fileobj=stream, mode="r:") as source:
                manifest = _extract(source, partial)
                # The checksum of the whole file follows its last member.
                while stream.read(_PIECE):
                    pass
        except _DAMAGE as error:
            raise BackupError(f"{archive} is damaged or incomplete") from error
        Cluster(partial / "postgres").own_files()
        with suppress(FileNotFoundError):
            data.rmdir()
        partial.rename(data)
    return manifest


def _partial(path: Path) -> Path:
    """Returns where a file or folder is made before it gets its name."""
    whole = path.absolute()
    return whole.with_name(f"{whole.name}.partial")


def _write(data: Path, target: tarfile.TarFile) -> Manifest:
    files: dict[str, str] = {}
    size = 0
    for path in _contents(data):
        name = path.relative_to(data).as_posix()
        member = target.gettarinfo(path, name)
        if not path.is_file():
            target.addfile(member)
            continue
        with path.open("rb") as file:
            hashed = _Hashed(file)
            target.addfile(member, cast("IO[bytes]", hashed))
        files[name] = hashed.hexdigest()
        size += member.size
    manifest = Manifest(
        format=FORMAT,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        braid=VERSION,
        postgresql=_postgres_version_file(data).read_text().strip(),
        neo4j=_neo4j_version(),
        files=files,
        bytes=size,
    )
    encoded = json.dumps(asdict(manifest)).encode()
    last = tarfile.TarInfo(_MANIFEST)
    last.size = len(encoded)
    target.addfile(last, io.BytesIO(encoded))
    return manifest


def _contents(data: Path) -> Iterator[Path]:
    """Yields the folders and files to keep; PostgreSQL needs its empty folders as well."""
    for folder, folders, files in os.walk(data):
        left_out = _LEFT_OUT if Path(folder) == data else frozenset()
        folders[:] = sorted(name for name in folders if name not in left_out)
        for name in (*folders, *sorted(name for name in files if name not in left_out)):
            path = Path(folder, name)
            if path.is_file() or path.is_dir():
                yield path


def _extract(source: tarfile.TarFile, target: Path) -> Manifest:
    """Writes the members below `target`, and compares their hashes with the manifest."""
    found: dict[str, str] = {}
    for member in source:
        if member.name == _MANIFEST:
            manifest = _read_manifest(source, member)
            if found != manifest.files:
                raise ValueError("files differ from the manifest")
            return manifest
        place = _place(member, target)
        if member.isdir():
            place.mkdir()
        else:
            found[member.name] = _write_file(source, member, place)
        place.chmod(member.mode & 0o777)
    raise ValueError("there is no manifest")


def _place(member: tarfile.TarInfo, target: Path) -> Path:
    """Returns where a member belongs. Raises ValueError for links, devices, and names outside of the folder."""
    parts = member.name.split("/")
    if not (member.isfile() or member.isdir()) or {"", ".", ".."} & {*parts}:
        raise ValueError("a member is not a file or a folder within the archive")
    return target.joinpath(*parts)


def _write_file(source: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> str:
    """Writes a file that does not exist yet; returns its hash."""
    content = source.extractfile(member)
    if content is None:
        raise ValueError("a file has no content")
    hashed = _Hashed(content)
    with place.open("xb") as file:
        shutil.copyfileobj(hashed, file)
    return hashed.hexdigest()


def _read_manifest(source: tarfile.TarFile, member: tarfile.TarInfo) -> Manifest:
    content = source.extractfile(member)
    if content is None or member.size > _MAX_MANIFEST_BYTES:
        raise ValueError("the manifest is not a file")
    values = json.loads(content.read())
    if values["format"] != FORMAT:
        raise BackupError(f"the backup has format {values['format']}; this Braid reads {FORMAT}")
    manifest = Manifest(**values)
    if _numbers(manifest.neo4j) > _numbers(_neo4j_version()):
        reason = f"was written by Neo4j {manifest.neo4j}, which is newer than {_neo4j_version()}"
        raise BackupError(f"the backup {reason}: upgrade Braid first")
    return manifest


def _neo4j_version() -> str:
    return NEO4J.rpartition(":")[2]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _postgres_version_file(data: Path) -> Path:
    return data / "postgres" / "data" / "PG_VERSION"


class _Hashed:
    """A file that is hashed while it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Reads the next bytes."""
        data = self._file.read(size)
        self._digest.update(data)
        return data

    def hexdigest(self) -> str:
        """Returns the hash of everything read so far."""
        return self._digest.hexdigest()


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    lock = FolderLock(data)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _removed_on_failure(partial: Path) -> Iterator[None]:
    """Refuses a left-over of an interrupted run, and leaves none itself."""
    if partial.exists():
        raise BackupError(f"{partial} is left over from an interrupted run: remove it first")
    try:
        yield
    except BaseException:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)
        raise


@contextmanager
def _explained(failure: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BackupError(f"{failure}: {(error.strerror or str(error)).lower()}") from error
