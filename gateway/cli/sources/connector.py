"""What every connector does: list what is in a source, and read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pathspec import GitIgnoreSpec

from gateway.cli.errors import CliError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gateway.cli.ingest.files import File, Found

Stored: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The metadata of a source's stored documents by id."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a source now.

    Attributes:
        found: its files, with the metadata that tell whether one is stored as it is; and what could not be read.
        unreadable: ids of documents whose files could not be read, or what all ids in such a folder begin with.
        is_complete: whether stored documents that are neither found nor unreadable are gone.
    """

    found: Sequence[Found]
    unreadable: Sequence[str] = ()
    is_complete: bool = True


class Connector(Protocol):
    """Reads one source."""

    def listing(self, stored: Stored) -> Listing:
        """Lists what is in it. `stored` are the metadata of its stored documents by id.

        Raises CliError if it cannot be read at all.
        """

    def fetched(self, file: File) -> Iterator[Found]:
        """Reads a listed file, so that it is at its path; with its unread earlier versions before it, if they count."""


class Choice:
    """Which paths within a source are read."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        """Both are lines of a .gitignore. Raises CliError for one that is no pattern."""
        self._include = _spec("include", include) if include else None
        self._exclude = _spec("exclude", exclude)

    def takes(self, path: str) -> bool:
        """Whether a path is read."""
        if self._include is not None and not self._include.match_file(path):
            return False
        return not self._exclude.match_file(path)


def _spec(name: str, lines: Sequence[str]) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise CliError(f"{name}: {error}", reason="INVALID_FIELD") from None
