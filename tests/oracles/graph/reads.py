"""In-memory reads of the graph, with the semantics of the real store in plain loops."""

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
    """Searches, neighborhoods and listings over spaces in memory."""

    def __init__(self) -> None:
        self.spaces: dict[str, FakeSpace] = {}
        self.ontologies = FakeOntologies()
        self.failure: BraidError | None = None

    def readable(self, space: str) -> FakeSpace:
        """Returns the space to read, an empty one if it was never written. Raises `failure` if it is set."""
        if self.failure is not None:
            raise self.failure
        stored = self.spaces.get(space) or FakeSpace(space)
        stored.events = self.ontologies.events(space)
        return stored

    async def search_words(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        only: FactFilter,
        limit: int,
    ) -> WordHits:
        """Finds facts by the number of terms in them, facts of named entities, and sentences."""
        stored = self.readable(space)
        stated = list(_stated(stored, only))
        keys = [link_key(only.entity_key)] if only.entity_key else list(link_keys)
        sentences = [] if only.relation not in ("", "co_occurs") else list(_sentences(stored, only))
        return WordHits(
            state_of(stored),
            text=best(
                [_hit(stored, f, overlap(terms, f"{f.fact} {f.relation}")) for f in stated], limit
            ),
            entity=_rank_named(stored, stated, keys, terms, limit),
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
        """Finds stated facts by cosine."""
        existing = self.readable(space)
        found = []
        for fact in _stated(existing, only):
            stored = existing.facts[fact.uuid].embedding
            if len(stored) == len(vector):
                score = sum(a * b for a, b in zip(stored, vector, strict=True))
                found.append(Hit(fact.uuid, score, fact.fact, fact.relation))
        return sorted(found, key=lambda hit: (-hit.score, hit.uuid))[:limit]

    async def facts(self, space: str, uuids: Sequence[str]) -> dict[str, Fact]:
        """Returns the stated facts that exist, in full."""
        stored = self.readable(space)
        return {uuid: as_fact(stored, stored.facts[uuid]) for uuid in uuids if uuid in stored.facts}

    async def neighborhood(
        self, space: str, name: str, entity_type: str, limit: int, only: FactFilter
    ) -> Neighborhood:
        """Returns an entity's neighbors, with up to three facts each."""
        stored = self.readable(space)
        named = [entity_of(stored, uuid) for uuid in stored.types.get(name, {}).values()]
        named.sort(key=lambda one: (-one.mentions, -_degree(stored, one.uuid), one.uuid))
        center = next((one for one in named if not entity_type or one.type == entity_type), None)
        if center is None:
            raise NotFoundError("entity")
        edges = _edges_by_neighbor(stored, center.uuid, only)
        ranked = sorted(edges, key=lambda uuid: (*_rank(edges[uuid]), stored.names[uuid], uuid))
        return Neighborhood(
            center=center,
            nodes=tuple(entity_of(stored, uuid) for uuid in ranked[:limit]),
            edges=tuple(fact for uuid in ranked[:limit] for fact in edges[uuid][:3]),
            total=len(edges),
            homonyms=tuple(
                EntityRef(one.uuid, one.name, one.type) for one in named if one != center
            ),
        )

    async def list_entities(
        self, space: str, listing: EntityListing, after: EntityPosition, limit: int
    ) -> EntityPage:
        """Lists entities after a position."""
        stored = self.readable(space)
        keys = {uuid: key for key, types in stored.types.items() for uuid in types.values()}
        places = {
            EntityPosition(entity.mentions, keys[entity.uuid], entity.uuid): entity
            for entity in (entity_of(stored, uuid) for uuid in stored.entities())
            if not listing.type or entity.type == listing.type
            if listing.document_titles in (None, _is_document_title(stored, entity.uuid))
        }

        def rank(place: EntityPosition) -> tuple[int, str, str]:
            by_mentions = listing.order is EntityOrder.MENTIONS
            return (-place.mentions if by_mentions else 0, place.key, place.uuid)

        later = [place for place in sorted(places, key=rank) if rank(place) > rank(after)]
        page = [
            replace(
                places[place],
                key=place.key,
                document_title=_is_document_title(stored, place.uuid),
            )
            for place in later[:limit]
        ]
        return EntityPage(page, later[limit - 1] if len(later) > limit else None)

    async def stats(self, space: str) -> GraphStats:
        """Returns the counts of the space's graph."""
        stored = self.readable(space)
        types: dict[str, int] = {}
        for uuid in stored.entities():
            types[stored.type_of(uuid)] = types.get(stored.type_of(uuid), 0) + 1
        return GraphStats(
            entities=len(stored.entities()),
            facts=len(stored.facts),
            local_facts=len(stored.graph_sets().local_facts),
            episodes=len(stored.passages),
            entities_by_type=types,
            last_write=stored.last_write,
            indexes={},
            revision=stored.revision,
        )

    async def ping(self) -> None:
        """Raises `failure` if it is set."""
        self.readable("")


def state_of(stored: FakeSpace) -> SpaceState:
    """Returns the state of a space."""
    vectors = sum(1 for fact in stored.facts.values() if fact.embedding)
    return SpaceState(stored.revision, vectors, stored.model, stored.dimension)


def _stated(existing: FakeSpace, only: FactFilter) -> Iterator[Fact]:
    for stored in existing.facts.values():
        given = stored.given
        fits = not only.relation or relation_key(given.relation) == relation_key(only.relation)
        fact = as_fact(existing, stored)
        found = holds(given, only) or is_past_event(existing, stored, only)
        if found and fits and (not only.entity_key or only.entity_key in _end_keys(fact)):
            yield fact


def _sentences(stored: FakeSpace, only: FactFilter) -> Iterator[list[Fact]]:
    for rows in stored.rows.values():
        for row in rows.sentences.values():
            if not stored.periods[row.episode].meets(only.since, only.until):
                continue
            if _is_contradicted(stored, row, only):
                continue
            facts = _local_facts(stored, row)
            if not only.entity_key or any(only.entity_key in _end_keys(fact) for fact in facts):
                yield facts


def _is_contradicted(existing: FakeSpace, row: SentenceRow, only: FactFilter) -> bool:
    """Returns whether a stated fact between two of a sentence's first 17 entities is not valid at the time."""
    named = {row.subject, *row.targets[:16]}
    return any(
        {stored.source, stored.target} <= named
        and stored.source != stored.target
        and not holds(stored.given, only)
        and not is_within_a_day(stored.given.valid_at, stored.given.invalid_at)
        for stored in existing.facts.values()
    )


def holds(fact: GivenFact | Fact, only: FactFilter) -> bool:
    """Returns whether a fact is valid at a time."""
    return start_of(fact.valid_at) <= only.until and end_of(fact.invalid_at) > only.since


def lasts(fact: Fact, only: FactFilter) -> bool:
    """Returns whether a fact is valid at a time and is not an event of an earlier day."""
    is_over = (
        fact.event and fact.invalid_at is None and day_after(start_of(fact.valid_at)) <= only.since
    )
    return holds(fact, only) and not is_over


def is_past_event(existing: FakeSpace, stored: StoredFact | FakeVersion, only: FactFilter) -> bool:
    """Returns whether a fact is a past event as of an instant: a short event that has ended."""
    is_over = end_of(stored.given.invalid_at) <= only.since
    return only.since == only.until and is_over and is_short_event(existing, stored)


def is_short_event(existing: FakeSpace, stored: StoredFact | FakeVersion) -> bool:
    """Returns whether a fact is an event that ended within its day, as stated."""
    given = stored.given
    return (
        relation_key(given.relation) in existing.events
        and is_within_a_day(given.valid_at, given.invalid_at)
        and given.invalid_at == stored.stated_end
    )


def best(hits: list[Hit], limit: int) -> list[Hit]:
    """Returns the best hits with a score above 0."""
    found = [hit for hit in hits if hit.score > 0]
    return sorted(found, key=lambda hit: (-hit.score, hit.uuid))[:limit]


def overlap(terms: Sequence[str], text: str) -> float:
    """Returns how many of the terms a text contains."""
    words = all_words(text)
    return float(sum(term in words for term in terms))


def _hit(stored: FakeSpace, fact: Fact, score: float) -> Hit:
    embedded = bool(stored.facts[fact.uuid].embedding)
    return Hit(fact.uuid, score, fact.fact, fact.relation, embedded)


def _rank_named(
    stored: FakeSpace, stated: Sequence[Fact], keys: Sequence[str], terms: Sequence[str], limit: int
) -> list[Hit]:
    """Ranks facts by the number of their named entities, then facts whose relation the terms may name, latest first."""
    beginnings = relation_beginnings(terms)

    def rank(fact: Fact) -> tuple[float, bool, float, str]:
        key = relation_key(fact.relation)
        unasked = not any(beginning in key for beginning in beginnings)
        return -_named_ends(fact, keys), unasked, -start_of(fact.valid_at), fact.uuid

    named = sorted((fact for fact in stated if _named_ends(fact, keys)), key=rank)
    return [_hit(stored, fact, _named_ends(fact, keys)) for fact in named[:limit]]


def _named_ends(fact: Fact, keys: Sequence[str]) -> float:
    ends = {link_key(fact.source.name), link_key(fact.target.name)}
    return float(len(ends.intersection(keys)))


def _end_keys(fact: Fact) -> set[str]:
    return {name_key(fact.source.name), name_key(fact.target.name)}


def joining_facts(stored: FakeSpace, only: FactFilter, *, local: bool = True) -> Iterator[Fact]:
    """Yields the stated facts, and with `local` also the co-occurrences, that match the filter."""
    yield from _stated(stored, only)
    if local:
        yield from _co_occurrences(stored, only)


def _co_occurrences(stored: FakeSpace, only: FactFilter) -> Iterator[Fact]:
    for facts in _sentences(stored, only):
        yield from facts


def _edges_by_neighbor(stored: FakeSpace, center: str, only: FactFilter) -> dict[str, list[Fact]]:
    edges: dict[str, list[Fact]] = {}
    for fact in (*_stated(stored, only), *_co_occurrences(stored, only)):
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


def _is_document_title(stored: FakeSpace, uuid: str) -> bool:
    """Returns whether an entity is known only as the title of a document."""
    kinds = {rows.mentions[uuid].kind for rows in stored.rows.values() if uuid in rows.mentions}
    found = stored.resolution()
    described = any(found.uuid(name) == uuid for _, name in stored.described())
    return kinds == {MentionKind.ABOUT} and not _degree(stored, uuid) and not described


def _degree(stored: FakeSpace, uuid: str) -> int:
    return sum(uuid in {fact.source, fact.target} for fact in stored.facts.values())


def entity_of(stored: FakeSpace, uuid: str) -> Entity:
    """Returns an entity with its mentions and its latest description."""
    mentions = sum(uuid in rows.mentions for rows in stored.rows.values())
    found = stored.resolution()
    entries = [one for one, name in stored.described() if found.uuid(name) == uuid]
    latest = next((one for one in reversed(entries) if one.summary or one.attributes), None)
    summary, attributes = (latest.summary, latest.attributes) if latest else ("", {})
    return Entity(uuid, stored.names[uuid], stored.type_of(uuid), summary, mentions, attributes)


def as_fact(existing: FakeSpace, stored: StoredFact) -> Fact:
    """Converts a stored fact to a fact in full."""
    return Fact(
        uuid=stored.uuid,
        fact=stored.given.fact,
        relation=stored.given.relation,
        source=existing.ref(stored.source),
        target=existing.ref(stored.target),
        origin=stored.given.origin,
        valid_at=stored.given.valid_at,
        invalid_at=stored.given.invalid_at,
        created_at=stored.created_at,
        citations=tuple(citation_of(existing, uuid) for uuid in existing.cited(stored)),
        attributes=stored.given.attributes,
        event=relation_key(stored.given.relation) in existing.events,
    )


def _local_facts(stored: FakeSpace, row: SentenceRow) -> list[Fact]:
    period = stored.periods[row.episode]
    return [
        Fact(
            uuid=co_occurrence_uuid(row.uuid, row.subject, target),
            fact=row.text,
            relation="CO_OCCURS",
            source=stored.ref(row.subject),
            target=stored.ref(target),
            origin=Origin.LOCAL,
            valid_at=moment_of(period.since),
            invalid_at=moment_of(period.until),
            citations=(citation_of(stored, row.episode, row.text),),
        )
        for target in row.targets
    ]


def citation_of(stored: FakeSpace, episode: str, quote: str = "") -> Citation:
    """Builds a citation of an episode."""
    passage = stored.passages[episode]
    return Citation(episode, passage.document_id, passage.title, passage.source, quote)
