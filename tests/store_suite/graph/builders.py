"""Builders of passages and facts, and dumps of the graph."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from services.graph_query.core.domain import (
    FIRST_ENTITY,
    Entity,
    EntityListing,
    EntityName,
    FactFilter,
    GivenFact,
    Passage,
)
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.store import GraphStore
from tests.oracles.graph.store import FakeGraphStore

DIMENSION = 384
ALWAYS = FactFilter(-OPEN, OPEN)


@dataclass(frozen=True)
class Dump:
    """A space's graph in canonical form."""

    mentions: set[Any]
    sentences: set[Any]
    entities: dict[Any, Any]
    facts: dict[Any, Any]


def new_space() -> str:
    """Returns the id of a space that no other test uses."""
    return f"test-{uuid.uuid4().hex[:12]}"


def passage(space: str, document: str, title: str, content: str, part: int = 0) -> Passage:
    """Builds a chunk of a document."""
    name = f"{space}/{document}/{part}"
    return Passage(str(uuid.uuid5(uuid.NAMESPACE_URL, name)), document, title, "notes", content)


def fact(
    subject: str | EntityName, relation: str, target: str | EntityName, **more: Any
) -> GivenFact:
    """Builds a given fact; subject and object may be plain names."""
    ends = [EntityName(end) if isinstance(end, str) else end for end in (subject, target)]
    result = more.pop("fact", f"{ends[0].name} {relation.lower()} {ends[1].name}")
    return GivenFact(ends[0], relation, ends[1], result, **more)


async def listed(
    store: GraphStore, space: str, kind: str = "", *, limit: int = 10
) -> Sequence[Entity]:
    """Lists the first entities of a space by name, of one type or of any."""
    return (await store.list_entities(space, EntityListing(kind), FIRST_ENTITY, limit)).entities


def day(text: str) -> datetime:
    """Returns the first instant of a day, UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def at(text: str) -> FactFilter:
    """Returns a filter for facts that are valid at the first instant of a day."""
    instant = day(text).timestamp()
    return FactFilter(instant, instant)


def unit(*values: float) -> tuple[float, ...]:
    """Returns a vector of length 1 whose first values are in the given proportion."""
    length = sum(value * value for value in values) ** 0.5
    return (*(value / length for value in values), *([0.0] * (DIMENSION - len(values))))


def fake_dump(store: FakeGraphStore, space: str) -> Dump:
    """Dumps a space in memory."""
    stored = store.spaces[space]
    rows = list(stored.rows.values())
    return Dump(
        mentions={tuple(row) for one in rows for row in one.mentions.values()},
        sentences={tuple(row) for one in rows for row in one.sentences.values()},
        entities={
            uuid: (key, kind, stored.names[uuid])
            for key, types in stored.types.items()
            for kind, uuid in types.items()
        },
        facts={f.uuid: (f.source, f.target, tuple(stored.cited(f))) for f in stored.facts.values()},
    )


async def expected(space: str, passages: Sequence[Passage], facts: Sequence[GivenFact]) -> Dump:
    """Returns the dump of a space to which everything is added at once, documents first."""
    store = FakeGraphStore()
    await store.add_episodes(space, sorted(passages, key=lambda one: one.uuid))
    if facts:
        await store.add_facts(space, facts, "")
    return fake_dump(store, space)
