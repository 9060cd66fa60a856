"""Histories in Neo4j: current facts are edges, former states of facts are version nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from services.graph_query.core.domain import Entity, Fact, FactFilter
from services.graph_query.core.fact_changes import ChangeKind, FactChange, Provenance
from services.graph_query.core.identity import entity_uuid
from services.graph_query.core.intervals import OPEN, start_of
from services.graph_query.core.names import relation_key
from services.graph_query.history.domain import (
    CURRENT,
    NO_PAGE,
    Difference,
    End,
    EntityHistory,
    FactSummary,
    Page,
    Place,
    Position,
    Scope,
    Selector,
    Times,
    Version,
)
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.row_mapping import entity_ref, entity_type, instant, stated_fact
from services.runtime.errors import NotFoundError

_CITATIONS = 5


_BEGINNING = Position(-2 * OPEN, "")


_FIRST = Place(-2 * OPEN, -2 * OPEN, "")


class Neo4jHistory:
    """Implements `HistoryStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_facts(
        self, space: str, scope: Scope, only: FactFilter, after: Position | None, limit: int
    ) -> list[Fact]:
        """Lists a page of facts in one round trip."""
        position = after or _BEGINNING
        rows = await self._database.read(
            _listing(scope),
            **_scoped(space, scope),
            since=only.since,
            until=only.until,
            after_from=position.valid_from,
            after_uuid=position.uuid,
            limit=limit,
            citations=_CITATIONS,
        )
        return sorted(_facts(rows), key=lambda fact: (start_of(fact.valid_at), fact.uuid))

    async def life(
        self,
        space: str,
        entity: Selector,
        relation: str,
        known: float | None,
        page: Page = NO_PAGE,
    ) -> EntityHistory:
        """Returns the selected entities and, for a single one, its facts; for the current state in one round trip."""
        parameters = {"space": space, "relation": relation_key(relation), **_paged(page)}
        if known is not None:
            parameters |= {"limit": 0, "whole": False}
        row = (await self._database.read("entity_history", anchor=_anchor(entity), **parameters))[0]
        named = [_entity(*columns) for columns in row["entities"]]
        if len(named) > 1:
            return EntityHistory(
                None, tuple(entity_ref(one.uuid, one.name, [one.type]) for one in named)
            )
        first_seen = _seconds(row["first_seen"])
        if known is None and named:
            facts = {fact.uuid: fact for fact in _facts([row])}
            shown, latest = (
                tuple(facts[uuid] for uuid in row[part]) for part in ("page", "latest")
            )
            return EntityHistory(named[0], (), first_seen, _moments(row["moments"]), shown, latest)
        if known is None:
            raise NotFoundError("entity")
        life = await self._known_life(
            space, entity, named, relation_key(relation), known=known, page=page
        )
        return replace(life, first_seen=first_seen) if named else life

    async def facts_known(
        self, space: str, uuids: Sequence[str], known: float | None
    ) -> dict[str, Fact]:
        """Returns facts in full, now or as they were known."""
        if not uuids:
            return {}
        name = "facts_attributed" if known is None else "versions_known"
        parameters = {"uuids": list(uuids), "known": known, "citations": _CITATIONS}
        rows = await self._database.read(name, space=space, **parameters)
        return {fact.uuid: fact for fact in _facts(rows)}

    async def differences(
        self, space: str, scope: Scope, times: Times, limit: int
    ) -> list[Difference]:
        """Returns facts that are valid at only one of two times."""
        name = "differences_of_" + ("entity" if scope.anchor else "space")
        rows = await self._database.read(
            name if scope.known is None else f"known_{name}",
            **_scoped(space, scope),
            before=_span(times.before),
            after=_span(times.after),
            begun=max(times.before.until, times.after.until),
            over=min(times.before.since, times.after.since),
            limit=limit,
        )
        return [Difference(*columns) for columns in rows[0]["found"]]

    async def versions(self, space: str, uuid: str, limit: int) -> list[Version]:
        """Returns the last versions of a fact, oldest first."""
        parameters = {"uuid": uuid, "limit": limit, "open": OPEN}
        rows = await self._database.read("versions_of_fact", space=space, **parameters)
        return [_version(*columns) for columns in rows[0]["versions"]]

    async def withdrawn(
        self, space: str, entity: Selector, relation: str, known: float | None, limit: int
    ) -> list[Version]:
        """Returns the last states of an entity's withdrawn facts, latest first."""
        rows = await self._database.read(
            "withdrawn_facts",
            space=space,
            anchor=_anchor(entity, space),
            relation=relation_key(relation),
            known=OPEN if known is None else known,
            limit=limit,
        )
        return [_version(*columns) for columns in rows[0]["versions"]]

    async def _known_life(
        self,
        space: str,
        entity: Selector,
        named: Sequence[Entity],
        relation: str,
        *,
        known: float,
        page: Page,
    ) -> EntityHistory:
        """Returns a history as it was known at an instant; a deleted entity is shown as it was then."""
        anchor = _anchor(entity, space)
        anchor["uuids"] = [one.uuid for one in named] or anchor["uuids"]
        parameters = {"anchor": anchor, "relation": relation, "known": known, **_paged(page)}
        rows = await self._database.read("entity_history_as_known", space=space, **parameters)
        found = named or [Entity(row["uuid"], *row["known_as"]) for row in rows if row["known_as"]]
        if not found:
            raise NotFoundError("entity")
        if len(found) > 1:
            return EntityHistory(
                None, tuple(entity_ref(one.uuid, one.name, [one.type]) for one in found)
            )
        moments = _moments([moment for row in rows for moment in row["moments"]])
        return await self._history_of(space, found[0], moments, known, page)

    async def _history_of(
        self, space: str, entity: Entity, moments: tuple[FactSummary, ...], known: float, page: Page
    ) -> EntityHistory:
        """Returns a history with the facts of one page."""
        first = page.after is None
        shown = [one.uuid for one in page.following(moments)]
        latest = [one.uuid for one in page.latest(moments)] if first else []
        facts = await self.facts_known(space, list(dict.fromkeys((*shown, *latest))), known)
        return EntityHistory(
            entity,
            moments=moments if first else (),
            page=tuple(facts[uuid] for uuid in shown if uuid in facts),
            current=tuple(facts[uuid] for uuid in latest if uuid in facts),
        )


def _listing(scope: Scope) -> str:
    if scope.known is not None:
        return "versions_of_entity" if scope.anchor else "versions_of_space"
    if scope.object is None and scope.subject is not None and scope.subject.name_key:
        return "facts_of_subject"
    if scope.anchor:
        return "facts_of_entity"
    return "facts_of_relation" if scope.relation else "facts_of_space"


def _scoped(space: str, scope: Scope) -> dict[str, Any]:
    """Returns the parameters of every query about a scope."""
    entity, end = scope.anchor or (None, End.EITHER)
    past = space if scope.known is not None else ""
    other = scope.object if end is End.SUBJECT else None
    return {
        "space": space,
        "anchor": _anchor(entity, past),
        "outgoing": end is not End.OBJECT,
        "incoming": end is not End.SUBJECT,
        "other": _anchor(other, past),
        "with_other": other is not None,
        "relation": relation_key(scope.relation),
        "known": scope.known,
        "lasting": scope.lasting,
        "open": OPEN,
    }


def _anchor(entity: Selector | None, past: str = "") -> dict[str, Any]:
    """Returns where a query starts. For past states, a name also selects the entities that it had then."""
    if entity is None:
        return {"key": "", "type": "", "uuids": []}
    uuids = [entity.uuid] if entity.uuid else []
    if past and entity.name_key:
        types = ["", entity.type] if entity.type else [""]
        uuids = [entity_uuid(past, entity.name_key, kind) for kind in types]
    return {"key": entity.name_key, "type": entity.type, "uuids": uuids}


def _span(only: FactFilter) -> Mapping[str, float]:
    return {"since": only.since, "until": only.until}


def _paged(page: Page) -> dict[str, Any]:
    """Returns the parameters of a history's page."""
    after = page.after or _FIRST
    return {
        "whole": page.after is None,
        "limit": page.limit,
        "since": page.since,
        "reference": page.reference,
        "current": CURRENT,
        "open": OPEN,
        "after_from": after.valid_from,
        "after_until": after.valid_until,
        "after_uuid": after.uuid,
        "citations": _CITATIONS,
    }


def _facts(rows: Sequence[Mapping[str, Any]]) -> list[Fact]:
    return [stated_fact(*columns) for columns in rows[0]["facts"]]


def _entity(uuid: str, name: str, labels: Sequence[str], summary: str, mentions: int) -> Entity:
    return Entity(uuid, name, entity_type(labels), summary, mentions)


def _moments(rows: Sequence[Sequence[Any]]) -> tuple[FactSummary, ...]:
    unique = {row[0]: FactSummary(*row) for row in rows}
    return tuple(unique.values())


def _version(
    known_from: float, known_until: float, causes: Sequence[Any], columns: Sequence[Any]
) -> Version:
    episode, corrects, change = causes
    until = None if known_until >= OPEN else datetime.fromtimestamp(known_until, UTC)
    return Version(
        stated_fact(*columns),
        datetime.fromtimestamp(known_from, UTC),
        until,
        episode,
        corrects,
        None if change is None else _change(*change),
    )


def _change(kind: str, user: str, reason: str, episode: str, replacement: str) -> FactChange:
    return FactChange(ChangeKind(kind), Provenance(user, reason, episode), replacement)


def _seconds(value: Any) -> float | None:
    found = instant(value)
    return None if found is None else found.timestamp()
