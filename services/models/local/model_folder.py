"""A folder of converted models, shared by the processes of one machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Build = Callable[[Path], None]


@contextmanager
def built(folder: Path, name: str, build: Build, *, again: bool = False) -> Iterator[Path]:
    """Yields the folder `name` under `folder`, made by `build` if missing; `again` replaces a broken one.

    The first process to finish wins; no process ever sees a half-written model. If `folder` is not writable, the model
    is in a temporary folder until the block ends. Raises OSError if neither works.
    """
    target = folder / name
    if target.is_dir() and not again:
        yield target
        return
    with tempfile.TemporaryDirectory(dir=_writable(folder), prefix=f".{name}-") as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        build(fresh)
        yield _publish(fresh, target, Path(scratch) / "old", again=again)


def _writable(folder: Path) -> Path | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None  # The system's own temporary folder.


def _publish(fresh: Path, target: Path, aside: Path, *, again: bool) -> Path:
    with suppress(OSError):
        if again:
            target.rename(aside)
    try:
        return fresh.rename(target)
    except OSError:
        return fresh  # Another process was first, or the scratch folder is on another disk.
