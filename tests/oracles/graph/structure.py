"""The shape of the graph in memory: the same promises as the real store's, by plain loops."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from services.graph_query.core.domain import Entity, EntityName, Fact, FactFilter, Origin
from services.graph_query.core.intervals import start_of
from services.graph_query.core.names import is_linkable, link_key, name_key
from services.graph_query.entities.domain import (
    EntityDetails,
    NamedEntity,
    Pair,
    Seeds,
    Step,
    Subgraph,
    SubgraphEntity,
    SubgraphEpisode,
    SubgraphMention,
    Titled,
    other_spellings,
)
from services.graph_query.history.domain import Selector
from services.graph_query.local_extraction.extract import MentionKind
from tests.oracles.graph.reads import FakeReads, as_fact, entity_of, joining_facts, lasts
from tests.oracles.graph.space import FakeSpace, Told


@dataclass(frozen=True, slots=True)
class FakeStructure:
    """`StructureStore` over the spaces of a fake graph."""

    graph: FakeReads

    async def entities(self, space: str, entity: Selector, now: float) -> list[EntityDetails]:
        """The entities that are meant."""
        held = self.graph.readable(space)
        found = [
            _details(held, one, now)
            for one in (entity_of(held, uuid) for uuid in held.entities())
            if entity.means(one)
        ]
        degrees = _degrees(held)
        return sorted(
            found,
            key=lambda one: (-one.entity.mentions, -degrees[one.entity.uuid], one.entity.uuid),
        )

    async def names_linked(self, space: str, keys: Sequence[str]) -> dict[str, list[NamedEntity]]:
        """Names that a title or a fact gives, by linking key."""
        held = self.graph.readable(space)
        given = {name_key(end.name) for told in held.told.values() for end in _ends(told)}
        found: defaultdict[str, list[NamedEntity]] = defaultdict(list)
        for name, types in sorted(held.types.items()):
            titled = is_linkable(name) and any(_about(held, uuid) for uuid in types.values())
            asked = name in given or titled
            if asked and link_key(name) in keys:
                found[link_key(name)] += [NamedEntity(name, uuid) for uuid in types.values()]
        return {key: sorted(named) for key, named in found.items()}

    async def titled(self, space: str, uuids: Sequence[str]) -> dict[str, Titled]:
        """Those of the entities that are there."""
        held = self.graph.readable(space)
        there = held.entities()
        return {
            uuid: Titled(entity_of(held, uuid), _about(held, uuid))
            for uuid in uuids
            if uuid in there
        }

    async def steps(
        self, space: str, uuids: Sequence[str], only: FactFilter, limit: int, *, local: bool
    ) -> list[Step]:
        """Neighbours of entities."""
        held = self.graph.readable(space)
        degrees = _degrees(held)
        found: dict[Step, None] = {}
        for fact in joining_facts(held, only, local=local):
            for source, target in _ways(fact):
                if source in uuids:
                    found.setdefault(Step(source, target, degrees[target]))
        return list(found)[:limit]

    async def joining(
        self, space: str, pairs: Sequence[Pair], only: FactFilter, *, local: bool
    ) -> dict[Pair, Fact]:
        """The best fact between each two entities."""
        held = self.graph.readable(space)
        found: dict[Pair, list[Fact]] = defaultdict(list)
        for fact in joining_facts(held, only, local=local):
            for pair in _ways(fact):
                found[pair].append(fact)
        return {pair: min(found[pair], key=_preference) for pair in pairs if pair in found}

    async def subgraph(self, space: str, seeds: Seeds) -> Subgraph:
        """The chunks around some chunks and entities."""
        held = self.graph.readable(space)
        begun = {uuid for uuid in seeds.chunks if uuid in held.passages}
        there = held.entities()
        for entity in seeds.entities:
            if entity in there:
                begun |= set(_led_to(held, entity, seeds))
        weights = _weights(held, begun, seeds)
        ordered = sorted(begun | weights.keys(), key=lambda uuid: (-weights[uuid], uuid))
        ordered.sort(key=lambda uuid: uuid not in begun)
        ordered[: len(begun)] = sorted(begun)
        shown = ordered[: seeds.max_episodes]
        return Subgraph(
            [_episode(held, uuid, begun) for uuid in shown],
            *_shared(held, shown, begun, seeds.entities),
            truncated=len(ordered) > len(shown),
        )


def _weights(held: FakeSpace, begun: Iterable[str], seeds: Seeds) -> Counter[str]:
    weights: Counter[str] = Counter()
    hits = Counter(entity for uuid in begun for entity in held.rows[uuid].mentions)
    for entity, number in hits.items():
        for uuid in _led_to(held, entity, seeds):
            weights[uuid] += number / math.log(2 + _frequency(held, entity))  # type: ignore[assignment]
    return weights


def _led_to(held: FakeSpace, entity: str, seeds: Seeds) -> list[str]:
    naming = _naming(held, entity)
    about = [uuid for uuid, kind in naming if kind == MentionKind.ABOUT][: seeds.max_about]
    return sorted({*about, *(uuid for uuid, _ in naming if len(naming) <= seeds.max_mentions)})


def _naming(held: FakeSpace, entity: str) -> list[tuple[str, int]]:
    """The chunks that name an entity, and how."""
    rows = sorted(held.rows.items())
    return [(uuid, row.mentions[entity].kind) for uuid, row in rows if entity in row.mentions]


def _frequency(held: FakeSpace, entity: str) -> int:
    return len(_naming(held, entity))


def _about(held: FakeSpace, entity: str) -> bool:
    return any(kind == MentionKind.ABOUT for _, kind in _naming(held, entity))


def _episode(held: FakeSpace, uuid: str, begun: Collection[str]) -> SubgraphEpisode:
    passage = held.passages[uuid]
    return SubgraphEpisode(uuid, passage.document_id, passage.title, uuid in begun)


def _shared(
    held: FakeSpace, episodes: Sequence[str], begun: Collection[str], asked: Collection[str]
) -> tuple[list[SubgraphEntity], list[SubgraphMention]]:
    """The entities that two of the chunks share, those of the chunks begun with, and those asked for."""
    mentions: defaultdict[str, list[SubgraphMention]] = defaultdict(list)
    for episode in sorted(episodes):
        for entity, row in held.rows[episode].mentions.items():
            mentions[entity].append(SubgraphMention(episode, entity, row.kind, row.sentences))
    kept = sorted(
        uuid
        for uuid, rows in mentions.items()
        if len(rows) > 1 or rows[0].episode in begun or uuid in asked
    )
    entities = [
        SubgraphEntity(held.ref(uuid), _frequency(held, uuid), _about(held, uuid)) for uuid in kept
    ]
    return entities, [row for uuid in kept for row in mentions[uuid]]


def _details(held: FakeSpace, one: Entity, now: float) -> EntityDetails:
    spelt = {
        rows.mentions[one.uuid].name for rows in held.rows.values() if one.uuid in rows.mentions
    }
    found = held.resolution()
    for told in held.told.values():
        spelt |= {end.name for end in _ends(told) if found.uuid(end) == one.uuid}
    facts = [as_fact(held, stored) for stored in held.facts.values()]
    holding = sum(
        one.uuid in (fact.source.uuid, fact.target.uuid) and lasts(fact, FactFilter(now, now))
        for fact in facts
    )
    return EntityDetails(one, other_spellings(one.name, spelt), holding, None)


def _ends(told: Told) -> list[EntityName]:
    return [end for _, ends in told.claims for end in ends]


def _degrees(held: FakeSpace) -> Counter[str]:
    return Counter(end for fact in held.facts.values() for end in {fact.source, fact.target})


def _ways(fact: Fact) -> Iterator[Pair]:
    ends = (fact.source.uuid, fact.target.uuid)
    if ends[0] != ends[1]:
        yield ends
        yield ends[1], ends[0]


def _preference(fact: Fact) -> tuple[bool, float, str]:
    return fact.origin is Origin.LOCAL, -start_of(fact.valid_at), fact.uuid
