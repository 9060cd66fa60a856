"""Reads of the graph in memory: the same promises as the real store's, by plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.graph_query.core.domain import (
    Citation,
    Entity,
    EntityListing,
    EntityOrder,
    EntityPage,
    EntityPosition,
    EntityRef,
    Fact,
    FactFilter,
    GivenFact,
    GraphStats,
    Neighborhood,
    Origin,
)
from services.graph_query.core.full_text import all_words, relation_beginnings
from services.graph_query.core.identity import co_occurrence_uuid
from services.graph_query.core.intervals import (
    day_after,
    end_of,
    is_within_a_day,
    moment_of,
    start_of,
)
from services.graph_query.core.names import link_key, name_key, relation_key
from services.graph_query.core.store import Hit, SpaceState, WordHits
from services.graph_query.local_extraction.cooccurrence import SentenceRow
from services.graph_query.local_extraction.extract import MentionKind
from services.runtime.errors import BraidError, NotFoundError
from tests.oracles.graph.ontology import FakeOntologies
from tests.oracles.graph.space import FakeSpace, StoredFact
from tests.oracles.graph.versions import FakeVersion


class FakeReads:
    """Searches and listings over spaces in memory."""

    def __init__(self) -> None:
        self.spaces: dict[str, FakeSpace] = {}
        self.ontologies = FakeOntologies()
        self.failure: BraidError | None = None

    def readable(self, space: str) -> FakeSpace:
        """The space to read, empty when nobody wrote to it. Raises `failure` when it is set."""
        if self.failure is not None:
            raise self.failure
        held = self.spaces.get(space) or FakeSpace(space)
        held.events = self.ontologies.events(space)
        return held

    async def search_words(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        only: FactFilter,
        limit: int,
    ) -> WordHits:
        """Facts by how many of the terms they have, facts of named entities, sentences."""
        held = self.readable(space)
        stated = list(_stated(held, only))
        keys = [link_key(only.entity_key)] if only.entity_key else list(link_keys)
        sentences = [] if only.relation not in ("", "co_occurs") else list(_sentences(held, only))
        return WordHits(
            state_of(held),
            text=best(
                [_hit(held, f, overlap(terms, f"{f.fact} {f.relation}")) for f in stated], limit
            ),
            entity=_asked_first(held, stated, keys, terms, limit),
            sentences=sorted(
                ((facts, score) for facts in sentences if (score := overlap(terms, facts[0].fact))),
                key=lambda hit: (-hit[1], hit[0][0].uuid),
            )[:limit],
        )

    async def search_vector(
        self,
        space: str,
        vector: Sequence[float],
        only: FactFilter,
        limit: int,
        *,
        exact: bool,
    ) -> list[Hit]:
        """Stated facts by cosine."""
        held = self.readable(space)
        found = []
        for fact in _stated(held, only):
            stored = held.facts[fact.uuid].embedding
            if len(stored) == len(vector):
                score = sum(a * b for a, b in zip(stored, vector, strict=True))
                found.append(Hit(fact.uuid, score, fact.fact, fact.relation))
        return sorted(found, key=lambda hit: (-hit.score, hit.uuid))[:limit]

    async def facts(self, space: str, uuids: Sequence[str]) -> dict[str, Fact]:
        """Those of the stated facts that are there, in full."""
        held = self.readable(space)
        return {uuid: as_fact(held, held.facts[uuid]) for uuid in uuids if uuid in held.facts}

    async def neighborhood(
        self, space: str, name: str, entity_type: str, limit: int, only: FactFilter
    ) -> Neighborhood:
        """An entity's neighbours with up to three facts each."""
        held = self.readable(space)
        named = [entity_of(held, uuid) for uuid in held.types.get(name, {}).values()]
        named.sort(key=lambda one: (-one.mentions, -_degree(held, one.uuid), one.uuid))
        center = next((one for one in named if not entity_type or one.type == entity_type), None)
        if center is None:
            raise NotFoundError("entity")
        edges = _edges_by_neighbor(held, center.uuid, only)
        ranked = sorted(edges, key=lambda uuid: (*_rank(edges[uuid]), held.names[uuid], uuid))
        return Neighborhood(
            center=center,
            nodes=tuple(entity_of(held, uuid) for uuid in ranked[:limit]),
            edges=tuple(fact for uuid in ranked[:limit] for fact in edges[uuid][:3]),
            total=len(edges),
            homonyms=tuple(
                EntityRef(one.uuid, one.name, one.type) for one in named if one != center
            ),
        )

    async def list_entities(
        self, space: str, listing: EntityListing, after: EntityPosition, limit: int
    ) -> EntityPage:
        """Entities after a position."""
        held = self.readable(space)
        keys = {uuid: key for key, types in held.types.items() for uuid in types.values()}
        places = {
            EntityPosition(entity.mentions, keys[entity.uuid], entity.uuid): entity
            for entity in (entity_of(held, uuid) for uuid in held.entities())
            if not listing.type or entity.type == listing.type
            if listing.document_titles in (None, _is_document_title(held, entity.uuid))
        }

        def rank(place: EntityPosition) -> tuple[int, str, str]:
            by_mentions = listing.order is EntityOrder.MENTIONS
            return (-place.mentions if by_mentions else 0, place.key, place.uuid)

        later = [place for place in sorted(places, key=rank) if rank(place) > rank(after)]
        page = [
            replace(
                places[place],
                key=place.key,
                document_title=_is_document_title(held, place.uuid),
            )
            for place in later[:limit]
        ]
        return EntityPage(page, later[limit - 1] if len(later) > limit else None)

    async def stats(self, space: str) -> GraphStats:
        """The space's graph in numbers."""
        held = self.readable(space)
        types: dict[str, int] = {}
        for uuid in held.entities():
            types[held.type_of(uuid)] = types.get(held.type_of(uuid), 0) + 1
        return GraphStats(
            entities=len(held.entities()),
            facts=len(held.facts),
            local_facts=len(held.picture().local_facts),
            episodes=len(held.passages),
            entities_by_type=types,
            last_write=held.last_write,
            indexes={},
            revision=held.revision,
        )

    async def ping(self) -> None:
        """Raises `failure` when it is set."""
        self.readable("")


