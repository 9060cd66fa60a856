"""One space of the graph in memory: its passages and facts, and all that follows from them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from services.graph_query.domain import GivenFact, Passage
from services.graph_query.extraction.extract import MentionKind
from services.graph_query.extraction.gazetteer import Gazetteer
from services.graph_query.identity import entity_uuid
from services.graph_query.local_graph import PassageRows, ReadPassage, passage_rows
from services.graph_query.names import is_linkable, name_key, title_names
from services.runtime.times import utc_now


@dataclass(slots=True)
class StoredFact:
    """A fact with its ends resolved and the documents that claim it."""

    uuid: str
    source: str
    target: str
    given: GivenFact
    created_at: datetime
    documents: set[str] = field(default_factory=set)
    embedding: tuple[float, ...] = ()


class Picture(NamedTuple):
    """The graph as sets of what is in it."""

    episodes: frozenset[str]
    entities: frozenset[str]
    mentions: frozenset[tuple[str, str]]
    local_facts: frozenset[tuple[str, int, str, str]]


@dataclass(slots=True)
class FakeSpace:
    """What was given to a space, and the graph computed from it by `rebuild`."""

    space: str
    passages: dict[str, Passage] = field(default_factory=dict)
    facts: dict[str, StoredFact] = field(default_factory=dict)
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    rows: dict[str, PassageRows] = field(default_factory=dict)
    model: str = ""
    revision: int = 0
    last_write: datetime | None = None

    def rebuild(self) -> None:
        """Computes the graph from scratch: every passage with all of the space's names."""
        gazetteer = Gazetteer.of(self._linked())
        self.rows = {
            uuid: passage_rows(self.space, ReadPassage.of(passage), gazetteer)
            for uuid, passage in sorted(self.passages.items())
        }
        self._note_names(about=True)
        self._note_names(about=False)
        self._forget_unused()
        self.revision += 1
        self.last_write = utc_now()

    def drop_claims(self, documents: Collection[str]) -> None:
        """Takes back what documents claimed, and the facts that nothing else claims."""
        for fact in list(self.facts.values()):
            if fact.documents & set(documents):
                fact.documents -= set(documents)
                if not fact.documents:
                    del self.facts[fact.uuid]

    def picture(self) -> Picture:
        """The graph as sets."""
        sentences = [row for rows in self.rows.values() for row in rows.sentences.values()]
        return Picture(
            episodes=frozenset(self.passages),
            entities=frozenset(self.entities()),
            mentions=frozenset(
                (row.episode, row.entity)
                for rows in self.rows.values()
                for row in rows.mentions.values()
            ),
            local_facts=frozenset(
                (row.episode, row.ordinal, row.subject, target)
                for row in sentences
                for target in row.targets
            ),
        )

    def entities(self) -> set[str]:
        """Entities that something names or a fact joins."""
        named = {uuid for rows in self.rows.values() for uuid in rows.mentions}
        ends = {end for fact in self.facts.values() for end in (fact.source, fact.target)}
        return named | ends

    def type_of(self, uuid: str) -> str:
        """An entity's type, "" when none is known."""
        return next(
            (kind for types in self.types.values() for kind, held in types.items() if held == uuid),
            "",
        )

    def cited(self, fact: StoredFact) -> list[str]:
        """Episodes of the claiming documents that name both ends; else the best of each document."""
        ends = {fact.source, fact.target}
        cited: set[str] = set()
        for document in fact.documents:
            episodes = [p.uuid for p in self.passages.values() if p.document_id == document]
            ranked = sorted(
                (-len(ends & self.rows[uuid].mentions.keys()), uuid) for uuid in episodes
            )
            both = {uuid for named, uuid in ranked if -named == len(ends)}
            cited |= both or {uuid for _, uuid in ranked[:1]}
        return sorted(cited)

    def _note_names(self, *, about: bool) -> None:
        """Names are spelled as the first title has them, else as the first sentence."""
        for rows in self.rows.values():
            for uuid, (key, name) in rows.names.items():
                if about == (rows.mentions[uuid].kind == MentionKind.ABOUT):
                    self.names.setdefault(uuid, name)
                    self.types.setdefault(key, {"": uuid})

    def _linked(self) -> dict[str, tuple[str, ...]]:
        titles = {name_key(name) for p in self.passages.values() for name in title_names(p.title)}
        ends = {end for fact in self.facts.values() for end in (fact.source, fact.target)}
        given = {key for key, types in self.types.items() if ends & set(types.values())}
        linked = {}
        for key in titles | {key for key in given if is_linkable(key)}:
            types = self.types.get(key) or {"": entity_uuid(self.space, key)}
            linked[key] = tuple(uuid for _, uuid in sorted(types.items()))
        return linked

    def _forget_unused(self) -> None:
        used = self.entities()
        self.names = {uuid: name for uuid, name in self.names.items() if uuid in used}
        kept = {
            key: {kind: uuid for kind, uuid in types.items() if uuid in used}
            for key, types in self.types.items()
        }
        self.types = {key: types for key, types in kept.items() if types}
