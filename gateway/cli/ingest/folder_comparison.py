"""Compares a folder's files with the documents that are stored of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import Found, Problem, Source, find, printable, without_site_names
from gateway.content_types import CONTENT_TYPES
from gateway.file_fingerprints import FINGERPRINT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.cli.ingest.ignore_rules import IgnoreRules

# The share of a folder's documents that may vanish before it has to be confirmed.
_MAX_VANISHED_SHARE = 0.2
# Files of several documents, which have ids of their own.
_COLLECTIONS = frozenset(CONTENT_TYPES[end] for end in (".jsonl", ".messages.jsonl", ".mbox"))


@dataclass(frozen=True, slots=True)
class FolderComparison:
    """A folder's files next to its stored documents.

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
    def of(
        cls,
        prefix: str,
        folder: Path,
        stored: Mapping[str, str],
        rules: IgnoreRules | None = None,
    ) -> FolderComparison:
        """Compares a folder with its stored documents: fingerprints by id, which begins with `prefix`."""
        found = list(without_site_names(find([folder], rules, {folder: prefix})))
        files = [_with_fingerprint(one) if isinstance(one, Source) else one for one in found]
        single = [one for one in files if isinstance(one, Source) and one.metadata]
        same = {one.id for one in single if stored.get(one.id) == one.metadata[FINGERPRINT]}
        return cls(
            files=[one for one in files if not isinstance(one, Source) or one.id not in same],
            new=[one.id for one in single if one.id not in stored],
            changed=[one.id for one in single if one.id in stored and one.id not in same],
            unchanged=len(same),
            vanished=_vanished(prefix, folder, found, stored),
            stored=len(stored),
        )

    def require_plausible(self, folder: Path, *, force: bool) -> None:
        """Raises CliError if the files can hardly be what became of the stored documents.

        A disk that is not mounted shows an empty folder, and another folder of the same name has other files.
        """
        if not self.vanished:
            return
        gone = f"{len(self.vanished)} of {self.stored} documents are no longer in {folder}"
        if not self.unchanged and not any(isinstance(one, Source) for one in self.files):
            raise CliError(f"{gone}, which holds no documents at all: nothing is changed")
        if len(self.vanished) > _MAX_VANISHED_SHARE * self.stored and not force:
            raise CliError(f"{gone}: if it is another folder, give it a --name; --force goes on")


def _with_fingerprint(source: Source) -> Source:
    """Returns a file of one document with its fingerprint. One that cannot be read is reported when it is ingested."""
    if source.kind in _COLLECTIONS:
        return source
    try:
        with source.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return source
    return replace(source, metadata={FINGERPRINT: digest})


def _vanished(
    prefix: str, folder: Path, found: Sequence[Found], stored: Mapping[str, str]
) -> Sequence[str]:
    gone = stored.keys() - {one.id for one in found if isinstance(one, Source)}
    for place in (_id(prefix, folder, one) for one in found if isinstance(one, Problem)):
        gone = {one for one in gone if one != place and not one.startswith(f"{place}/")}
    return sorted(gone)


def _id(prefix: str, folder: Path, problem: Problem) -> str:
    """Returns the id of a file that cannot be read, or what all ids in such a folder begin with."""
    within = Path(problem.path).relative_to(printable(folder)).as_posix()
    return prefix.removesuffix("/") if within == "." else prefix + within
