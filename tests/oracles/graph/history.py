"""In-memory histories, with the semantics of the real store in plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from services.graph_query.core.domain import Entity, EntityRef, Fact, FactFilter, Origin
from services.graph_query.core.intervals import OPEN, end_of, start_of
from services.graph_query.core.names import relation_key
from services.graph_query.history.domain import (
    NO_PAGE,
    Difference,
    End,
    EntityHistory,
    FactSummary,
    Page,
    Position,
    Scope,
    Selector,
    Times,
    Version,
)
from services.runtime.errors import NotFoundError
from tests.oracles.graph.reads import (
    FakeReads,
    as_fact,
    citation_of,
    entity_of,
    holds,
    is_past_event,
    is_short_event,
    lasts,
)
from tests.oracles.graph.space import FakeSpace, StoredFact
from tests.oracles.graph.versions import FakeVersion


@dataclass(frozen=True, slots=True)
class FakeHistory:
    """Implements `HistoryStore` over the spaces of a fake graph."""

    graph: FakeReads

    async def list_facts(
        self, space: str, scope: Scope, only: FactFilter, after: Position | None, limit: int
    ) -> list[Fact]:
        """Lists facts by start and uuid after a position."""
        stored = self.graph.readable(space)
        facts = [
            fact
            for fact in self._scoped(space, scope)
            if (lasts if scope.lasting else holds)(fact, only)
            or _happened(stored, fact, scope, only)
        ]
        facts = [fact for fact in facts if after is None or _place(fact) > tuple(after)]
        return sorted(facts, key=_place)[:limit]

    async def life(
        self,
        space: str,
        entity: Selector,
        relation: str,
        known: float | None,
        page: Page = NO_PAGE,
    ) -> EntityHistory:
        """Returns an entity's history, with a page of its facts in full."""
        stored = self.graph.readable(space)
        scope = Scope(either=entity, relation=relation, known=known)
        facts = list(self._scoped(space, scope))
        named = _named(stored, entity) or _formerly_named(facts, entity)
        if not named:
            raise NotFoundError("entity")
        if len(named) > 1:
            return EntityHistory(
                None, tuple(EntityRef(one.uuid, one.name, one.type) for one in named)
            )
        moments = tuple(_moment(fact) for fact in facts)
        by_uuid = {fact.uuid: fact for fact in facts}
        first = page.after is None
        return EntityHistory(
            named[0],
            moments=moments if first else (),
            page=tuple(by_uuid[one.uuid] for one in page.following(moments)),
            current=tuple(by_uuid[one.uuid] for one in page.latest(moments) if first),
        )

    async def facts_known(
        self, space: str, uuids: Sequence[str], known: float | None
    ) -> dict[str, Fact]:
        """Returns facts in full, as currently known or as known at an instant."""
        found = {fact.uuid: fact for fact in self._facts(space, known)}
        return {uuid: found[uuid] for uuid in uuids if uuid in found}

    async def differences(
        self, space: str, scope: Scope, times: Times, limit: int
    ) -> list[Difference]:
        """Returns the facts that are valid at only one of two times."""
        facts = list(self._scoped(space, scope))
        stored_in = self.graph.readable(space)
        before = {_statement(fact) for fact in facts if holds(fact, times.before)}
        after = {_statement(fact) for fact in facts if holds(fact, times.after)}
        found = []
        for fact in facts:
            event = is_short_event(stored_in, _stored(stored_in, fact, scope))
            stored = tuple(
                holds(fact, time) or (event and start_of(fact.valid_at) <= time.until)
                for time in times
            )
            if stored[0] != stored[1] and _statement(fact) not in (after if stored[0] else before):
                place = (fact.source.uuid, relation_key(fact.relation), start_of(fact.valid_at))
                found.append(Difference(fact.uuid, *place, stored[0]))
        return found[:limit]

    async def versions(self, space: str, uuid: str, limit: int) -> list[Version]:
        """Returns the last versions of a fact, oldest first."""
        stored = self.graph.readable(space)
        found = [one for one in stored.versions.every if one.uuid == uuid]
        return [
            Version(
                replace(_as_known(stored, one), citations=()),
                datetime.fromtimestamp(one.known_from, UTC),
                _until(one.known_until),
                one.episode,
                one.corrects,
                one.change,
            )
            for one in sorted(found, key=lambda one: one.known_from)[-limit:]
        ]

    async def withdrawn(
        self, space: str, entity: Selector, relation: str, known: float | None, limit: int
    ) -> list[Version]:
        """Returns the last states of an entity's withdrawn facts, latest first."""
        stored = self.graph.readable(space)
        at = OPEN if known is None else known
        last: dict[str, FakeVersion] = {}
        for one in sorted(stored.versions.every, key=lambda one: one.known_from):
            if one.known_from <= at:
                last[one.uuid] = one
        found = [
            one
            for one in last.values()
            if one.known_until <= at
            and one.uuid not in (stored.facts if known is None else ())
            and one.change is not None
            and any(entity.means(end) for end in (one.source, one.target))
            and relation_key(relation) in ("", relation_key(one.given.relation))
        ]
        return [
            Version(
                replace(_as_known(stored, one), citations=()),
                datetime.fromtimestamp(one.known_from, UTC),
                _until(one.known_until),
                "",
                "",
                one.change,
            )
            for one in sorted(found, key=lambda one: (-one.known_until, one.uuid))[:limit]
        ]

    def _facts(self, space: str, known: float | None) -> Iterator[Fact]:
        existing = self.graph.readable(space)
        if known is None:
            yield from (as_fact(existing, stored) for stored in existing.facts.values())
        else:
            yield from (_as_known(existing, one) for one in existing.versions.known(known).values())

    def _scoped(self, space: str, scope: Scope) -> Iterator[Fact]:
        for fact in self._facts(space, scope.known):
            if scope.relation and relation_key(fact.relation) != relation_key(scope.relation):
                continue
            ends = {End.SUBJECT: [fact.source], End.OBJECT: [fact.target]}
            ends[End.EITHER] = [fact.source, fact.target]
            ends_by_role = ((scope.subject, End.SUBJECT), (scope.object, End.OBJECT))
            if all(
                entity is None or any(entity.means(one) for one in ends[end])
                for entity, end in (*ends_by_role, (scope.either, End.EITHER))
            ):
                yield fact


