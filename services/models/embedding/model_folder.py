"""A folder of converted models, shared by the processes of one machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Build = Callable[[Path], None]


@contextmanager
def built(folder: Path, name: str, build: Build, *, again: bool = False) -> Iterator[Path]:
    """The folder `name` under `folder`, made by `build` if missing; `again` replaces a broken one.

    Whoever finishes first wins; nobody ever sees a half-written model. Where `folder` cannot be
    written the model lives in a temporary folder until the block ends. OSError when neither works.
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
        return None  # the system's own temporary folder


def _publish(fresh: Path, target: Path, aside: Path, *, again: bool) -> Path:
    with suppress(OSError):
        if again:
            target.rename(aside)
    try:
        return fresh.rename(target)
    except OSError:
        return fresh  # another process was first, or the scratch folder is on another disk
