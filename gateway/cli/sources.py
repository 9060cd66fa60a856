"""Files to ingest: found under paths, each with the id that its document gets; what cannot be read, with its reason."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.kinds import KINDS, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Source:
    """A file to ingest; `id` is its path within the folder that was named. Without a title it has its own."""

    path: Path
    id: str
    kind: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be taken, and why."""

    path: str
    reason: str


def find(paths: Sequence[Path]) -> Iterator[Source | Problem]:
    """All files under `paths`, folders recursively and in order of name; hidden and other files are passed over."""
    taken: dict[str, Path] = {}
    for path in paths:
        for found in _under(path):
            if isinstance(found, Source):
                if not _is_text(found.id):
                    yield Problem(_shown(found.path), "its name is no UTF-8")
                    continue
                other = taken.setdefault(found.id, found.path)
                if other != found.path:
                    yield Problem(_shown(found.path), f"would be the same document as {other}")
                    continue
            yield found


def _under(path: Path) -> Iterator[Source | Problem]:
    mode = _mode(path)
    if isinstance(mode, Problem):
        yield mode
    elif stat.S_ISDIR(mode):
        yield from _folder(path, path, frozenset())
    elif not stat.S_ISREG(mode):
        yield Problem(_shown(path), "is not a file")
    elif kind := kind_of(path.name):
        yield Source(path, path.name, kind)
    else:
        yield Problem(_shown(path), f"is none of {', '.join(KINDS)}")


def _folder(
    root: Path, folder: Path, above: frozenset[tuple[int, int]]
) -> Iterator[Source | Problem]:
    try:
        info = folder.stat()
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names, not paths
    except OSError as error:
        yield Problem(_shown(folder), _told(error))
        return
    here = (info.st_dev, info.st_ino)
    if here in above:
        yield Problem(_shown(folder), "links back to a folder that holds it")
        return
    for name in names:
        if not name.startswith("."):
            yield from _entry(root, folder / name, above | {here})


def _entry(root: Path, path: Path, above: frozenset[tuple[int, int]]) -> Iterator[Source | Problem]:
    mode = _mode(path)
    if isinstance(mode, Problem):
        yield mode
    elif stat.S_ISDIR(mode):
        yield from _folder(root, path, above)
    elif not stat.S_ISREG(mode):
        yield Problem(_shown(path), "is not a file")
    elif kind := kind_of(path.name):
        yield Source(path, path.relative_to(root).as_posix(), kind)


def _mode(path: Path) -> int | Problem:
    try:
        return path.stat().st_mode
    except (OSError, ValueError) as error:
        return Problem(_shown(path), _told(error))


def _shown(path: Path) -> str:
    """A path that can be printed, whatever its bytes are."""
    return os.fsencode(path).decode(errors="replace")


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _told(error: Exception) -> str:
    """An operating system's reason, without the path that stands beside it anyway."""
    return (getattr(error, "strerror", None) or str(error)).lower()
