"""Entities in paths and query strings, each given by its name (and type) or by its uuid."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from braid.graph.v1.entities_pb2 import EntitySelector
from gateway.rest.mapping.field_names import rest_name
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
    "fact_id": "uuid",
}


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


def entity_in_path(name: str, by: str, kind: str) -> EntitySelector:
    """Returns the entity of a path: by its name and type, or by its uuid."""
    selected = EntitySelector(id=name) if by == "uuid" else EntitySelector(name=name)
    selected.type = kind
    return selected


def graph_name(names: Mapping[str, str] | None = None) -> Named:
    """Returns the REST name of a contract's field as the graph's tools know it; `names` are specific to a route."""
    return partial(_graph_name, _NAMES | dict(names or {}))


def _graph_name(names: Mapping[str, str], path: str) -> str:
    return rest_name(_SELECTED.sub(lambda found: found[1] + _SUFFIX[found[2]], path), names)
