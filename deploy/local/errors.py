"""Errors while the local stack starts; each message says what to do next."""

from pathlib import Path


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
    """A process ended, or did not become ready in time, while it was being started."""

    def __init__(self, name: str, reason: str, log: Path, since: int = 0) -> None:
        words = _tail(log, since).rstrip()
        message = f"{name} did not start: {reason}; its log is {log}"
        super().__init__(f"{message}:\n{words}" if words else message)
        self.name = name


class NotRunningError(LocalStackError):
    """The named process is not running."""


def _tail(log: Path, since: int, lines: int = 15) -> str:
    """Return the end of the log of this start; logs of earlier starts, up to byte `since`, would mislead."""
    if not log.exists():
        return ""
    with log.open("rb") as words:
        words.seek(since)
        return "\n".join(words.read().decode(errors="replace").splitlines()[-lines:])
