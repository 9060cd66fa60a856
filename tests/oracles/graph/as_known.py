"""In-memory searches for facts as they were known at an instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.graph_query.core.names import link_key, name_key, relation_key
from services.graph_query.core.store import Hit, SpaceState, WordHits
from services.graph_query.search.as_known import Known
from tests.oracles.graph.reads import FakeReads, best, holds, is_past_event, overlap, state_of
from tests.oracles.graph.space import FakeSpace
from tests.oracles.graph.versions import FakeVersion


@dataclass(frozen=True, slots=True)
class FakeAsKnown:
    """Implements `AsKnownStore` over the spaces of a fake graph."""

    graph: FakeReads

    async def search_words_known(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        at: Known,
    ) -> WordHits:
        """Finds facts by words and by named entities."""
        key = at.only.entity_key
        keys = {link_key(key)} if key else set(link_keys)
        stored = self.graph.readable(space)
        found = list(self._known(space, at))
        text = [
            _hit(stored, one, overlap(terms, f"{one.given.fact} {one.given.relation}"))
            for one in found
        ]
        entity = [
            _hit(stored, one, float(len({link_key(name) for name in _names(one)} & keys)))
            for one in found
        ]
        state = state_of(stored)
        return WordHits(state, text=best(text, at.limit), entity=best(entity, at.limit))

    async def search_vector_known(
        self,
        space: str,
        vector: Sequence[float],
        at: Known,
        state: SpaceState,
    ) -> tuple[list[Hit], bool]:
        """Finds facts by cosine."""
        facts = self.graph.readable(space).facts
        near = [
            Hit(
                one.uuid, sum(a * b for a, b in zip(facts[one.uuid].embedding, vector, strict=True))
            )
            for one in self._known(space, at)
            if one.uuid in facts and len(facts[one.uuid].embedding) == len(vector)
        ]
        return sorted(near, key=lambda hit: (-hit.score, hit.uuid))[: at.limit], True

    def _known(self, space: str, at: Known) -> Iterator[FakeVersion]:
        only, stored = at.only, self.graph.readable(space)
        for version in stored.versions.known(at.known).values():
            given = version.given
            found = holds(given, only) or is_past_event(stored, version, only)
            fits = not only.relation or relation_key(given.relation) == relation_key(only.relation)
            named = {name_key(name) for name in _names(version)}
            if found and fits and (not only.entity_key or only.entity_key in named):
                yield version


def _hit(existing: FakeSpace, one: FakeVersion, score: float) -> Hit:
    stored = existing.facts.get(one.uuid)
    return Hit(one.uuid, score, embedded=stored is not None and bool(stored.embedding))


def _names(version: FakeVersion) -> tuple[str, str]:
    return version.source.name, version.target.name
