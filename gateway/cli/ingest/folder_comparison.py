"""Compares a folder's files with the documents that are stored of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import Found, Problem, Source, find, printable, without_site_names

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# The share of a folder's documents that may vanish before it has to be confirmed.
_MAX_VANISHED_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class FolderComparison:
    """A folder's files next to its stored documents.

    Attributes:
        files: what is in the folder, with the ids of its documents.
        new: ids of files that are not stored.
        vanished: ids of stored documents whose files are gone, in order. One that cannot be read is not gone.
        stored: the number of stored documents.
    """

    files: Sequence[Found]
    new: Sequence[str]
    vanished: Sequence[str]
    stored: int

    @classmethod
    def of(cls, name: str, folder: Path, stored: Collection[str]) -> FolderComparison:
        """Compares a folder with the ids of its stored documents, whose prefix is `name`."""
        files = [_within(name, one) for one in without_site_names(find([folder]))]
        ids = [one.id for one in files if isinstance(one, Source)]
        unread = [_id(name, folder, one) for one in files if isinstance(one, Problem)]
        gone = set(stored) - set(ids)
        for place in unread:
            gone = {one for one in gone if one != place and not one.startswith(f"{place}/")}
        return cls(files, [one for one in ids if one not in stored], sorted(gone), len(stored))

    def require_plausible(self, folder: Path, *, force: bool) -> None:
        """Raises CliError if the files can hardly be what became of the stored documents.

        A disk that is not mounted shows an empty folder, and another folder of the same name has other files.
        """
        if not self.vanished:
            return
        gone = f"{len(self.vanished)} of {self.stored} documents are no longer in {folder}"
        if not any(isinstance(one, Source) for one in self.files):
            raise CliError(f"{gone}, which holds no documents at all: nothing is changed")
        if len(self.vanished) > _MAX_VANISHED_SHARE * self.stored and not force:
            raise CliError(f"{gone}: if it is another folder, give it a --name; --force goes on")


def _within(name: str, found: Found) -> Found:
    return replace(found, id=f"{name}/{found.id}") if isinstance(found, Source) else found


def _id(name: str, folder: Path, problem: Problem) -> str:
    """Returns the id of a file that cannot be read, or the prefix of all ids in such a folder."""
    within = Path(problem.path).relative_to(printable(folder)).as_posix()
    return name if within == "." else f"{name}/{within}"
