"""The gazetteer of well-known names, read from `known_names.toml`."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Self

_TYPES = ("tool", "concept", "organization", "place", "person")


@dataclass(frozen=True, slots=True)
class KnownNames:
    """General knowledge about names: their types, and which of them are also ordinary words."""

    types: dict[str, frozenset[str]]
    ordinary: frozenset[str]
    never_lower: frozenset[str]
    longest: int

    @classmethod
    def load(cls) -> Self:
        text = files(__package__).joinpath("known_names.toml").read_text(encoding="utf-8")
        return cls.of(tomllib.loads(text))

    @classmethod
    def of(cls, tables: dict[str, dict[str, Any]]) -> Self:
        types: dict[str, set[str]] = {}
        for kind in _TYPES:
            for name in _names(tables.get(kind, {}).values()):
                types.setdefault(_key(name), set()).add(kind)
        ordinary = tables.get("ordinary", {})
        return cls(
            types={name: frozenset(of) for name, of in types.items()},
            ordinary=frozenset(ordinary.get("words", ())),
            never_lower=frozenset(ordinary.get("never", ())),
            longest=max((len(name.split()) for name in types), default=1),
        )

    def types_of(self, name: str) -> frozenset[str]:
        return self.types.get(_key(name), frozenset())

    def is_first_name(self, word: str) -> bool:
        return "person" in self.types_of(word)

    def match(self, words: Sequence[str], start: int) -> int:
        """Returns how many words from `start` form a known name; 0 for none. The longest match wins."""
        for width in range(min(self.longest, len(words) - start), 0, -1):
            if " ".join(words[start : start + width]).lower() in self.types:
                return width
        return 0


def _names(lists: Iterable[list[str]]) -> Iterable[str]:
    for names in lists:
        yield from names


def _key(name: str) -> str:
    return " ".join(name.lower().split())
