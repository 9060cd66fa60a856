"""Errors while the local stack starts; each message says what to do next."""

import json
from pathlib import Path
from typing import Any


class LocalStackError(Exception):
    """The local stack cannot do what was asked."""


class DataFolderInUseError(LocalStackError):
    """Another stack holds the data folder."""

    def __init__(self, data: Path, holder: str) -> None:
        super().__init__(
            f"{data} is in use by another Braid stack (process {holder or 'unknown'}): "
            "stop it first, or choose another data folder"
        )


class JarRefusedError(LocalStackError):
    """A jar does not match the lock."""

    def __init__(self, coordinate: str, expected: str, found: str) -> None:
        super().__init__(
            f"{coordinate} was refused: its SHA-256 is {found}, the lock says {expected}"
        )


class JarUnavailableError(LocalStackError):
    """A jar could not be fetched after several attempts."""

    def __init__(self, coordinate: str, reason: str) -> None:
        super().__init__(
            f"{coordinate} could not be fetched ({reason}): check the network and try again; "
            "what has arrived is kept"
        )


class StartError(LocalStackError):
    """A process ended, or stopped making progress, while it was being started.

    The message is one line with the cause in the process's own words: `said`, or the end of its log from byte `since`.
    """

    def __init__(
        self, name: str, reason: str, log: Path, since: int = 0, said: str | None = None
    ) -> None:
        cause = said or last_words(log, since)
        words = f": {cause.rstrip('.')}" if cause else ""
        super().__init__(f"{name} did not start: {reason}{words}. Its log: {log}")
        self.name = name


class NotRunningError(LocalStackError):
    """The named process is not running."""


_LAST_BYTES = 64 * 1024
_CAUSED_BY = "Caused by: "


def last_words(log: Path, since: int = 0) -> str:
    """Return why a process ended, from the end of its log: no traceback, no line of an earlier start."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(since, log.stat().st_size - _LAST_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    spoken = [line for line in lines if line.strip() and not line[0].isspace()]
    causes = [line.removeprefix(_CAUSED_BY) for line in spoken if line.startswith(_CAUSED_BY)]
    return _event(causes[-1] if causes else spoken[-1]) if spoken else ""


def _event(line: str) -> str:
    """Return what a line of a structured log says; another line as it is."""
    try:
        entry: dict[str, Any] = json.loads(line)
        words = [str(entry[key]) for key in ("event", "error", "reason") if entry.get(key)]
    except (ValueError, TypeError, AttributeError):
        return line
    return ": ".join(words)
