"""A space's known names, the automaton that finds them in text, and a cache of both by space.

Names change in small numbers, so the automaton has two levels: a large base, and a small delta that is merged into the
base once it has grown. A gazetteer is immutable; `changed` returns the next one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Self

from ahocorasick_rs import AhoCorasick

from services.graph_query.core.names import link_key
from services.graph_query.core.tokens import TokenText

Uuids = tuple[str, ...]


_REBUILD_FLOOR = 2_000


_REBUILD_SHARE = 8


class Gazetteer:
    """Names by key with their entities, and the search for names in text."""

    def __init__(
        self,
        names: Mapping[str, Uuids],
        by_link: Mapping[str, tuple[str, ...]],
        base: Automaton,
        delta: Automaton,
    ) -> None:
        self._names = names
        self._by_link = by_link
        self._base = base
        self._delta = delta

    @classmethod
    def of(cls, names: Mapping[str, Uuids]) -> Self:
        """Builds the gazetteer of these names: name key → uuids, one for each entity of the name."""
        by_link = _by_link({}, names)
        return cls(dict(names), by_link, Automaton(by_link), Automaton(()))

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name_key: str) -> bool:
        return name_key in self._names

    def uuids(self, name_key: str) -> Uuids:
        """Returns the entities of a name; empty if it is unknown."""
        return self._names.get(name_key, ())

    def names_of(self, key: str) -> tuple[str, ...]:
        """Returns the name keys that share a linking key, sorted."""
        return self._by_link.get(key, ())

    def changed(self, put: Mapping[str, Uuids], removed: Iterable[str] = ()) -> Self:
        """Returns the gazetteer with names added or given other entities, and others removed."""
        names = {**self._names, **put}
        by_link = _by_link(self._by_link, put)
        for name in removed:
            names.pop(name, None)
            _drop(by_link, name)
        fresh = {link_key(name) for name in put} - self._base.keys
        if not fresh:
            return type(self)(names, by_link, self._base, self._delta)
        grown = self._delta.keys | fresh
        if len(grown) > max(_REBUILD_FLOOR, len(self._base.keys) // _REBUILD_SHARE):
            return type(self)(names, by_link, Automaton(by_link), Automaton(()))
        return type(self)(names, by_link, self._base, Automaton(grown))

    def find(self, sentences: list[TokenText]) -> list[list[tuple[int, int, str]]]:
        """Returns for each sentence all positions of known linking keys: (start, end, key) in words."""
        found: list[list[tuple[int, int, str]]] = [[] for _ in sentences]
        text, starts, ends = _haystack(sentences)
        for automaton in (self._base, self._delta):
            for begin, finish in automaton.spans(text):
                key = text[begin + 1 : finish - 1]
                if key in self._by_link:
                    sentence, start = starts[begin + 1]
                    found[sentence].append((start, ends[finish - 1], key))
        return found


class Automaton:
    """Finds whole-word keys in a haystack of space-separated words."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = frozenset(keys)
        # Built on first use: a write without text adds thousands of names and searches for none.
        self._automaton: AhoCorasick | None = None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Returns start and end of every match, including overlapping ones and the outer spaces."""
        if not self.keys:
            return []
        if self._automaton is None:
            patterns = [f" {key} " for key in sorted(self.keys)]
            self._automaton = AhoCorasick(patterns, store_patterns=False)
        matches = self._automaton.find_matches_as_indexes(text, overlapping=True)
        return [(start, end) for _, start, end in matches]


def _haystack(
    sentences: list[TokenText],
) -> tuple[str, dict[int, tuple[int, int]], dict[int, int]]:
    parts: list[str] = []
    starts: dict[int, tuple[int, int]] = {}
    ends: dict[int, int] = {}
    at = 0
    for number, sentence in enumerate(sentences):
        at += 1
        for index, word in enumerate(sentence.words):
            starts[at] = (number, index)
            at += len(word)
            ends[at] = index + 1
            at += 1
        parts.append(" " + " ".join(sentence.words) + " " if sentence.words else " ")
        parts.append("\n")
        at += 1
    return "".join(parts), starts, ends


def _by_link(
    old: Mapping[str, tuple[str, ...]], put: Mapping[str, Uuids]
) -> dict[str, tuple[str, ...]]:
    by_link = dict(old)
    for name in put:
        key = link_key(name)
        known = by_link.get(key, ())
        if name not in known:
            by_link[key] = tuple(sorted((*known, name)))
    return by_link


def _drop(by_link: dict[str, tuple[str, ...]], name: str) -> None:
    key = link_key(name)
    left = tuple(other for other in by_link.get(key, ()) if other != name)
    if left:
        by_link[key] = left
    else:
        by_link.pop(key, None)


_SPACES = 32


class GazetteerCache:
    """Caches gazetteers by space; never returns one of another revision."""

    def __init__(self, spaces: int = _SPACES) -> None:
        self._spaces = spaces
        self._held: OrderedDict[str, tuple[int, Gazetteer]] = OrderedDict()

    def get(self, space: str, revision: int) -> Gazetteer | None:
        """Returns the space's gazetteer for exactly this revision of its names."""
        stored = self._held.get(space)
        if stored is None or stored[0] != revision:
            return None
        self._held.move_to_end(space)
        return stored[1]

    def put(self, space: str, revision: int, gazetteer: Gazetteer) -> None:
        """Caches a gazetteer; to be called once the write that made it is committed."""
        self._held[space] = (revision, gazetteer)
        self._held.move_to_end(space)
        while len(self._held) > self._spaces:
            self._held.popitem(last=False)