def state_of(held: FakeSpace) -> SpaceState:
    """A space as of a read."""
    vectors = sum(1 for fact in held.facts.values() if fact.embedding)
    return SpaceState(held.revision, vectors, held.model, held.dimension)


def _stated(held: FakeSpace, only: FactFilter) -> Iterator[Fact]:
    for stored in held.facts.values():
        given = stored.given
        fits = not only.relation or relation_key(given.relation) == relation_key(only.relation)
        fact = as_fact(held, stored)
        found = holds(given, only) or is_past_event(held, stored, only)
        if found and fits and (not only.entity_key or only.entity_key in _end_keys(fact)):
            yield fact


def _sentences(held: FakeSpace, only: FactFilter) -> Iterator[list[Fact]]:
    for rows in held.rows.values():
        for row in rows.sentences.values():
            if not held.periods[row.episode].meets(only.since, only.until):
                continue
            if _is_outdated(held, row, only):
                continue
            facts = _local_facts(held, row)
            if not only.entity_key or any(only.entity_key in _end_keys(fact) for fact in facts):
                yield facts


def _is_outdated(held: FakeSpace, row: SentenceRow, only: FactFilter) -> bool:
    """Whether a stated fact between two of the first 17 entities that a sentence names does not hold at the time."""
    named = {row.subject, *row.targets[:16]}
    return any(
        {stored.source, stored.target} <= named
        and stored.source != stored.target
        and not holds(stored.given, only)
        and not is_within_a_day(stored.given.valid_at, stored.given.invalid_at)
        for stored in held.facts.values()
    )


def holds(fact: GivenFact | Fact, only: FactFilter) -> bool:
    """Whether a fact holds at a time."""
    return start_of(fact.valid_at) <= only.until and end_of(fact.invalid_at) > only.since


def lasts(fact: Fact, only: FactFilter) -> bool:
    """Whether a fact holds at a time and is no event of a former day."""
    over = (
        fact.event and fact.invalid_at is None and day_after(start_of(fact.valid_at)) <= only.since
    )
    return holds(fact, only) and not over


def is_past_event(held: FakeSpace, stored: StoredFact | FakeVersion, only: FactFilter) -> bool:
    """Whether a fact tells, as of an instant, of an event that ended on its day, as stated."""
    over = end_of(stored.given.invalid_at) <= only.since
    return only.since == only.until and over and is_short_event(held, stored)


def is_short_event(held: FakeSpace, stored: StoredFact | FakeVersion) -> bool:
    """Whether a fact tells of an event that ended on its day, as stated."""
    given = stored.given
    return (
        relation_key(given.relation) in held.events
        and is_within_a_day(given.valid_at, given.invalid_at)
        and given.invalid_at == stored.stated_end
    )


def best(hits: list[Hit], limit: int) -> list[Hit]:
    """The best hits that have any score."""
    found = [hit for hit in hits if hit.score > 0]
    return sorted(found, key=lambda hit: (-hit.score, hit.uuid))[:limit]


def overlap(terms: Sequence[str], text: str) -> float:
    """How many of the terms a text has."""
    words = all_words(text)
    return float(sum(term in words for term in terms))


def _hit(held: FakeSpace, fact: Fact, score: float) -> Hit:
    embedded = bool(held.facts[fact.uuid].embedding)
    return Hit(fact.uuid, score, fact.fact, fact.relation, embedded)


