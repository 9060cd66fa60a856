"""Compares what is in a source with the documents that are stored of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.cli.ingest.files import Found
    from gateway.cli.sources.connector import Listing, Stored

# The share of a source's documents that may vanish before it has to be confirmed.
_MAX_VANISHED_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is in a source next to its stored documents.

    Attributes:
        files: what is to be ingested: files that are not stored as they are, with the ids of their documents, and files
            of several documents or facts, which have no document of their own.
        new: ids of files that are not stored.
        changed: ids of files that are stored with another content.
        unchanged: the number of files that are stored as they are.
        vanished: ids of stored documents whose files are gone, in order. One that cannot be read is not gone.
        stored: the number of stored documents.
    """

    files: Sequence[Found]
    new: Sequence[str]
    changed: Sequence[str]
    unchanged: int
    vanished: Sequence[str]
    stored: int

    @classmethod
    def of(cls, listing: Listing, stored: Stored) -> Comparison:
        """Compares them: a file with metadata is one document, and stored as it is if the document has them all."""
        single = [one for one in listing.found if isinstance(one, File) and one.metadata]
        same = {one.id for one in single if one.metadata.items() <= stored.get(one.id, {}).items()}
        return cls(
            files=[one for one in listing.found if not isinstance(one, File) or one.id not in same],
            new=[one.id for one in single if one.id not in stored],
            changed=[one.id for one in single if one.id in stored and one.id not in same],
            unchanged=len(same),
            vanished=_vanished(listing, stored) if listing.is_complete else [],
            stored=len(stored),
        )

    def require_plausible(self, root: str, *, force: bool) -> None:
        """Raises CliError if what is in the source can hardly be what became of the stored documents.

        A disk that is not mounted shows an empty folder, and another folder of the same name has other files.
        """
        if not self.vanished:
            return
        gone = f"{len(self.vanished)} of {self.stored} documents are no longer in {root}"
        if not self.unchanged and not any(isinstance(one, File) for one in self.files):
            raise CliError(f"{gone}, which holds no documents at all: nothing is changed")
        if len(self.vanished) > _MAX_VANISHED_SHARE * self.stored and not force:
            raise CliError(f"{gone}: if it is another source, give it a --name; --force goes on")


def _vanished(listing: Listing, stored: Stored) -> Sequence[str]:
    gone = stored.keys() - {one.id for one in listing.found if isinstance(one, File)}
    for place in listing.unreadable:
        gone = {one for one in gone if one != place and not one.startswith(f"{place}/")}
    return sorted(gone)
