"""Named queries: one file each, whose first line is a comment with its description."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class NamedQuery(str):
    """A query's text with its name. `text` is the same as a plain string, which some drivers require."""

    name: str
    text: str

    def __new__(cls, name: str, text: str) -> Self:
        """Creates the text with its name."""
        made = super().__new__(cls, text)
        made.name = name
        made.text = text_of(text)
        return made


def name_of(query: str) -> str:
    """Returns a statement's name in traces and metrics."""
    return query.name if isinstance(query, NamedQuery) else "unnamed"


def text_of(query: str) -> str:
    """Returns the text as a plain string."""
    return query.text if isinstance(query, NamedQuery) else query


class Queries:
    """The query texts of one folder by file name without suffix."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {name: NamedQuery(name, text) for name, text in texts.items()}

    @classmethod
    def load(cls, package: str, folder: str, suffix: str) -> Self:
        """Reads every `*suffix` file of `package`'s `folder`. Raises ValueError for one without a description."""
        texts = {}
        for file in (files(package) / folder).iterdir():
            if file.name.endswith(suffix):
                texts[file.name.removesuffix(suffix)] = _described(file.name, file.read_text())
        return cls(texts)

    @classmethod
    def join(cls, *parts: Queries) -> Self:
        """Joins the queries of several folders. Raises ValueError if two of them share a name."""
        texts: dict[str, str] = {}
        for part in parts:
            if twice := texts.keys() & part._texts.keys():
                raise ValueError(f"more than one file for {sorted(twice)}")
            texts |= part._texts
        return cls(texts)

    def __getitem__(self, name: str) -> NamedQuery:
        return self._texts[name]

    def names(self) -> list[str]:
        """Returns all names, sorted."""
        return sorted(self._texts)


def _described(name: str, text: str) -> str:
    if not text.startswith(("-- ", "// ")):
        raise ValueError(f"{name} does not begin with a line that says what it answers")
    return text