def _asked_first(
    held: FakeSpace, stated: Sequence[Fact], keys: Sequence[str], terms: Sequence[str], limit: int
) -> list[Hit]:
    """Facts by how many of their ends are named, then those of a relation that the terms may name, the latest first."""
    beginnings = relation_beginnings(terms)

    def rank(fact: Fact) -> tuple[float, bool, float, str]:
        key = relation_key(fact.relation)
        unasked = not any(beginning in key for beginning in beginnings)
        return -_named_ends(fact, keys), unasked, -start_of(fact.valid_at), fact.uuid

    named = sorted((fact for fact in stated if _named_ends(fact, keys)), key=rank)
    return [_hit(held, fact, _named_ends(fact, keys)) for fact in named[:limit]]


def _named_ends(fact: Fact, keys: Sequence[str]) -> float:
    ends = {link_key(fact.source.name), link_key(fact.target.name)}
    return float(len(ends.intersection(keys)))


def _end_keys(fact: Fact) -> set[str]:
    return {name_key(fact.source.name), name_key(fact.target.name)}


def joining_facts(held: FakeSpace, only: FactFilter, *, local: bool = True) -> Iterator[Fact]:
    """Stated facts that pass, and co-occurrences that do."""
    yield from _stated(held, only)
    if local:
        yield from _co_occurrences(held, only)


def _co_occurrences(held: FakeSpace, only: FactFilter) -> Iterator[Fact]:
    for facts in _sentences(held, only):
        yield from facts


def _edges_by_neighbor(held: FakeSpace, center: str, only: FactFilter) -> dict[str, list[Fact]]:
    edges: dict[str, list[Fact]] = {}
    for fact in (*_stated(held, only), *_co_occurrences(held, only)):
        ends = (fact.source.uuid, fact.target.uuid)
        if center in ends and ends[0] != ends[1]:
            edges.setdefault(ends[0] if ends[1] == center else ends[1], []).append(fact)
    for facts in edges.values():
        facts.sort(
            key=lambda fact: (fact.origin is Origin.LOCAL, -start_of(fact.valid_at), fact.uuid)
        )
    return edges


def _rank(facts: list[Fact]) -> tuple[bool, int]:
    return all(fact.origin is Origin.LOCAL for fact in facts), -len(facts)


def _is_document_title(held: FakeSpace, uuid: str) -> bool:
    """Whether an entity is known only as the title of a document."""
    kinds = {rows.mentions[uuid].kind for rows in held.rows.values() if uuid in rows.mentions}
    found = held.resolution()
    described = any(found.uuid(name) == uuid for _, name in held.described())
    return kinds == {MentionKind.ABOUT} and not _degree(held, uuid) and not described


def _degree(held: FakeSpace, uuid: str) -> int:
    return sum(uuid in {fact.source, fact.target} for fact in held.facts.values())


def entity_of(held: FakeSpace, uuid: str) -> Entity:
    """A node."""
    mentions = sum(uuid in rows.mentions for rows in held.rows.values())
    found = held.resolution()
    told = [one for one, name in held.described() if found.uuid(name) == uuid]
    latest = next((one for one in reversed(told) if one.summary or one.attributes), None)
    summary, attributes = (latest.summary, latest.attributes) if latest else ("", {})
    return Entity(uuid, held.names[uuid], held.type_of(uuid), summary, mentions, attributes)


def as_fact(held: FakeSpace, stored: StoredFact) -> Fact:
    """A stored fact in full."""
    return Fact(
        uuid=stored.uuid,
        fact=stored.given.fact,
        relation=stored.given.relation,
        source=held.ref(stored.source),
        target=held.ref(stored.target),
        origin=stored.given.origin,
        valid_at=stored.given.valid_at,
        invalid_at=stored.given.invalid_at,
        created_at=stored.created_at,
        citations=tuple(citation_of(held, uuid) for uuid in held.cited(stored)),
        attributes=stored.given.attributes,
        event=relation_key(stored.given.relation) in held.events,
    )


def _local_facts(held: FakeSpace, row: SentenceRow) -> list[Fact]:
    period = held.periods[row.episode]
    return [
        Fact(
            uuid=co_occurrence_uuid(row.uuid, row.subject, target),
            fact=row.text,
            relation="CO_OCCURS",
            source=held.ref(row.subject),
            target=held.ref(target),
            origin=Origin.LOCAL,
            valid_at=moment_of(period.since),
            invalid_at=moment_of(period.until),
            citations=(citation_of(held, row.episode, row.text),),
        )
        for target in row.targets
    ]


def citation_of(held: FakeSpace, episode: str, quote: str = "") -> Citation:
    """Where a statement stands."""
    passage = held.passages[episode]
    return Citation(episode, passage.document_id, passage.title, passage.source, quote)
