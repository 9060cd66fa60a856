"""Query parameters shared by routes of the graph, and their names in the contract's errors."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias

from fastapi import Query

from braid.graph.v1 import history_pb2
from braid.graph.v1.entities_pb2 import EntitySelector
from gateway.rest.mapping.contract_rules import Bounds
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import Instant, PageSize
from gateway.rest.mapping.times import RANGE, InstantOrRange
from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.rest.mapping.field_names import Named


_SELECTED = re.compile(r"\b(entity|subject|object|source|target)\.(name|type|id)\b")
_SUFFIX = {"name": "", "type": "_type", "id": "_uuid"}
_NAMES = {
    "relation_type": "relation",
    "known_time": "known_at",
    "since_time": "since",
    "reference_time": "as_of",
    "fact_id": "uuid",
}

Relation: TypeAlias = Annotated[
    str,
    Bounds(history_pb2.GetSnapshotRequest, "relation_type"),
    Query(description="Only facts of this relation, any case.", examples=["OWNS"]),
]
KnownAt: TypeAlias = Annotated[
    Instant | None,
    Query(
        description="As it was known at this instant: what Braid learned later is left out, and what it "
        "corrected since is as it was. Default: as it is known now.",
        examples=["2024-06-01"],
    ),
]
Cursor: TypeAlias = Annotated[
    str,
    Bounds(history_pb2.GetSnapshotRequest, "page_token"),
    Query(description="`next_cursor` of the page before, with the same other parameters."),
]
PageLimit: TypeAlias = Annotated[
    PageSize,
    Bounds(history_pb2.GetSnapshotRequest, "page_size"),
    Query(description="How many facts, up to 200; more counts as 200. Default, and 0: 50."),
]
AsOf: TypeAlias = Annotated[
    InstantOrRange | None,
    Query(
        description=f"The time that the answer is about. {RANGE} Default: now.",
        examples=["2024-04-18", "2024-01-01/2025-01-01"],
    ),
]
EntityName: TypeAlias = Annotated[
    str | None,
    Bounds(EntitySelector, "name"),
    Query(
        description="Only facts with this entity at either end: its name, any case.",
        examples=["Ledger Service"],
    ),
]
EntityType: TypeAlias = Annotated[
    str | None,
    Bounds(EntitySelector, "type"),
    Query(description="The entity's type, where several share the name.", examples=["Service"]),
]
EntityUuid: TypeAlias = Annotated[
    str | None,
    Query(
        description="The entity's uuid, instead of its name.", json_schema_extra={"format": "uuid"}
    ),
]


def entity_selector(
    place: str, name: str | None, kind: str | None, uuid: str | None
) -> EntitySelector | None:
    """Returns the entity selected by the parameters `place`, `place_type` and `place_uuid`; None if none is given.

    Raises InvalidFieldError for a uuid together with a name or a type, and for a type without a name.
    """
    if uuid is not None:
        if name is not None or kind is not None:
            description = f"goes without {place} and {place}_type"
            raise InvalidFieldError(FieldError(f"{place}_uuid", description))
        return EntitySelector(id=uuid)
    if name is not None:
        return EntitySelector(name=name, type=kind or "")
    if kind is not None:
        raise InvalidFieldError(FieldError(f"{place}_type", f"goes with {place} only"))
    return None


def required_entity(
    place: str, name: str | None, kind: str | None, uuid: str | None
) -> EntitySelector:
    """Returns the selected entity. Raises InvalidFieldError if neither a name nor a uuid is given."""
    selected = entity_selector(place, name, kind, uuid)
    if selected is None:
        raise InvalidFieldError(FieldError(place, f"{place} or {place}_uuid is required"))
    return selected


def graph_name(names: Mapping[str, str] | None = None) -> Named:
    """Returns the REST name of a contract's field in the graph's routes; `names` are specific to a route."""
    return partial(_graph_name, _NAMES | dict(names or {}))


def _graph_name(names: Mapping[str, str], path: str) -> str:
    return rest_name(_SELECTED.sub(lambda found: found[1] + _SUFFIX[found[2]], path), names)
