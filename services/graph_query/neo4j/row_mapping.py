"""Maps Neo4j's rows to domain types, and filters to parameters. Base labels and embeddings are not passed on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import neo4j.time
from neo4j.vector import Vector

from services.graph_query.core.domain import Citation, Entity, EntityRef, Fact, FactFilter, Origin
from services.graph_query.core.identity import co_occurrence_uuid
from services.graph_query.core.intervals import OPEN, moment_of
from services.graph_query.core.names import relation_key


def filter_parameters(space: str, only: FactFilter) -> dict[str, Any]:
    """Returns the parameters of every query that filters facts."""
    return {
        "space": space,
        "since": only.since,
        "until": only.until,
        "entity_key": only.entity_key,
        "relation": relation_key(only.relation),
        "open": OPEN,
        "citations": CITATIONS,
    }


def packed(vector: Sequence[float]) -> Vector:
    """Converts a query's vector to the protocol's vector type: a list of numbers takes milliseconds to read."""
    return Vector.from_native([float(value) for value in vector], "f32")


CITATIONS = 5


CO_OCCURS = "CO_OCCURS"


_BASE_LABEL = "Entity"


def entity_type(labels: Sequence[str]) -> str:
    """Returns the type among a node's labels, "" without one."""
    return next((label for label in sorted(labels) if label != _BASE_LABEL), "")


def entity(row: dict[str, Any]) -> Entity:
    """Maps a row with uuid, name, labels, summary, mentions and, where present, attributes as pairs."""
    return Entity(
        row["uuid"],
        row["name"],
        entity_type(row["labels"]),
        row["summary"],
        row["mentions"],
        dict(row.get("attributes", ())),
        row.get("key", ""),
        row.get("document_title"),
    )


def entity_ref(uuid: str, name: str, labels: Sequence[str]) -> EntityRef:
    """Maps an endpoint of a fact."""
    return EntityRef(uuid, name, entity_type(labels))


def stated_fact(
    columns: Sequence[Any], cited: Sequence[Sequence[Any]], attributes: Sequence[Any] = ()
) -> Fact:
    """Maps a stated fact from the columns that all searches return; attributes are pairs of name and value.

    The last column is whether its relation is an event.
    """
    return Fact(
        uuid=columns[0],
        fact=columns[1],
        relation=columns[2],
        source=entity_ref(*columns[3:6]),
        target=entity_ref(*columns[6:9]),
        valid_at=instant(columns[9]),
        invalid_at=instant(columns[10]),
        created_at=instant(columns[11]),
        origin=Origin(columns[12]),
        citations=citations(cited),
        attributes=dict(sorted(attributes)),
        event=columns[13],
    )


def local_fact(
    sentence: str,
    text: str,
    ends: tuple[EntityRef, EntityRef],
    place: Sequence[Sequence[Any]],
    period: Sequence[float | None],
) -> Fact:
    """Maps a co-occurrence: its statement is the sentence in which it was found, valid for a period."""
    return Fact(
        uuid=co_occurrence_uuid(sentence, ends[0].uuid, ends[1].uuid),
        fact=text,
        relation=CO_OCCURS,
        source=ends[0],
        target=ends[1],
        origin=Origin.LOCAL,
        valid_at=moment_of(period[0]),
        invalid_at=moment_of(period[1]),
        citations=citations(place, quote=text),
    )


def neighbor_fact(columns: Sequence[Any]) -> Fact:
    """Maps a stated fact or a co-occurrence from a neighborhood's columns."""
    if columns[12] != Origin.LOCAL.value:
        return stated_fact(columns[:14], columns[15], *columns[16:])
    ends = entity_ref(*columns[3:6]), entity_ref(*columns[6:9])
    return local_fact(columns[14], columns[1], ends, columns[15], columns[9:11])


def citations(cited: Sequence[Sequence[Any]] | None, quote: str = "") -> tuple[Citation, ...]:
    """Maps citations from rows of (chunk, document, title, source)."""
    return tuple(
        Citation(chunk, document or "", title or "", source or "", quote)
        for chunk, document, title, source in cited or ()
    )


def instant(value: neo4j.time.DateTime | None) -> datetime | None:
    """Converts a stored time to an aware UTC datetime."""
    return None if value is None else value.to_native().astimezone(UTC)
