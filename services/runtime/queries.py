"""Named queries, and the conditions that several of them share, in files of many.

    // name: facts_of_space
    // What it answers.
    MATCH ()-[e:RELATES_TO]->() WHERE {{lasts_one_day e}} ...

    // fragment: lasts_one_day fact
    // When it is so.
    {{fact}}.valid_until <= (floor({{fact}}.valid_from / 86400) + 1) * 86400

A fragment is inserted as text when its queries are loaded, so that each rule is written once and the store still sees
whole queries. Its arguments are words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import dropwhile
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADER: Final = re.compile(r"^(?:--|//) (name|fragment): (.{1,300})\n", re.MULTILINE)
_INSERTED: Final = re.compile(r"\{\{([^{}]{1,300})\}\}")
_COMMENTS: Final = ("-- ", "// ")
# Fragments within fragments, at most.
_DEPTH: Final = 5


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
    """The query texts by name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {name: NamedQuery(name, text) for name, text in texts.items()}

    @classmethod
    def load(cls, folder: str, *packages: str) -> Self:
        """Reads all files in the `folder` of each package; fragments serve the queries of all of them.

        Raises ValueError for a name that stands twice, one without a description, or an unknown fragment.
        """
        texts: dict[str, str] = {}
        fragments: dict[str, _Fragment] = {}
        for kind, title, text in _parts(folder, packages):
            name, *parameters = title.split()
            if name in texts or name in fragments:
                raise ValueError(f"{name} stands twice")
            if not text.startswith(_COMMENTS):
                raise ValueError(f"{title} does not begin with a line that says what it is")
            if kind == "fragment":
                fragments[name] = _Fragment(tuple(parameters), _without_description(text))
            else:
                texts[name] = text
        return cls({name: _expanded(text, fragments) for name, text in texts.items()})

    def __getitem__(self, name: str) -> NamedQuery:
        return self._texts[name]

    def names(self) -> list[str]:
        """Returns all names, sorted."""
        return sorted(self._texts)


@dataclass(frozen=True, slots=True)
class _Fragment:
    parameters: tuple[str, ...]
    text: str

    def with_arguments(self, arguments: tuple[str, ...]) -> str:
        """Returns the text with the arguments in place of its parameters."""
        values = dict(zip(self.parameters, arguments, strict=True))

        def value(found: re.Match[str]) -> str:
            words = found[1].split()
            if len(words) == 1 and words[0] in values:
                return values[words[0]]
            name, *inner = words
            return "{{" + " ".join([name, *(values.get(word, word) for word in inner)]) + "}}"

        return _INSERTED.sub(value, self.text)


def _parts(folder: str, packages: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Returns the kind, title and text of each part of the files."""
    for package in packages:
        for file in sorted((files(package) / folder).iterdir(), key=lambda file: file.name):
            if not file.is_file():
                continue
            before, *parts = _HEADER.split(file.read_text())
            if before.strip():
                raise ValueError(f"{file.name} does not begin with the name of a query")
            for kind, title, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
                yield kind, title, text.strip()


def _without_description(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(dropwhile(lambda line: line.startswith(_COMMENTS), lines))


def _expanded(text: str, fragments: Mapping[str, _Fragment]) -> str:
    def fragment(found: re.Match[str]) -> str:
        name, *arguments = found[1].split()
        if name not in fragments or len(arguments) != len(fragments[name].parameters):
            raise ValueError(f"no fragment is written as {found[0]}")
        return fragments[name].with_arguments(tuple(arguments))

    for _ in range(_DEPTH):
        if "{{" not in text:
            return text
        text = _INSERTED.sub(fragment, text)
    raise ValueError("fragments contain each other, or `{{` is not closed")