def _named(stored: FakeSpace, entity: Selector) -> list[Entity]:
    found = [entity_of(stored, uuid) for uuid in stored.entities()]
    return [one for one in found if entity.means(one)]


def _formerly_named(facts: Sequence[Fact], entity: Selector) -> list[Entity]:
    """Returns entities that no longer exist, as named in earlier versions of facts."""
    ends = {end for fact in facts for end in (fact.source, fact.target) if entity.means(end)}
    return [Entity(*end) for end in sorted(ends)]


def _moment(fact: Fact) -> FactSummary:
    interval = (start_of(fact.valid_at), end_of(fact.invalid_at))
    return FactSummary(fact.uuid, fact.relation, *interval, start_of(fact.created_at), fact.event)


def _happened(stored: FakeSpace, fact: Fact, scope: Scope, only: FactFilter) -> bool:
    return not scope.lasting and is_past_event(stored, _stored(stored, fact, scope), only)


def _stored(stored: FakeSpace, fact: Fact, scope: Scope) -> StoredFact | FakeVersion:
    if scope.known is None:
        return stored.facts[fact.uuid]
    return stored.versions.known(scope.known)[fact.uuid]


def _place(fact: Fact) -> tuple[float, str]:
    return start_of(fact.valid_at), fact.uuid


def _statement(fact: Fact) -> tuple[object, ...]:
    attributes = tuple(sorted(fact.attributes.items()))
    return fact.source.uuid, relation_key(fact.relation), fact.target.uuid, attributes


def _as_known(existing: FakeSpace, one: FakeVersion) -> Fact:
    """Converts a version to a fact; entities that still exist have their current names."""
    existing_entities = existing.entities()
    stored = existing.facts.get(one.uuid)
    gone = (citation_of(existing, one.episode),) if one.episode in existing.passages else ()
    return Fact(
        uuid=one.uuid,
        fact=one.given.fact,
        relation=one.given.relation,
        source=existing.ref(one.source.uuid)
        if one.source.uuid in existing_entities
        else one.source,
        target=existing.ref(one.target.uuid)
        if one.target.uuid in existing_entities
        else one.target,
        origin=Origin.GIVEN,
        valid_at=one.given.valid_at,
        invalid_at=one.given.invalid_at,
        created_at=one.created_at,
        citations=as_fact(existing, stored).citations if stored else gone,
        attributes=one.given.attributes,
        event=relation_key(one.given.relation) in existing.events,
    )


def _until(known_until: float) -> datetime | None:
    return None if known_until >= OPEN else datetime.fromtimestamp(known_until, UTC)
