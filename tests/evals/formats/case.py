"""A file of the corpus, and what has to stand in its document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Case:
    """A file by name, and its content.

    `text` is what its author wrote, from which the words are taken; `title` and `day` are those of its document,
    None if they are not measured. `warning` is the reason of a warning that the job must list, "" for none. `ids` are
    those of its documents, by default its name.
    """

    name: str
    data: bytes
    text: str
    title: str | None = None
    day: date | None = None
    warning: str = ""
    ids: tuple[str, ...] = ()
