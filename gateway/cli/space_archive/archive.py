"""An archive of a space: `manifest.json`, and parts with one row a line, as JSON, compressed with zstd.

Each part has rows of one kind, in the order in which they are imported, and about `PART_BYTES` before compression. The
manifest names the parts with their SHA-256 before compression; it is written last, so an archive without one is
not complete. `docs/archive-format.md` describes the rows.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import zstandard

from gateway.cli.errors import CliError

FORMAT = 1
MANIFEST = "manifest.json"
UNFINISHED = "unfinished.json"
PART_BYTES = 64 * 1024 * 1024
# The server keeps a row far below this.
_LINE_BYTES = 64 * 1024 * 1024
_LEVEL = 9


class Kind(NamedTuple):
    """Which rows belong together: the store, whose memories ("" for the space itself), and the kind."""

    store: str
    partition: str
    kind: str


@dataclass(frozen=True, slots=True)
class Part:
    """A file of an archive; `sha256` and `bytes` are of its lines, before compression."""

    file: str
    store: str
    partition: str
    kind: str
    rows: int
    bytes: int
    sha256: str

    @property
    def rows_kind(self) -> Kind:
        """Returns what its rows belong to."""
        return Kind(self.store, self.partition, self.kind)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive contains."""

    format: int
    braid: str
    space: str
    created: str
    parts: tuple[Part, ...]

    @property
    def archive_id(self) -> str:
        """Returns what identifies the content: the SHA-256 of the parts' description."""
        described = json.dumps([self.space, [asdict(part) for part in self.parts]], sort_keys=True)
        return hashlib.sha256(described.encode()).hexdigest()

    @property
    def rows(self) -> int:
        """Returns the number of rows."""
        return sum(part.rows for part in self.parts)


def read_manifest(folder: Path) -> Manifest:
    """Returns a complete archive's manifest. Raises CliError for what is none, and for a newer format."""
    try:
        given = json.loads((folder / MANIFEST).read_text())
        if given["format"] > FORMAT:
            raise CliError(
                f"{folder} has format {given['format']}, which this version of Braid does not know: "
                f"it was written by Braid {given['braid']}"
            )
        parts = tuple(Part(**part) for part in given["parts"])
        manifest = Manifest(
            given["format"], given["braid"], given["space"], given["created"], parts
        )
    except FileNotFoundError:
        unfinished = (folder / UNFINISHED).exists()
        reason = (
            "is not complete: export it again" if unfinished else "is not an archive of a space"
        )
        raise CliError(f"{folder} {reason}") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise CliError(f"{folder / MANIFEST} cannot be read") from None
    if any(Path(part.file).name != part.file for part in manifest.parts):
        raise CliError(f"{folder / MANIFEST} names files outside of the archive")
    return manifest


def lines_of(folder: Path, part: Part) -> Iterator[bytes]:
    """Yields a part's lines without line feeds, and checks them. Raises CliError unless they are what was written."""
    digest, count, size = hashlib.sha256(), 0, 0
    try:
        with (
            (folder / part.file).open("rb") as file,
            zstandard.ZstdDecompressor().stream_reader(file) as plain,
        ):
            reader = io.BufferedReader(_Raw(plain))
            while line := reader.readline(_LINE_BYTES):
                digest.update(line)
                count += 1
                size += len(line)
                if size > part.bytes or not line.endswith(b"\n"):
                    raise CliError(f"{part.file} is not the file that was written")
                yield line[:-1]
    except FileNotFoundError:
        raise CliError(f"{part.file} is missing") from None
    except (OSError, zstandard.ZstdError):
        raise CliError(f"{part.file} is damaged") from None
    if (digest.hexdigest(), count, size) != (part.sha256, part.rows, part.bytes):
        raise CliError(f"{part.file} is not the file that was written")


def check_parts(folder: Path, manifest: Manifest) -> dict[Kind, str]:
    """Reads all parts; returns the SHA-256 of each kind's rows. Raises CliError for a part that has changed."""
    digests: dict[Kind, Any] = {}
    for part in manifest.parts:
        digest = digests.setdefault(part.rows_kind, hashlib.sha256())
        for line in lines_of(folder, part):
            digest.update(line + b"\n")
    return {kind: digest.hexdigest() for kind, digest in digests.items()}


