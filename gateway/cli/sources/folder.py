"""Folders: every file is compared by its content."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cli.ingest.files import File, Problem, find, printable, without_site_names
from gateway.cli.ingest.ignore_rules import IgnoreRules
from gateway.cli.sources.connector import Choice, Listing
from gateway.content_types import CONTENT_TYPES
from gateway.file_fingerprints import FINGERPRINT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gateway.cli.ingest.files import Found
    from gateway.cli.sources.connector import Stored

# Files of several documents, which have ids of their own.
_COLLECTIONS = frozenset(CONTENT_TYPES[end] for end in (".jsonl", ".messages.jsonl", ".mbox"))


class Folder:
    """The files of a folder, without those that a .gitignore in it names."""

    def __init__(
        self, root: Path, prefix: str, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> None:
        """`prefix` is what the ids of its documents begin with. Raises CliError for a pattern that is none."""
        self._root = root
        self._prefix = prefix
        self._included = Choice(include, ())
        self._rules = IgnoreRules(root, exclude)

    def listing(self, _stored: Stored) -> Listing:
        """See the protocol. What cannot be read is not gone."""
        walked = find([self._root], self._rules, {self._root: self._prefix})
        taken = [one for one in walked if not isinstance(one, File) or self._takes(one)]
        found = list(without_site_names(taken))
        return Listing(
            [with_fingerprint(one) if isinstance(one, File) else one for one in found],
            [self._id(one) for one in found if isinstance(one, Problem)],
        )

    def fetched(self, file: File) -> Iterator[Found]:
        """See the protocol."""
        yield file

    def _takes(self, file: File) -> bool:
        return self._included.takes(file.id.removeprefix(self._prefix))

    def _id(self, problem: Problem) -> str:
        """Returns the id of a file that cannot be read, or what all ids in such a folder begin with."""
        within = Path(problem.path).relative_to(printable(self._root)).as_posix()
        return self._prefix.removesuffix("/") if within == "." else self._prefix + within


def with_fingerprint(file: File) -> File:
    """Returns a file of one document with the SHA-256 of its content. One that cannot be read is reported later."""
    if file.kind in _COLLECTIONS:
        return file
    try:
        with file.path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return file
    return replace(file, metadata={**file.metadata, FINGERPRINT: digest})
