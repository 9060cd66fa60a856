"""Maildirs: each message is a document, in whichever of its folders it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File, Problem, is_text, printable
from gateway.cli.sources.connector import Listing
from gateway.cli.sources.folder import with_fingerprint
from gateway.content_types import CONTENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.cli.ingest.files import Found
    from gateway.cli.sources.connector import Choice, Stored

_PARTS = ("cur", "new", "tmp")
_TRASHED = "T"


def is_maildir(folder: Path) -> bool:
    """Whether a folder has the parts of a maildir."""
    return all((folder / part).is_dir() for part in _PARTS)


class Maildir:
    """The messages of a maildir and of the maildirs within it, without those that are marked as deleted."""

    def __init__(self, root: Path, prefix: str, choice: Choice) -> None:
        """`choice` is of the paths of messages within the maildir."""
        self._root = root
        self._prefix = prefix
        self._choice = choice

    def listing(self, _stored: Stored) -> Listing:
        """See the protocol. Raises CliError if it is not a maildir."""
        if not is_maildir(self._root):
            raise CliError(
                f"{self._root} is not a maildir: it needs the folders {', '.join(_PARTS)}"
            )
        found: dict[str, Found] = {}
        for folder, names, _ in os.walk(self._root):
            names.sort()
            if is_maildir(Path(folder)):
                for path in self._messages(Path(folder)):
                    # A message keeps this part of its name when it is read, marked or moved.
                    name = path.name.partition(":")[0]
                    found.setdefault(name, self._message(path, name))
        return Listing(list(found.values()))

    def fetched(self, file: File) -> Iterator[Found]:
        """See the protocol."""
        yield file

    def _messages(self, folder: Path) -> Iterator[Path]:
        for part in ("cur", "new"):
            for path in sorted((folder / part).iterdir()):
                flags = path.name.partition(":2,")[2]
                within = path.relative_to(self._root).as_posix()
                hidden = path.name.startswith(".")
                if not hidden and _TRASHED not in flags and self._choice.takes(within):
                    yield path

    def _message(self, path: Path, name: str) -> Found:
        if not is_text(name):
            return Problem(printable(path), "its name is not UTF-8")
        return with_fingerprint(
            File(
                path=path,
                id=f"{self._prefix}{name}.eml",
                kind=CONTENT_TYPES[".eml"],
                prefix=self._prefix,
                address=printable(path),
            )
        )