class ArchiveWriter:
    """Writes an archive, or goes on with one that was interrupted: after the last complete part."""

    def __init__(self, folder: Path, space: str, token: str, parts: Sequence[Part]) -> None:
        self._folder = folder
        self._space = space
        self.token = token
        self.parts = list(parts)
        self._part: _OpenPart | None = None

    @classmethod
    def begin(cls, folder: Path) -> Self:
        """Begins in an empty or new folder, or goes on. Raises CliError for a folder with anything else."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)  # it contains what users have said
            noted = folder / UNFINISHED
            if not noted.exists() and any(folder.iterdir()):
                raise CliError(f"{folder} is not empty")
            given = json.loads(noted.read_text()) if noted.exists() else {}
            token = given.get("token", "")
            # Without a token the export begins at its beginning, whatever was written.
            parts = [Part(**part) for part in given.get("parts", ())] if token else []
            writer = cls(folder, given.get("space", ""), token, parts)
        except OSError as error:
            raise CliError(f"{folder}: {error.strerror}") from None
        except (ValueError, TypeError):
            raise CliError(
                f"{folder} is not empty, and its unfinished export cannot be read"
            ) from None
        writer._forget_others()
        return writer

    def close(self) -> None:
        """Closes the part that is being written; nothing of it counts."""
        if self._part is not None:
            self._part.abandon()
            self._part = None

    def begin_again(self) -> None:
        """Forgets what was written."""
        self.close()
        self.parts, self._space = [], ""
        self._note("")
        self._forget_others()

    def add(self, space: str, kind: Kind, rows: Sequence[str], token: str, next_token: str) -> None:
        """Writes a page's rows; `token` is the page's own, `next_token` that of the next one."""
        self._space = space
        if self._part and (self._part.kind != kind or self._part.bytes >= PART_BYTES):
            self._close_part(token)
        if rows and self._part is None:
            self._part = _OpenPart(self._folder, len(self.parts) + 1, kind)
        if self._part:
            self._part.write(rows)
        if not next_token:
            self._close_part("")

    def finish(self, braid: str, created: str) -> Manifest:
        """Completes the archive."""
        manifest = Manifest(FORMAT, braid, self._space, created, tuple(self.parts))
        _write_json(self._folder / MANIFEST, asdict(manifest))
        (self._folder / UNFINISHED).unlink(missing_ok=True)
        return manifest

    def _close_part(self, token: str) -> None:
        if self._part is not None:
            self.parts.append(self._part.close())
            self._part = None
        self._note(token)

    def _note(self, token: str) -> None:
        """Records where an interrupted export goes on."""
        self.token = token
        noted = {
            "space": self._space,
            "token": token,
            "parts": [asdict(part) for part in self.parts],
        }
        _write_json(self._folder / UNFINISHED, noted)

    def _forget_others(self) -> None:
        known = {part.file for part in self.parts}
        for file in self._folder.glob("*.jsonl.zst"):
            if file.name not in known:
                file.unlink()


class _OpenPart:
    def __init__(self, folder: Path, number: int, kind: Kind) -> None:
        self.kind = kind
        self._name = f"{number:05}-{kind.store}-{kind.kind}.jsonl.zst"
        self._file = (folder / self._name).open("wb")
        self._packed = zstandard.ZstdCompressor(level=_LEVEL).stream_writer(self._file)
        self._digest = hashlib.sha256()
        self._rows = 0
        self.bytes = 0

    def write(self, rows: Iterable[str]) -> None:
        for row in rows:
            line = row.encode() + b"\n"
            self._digest.update(line)
            self._packed.write(line)
            self._rows += 1
            self.bytes += len(line)

    def abandon(self) -> None:
        self._file.close()

    def close(self) -> Part:
        self._packed.flush(zstandard.FLUSH_FRAME)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return Part(self._name, *self.kind, self._rows, self.bytes, self._digest.hexdigest())


class _Raw(io.RawIOBase):
    """A decompressor as a raw stream, which a buffered reader can read lines from."""

    def __init__(self, plain: zstandard.ZstdDecompressionReader) -> None:
        self._plain = plain

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._plain.readinto(buffer)


def _write_json(path: Path, content: Any) -> None:
    """Writes a file that is either the former or the new one, whenever the process ends."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1))
    new.replace(path)
