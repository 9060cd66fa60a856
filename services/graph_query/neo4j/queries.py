"""The named queries of all features, and the schema. Each feature keeps its queries in its own folder `cypher`."""

from __future__ import annotations

from importlib.resources import files

from services.graph_query.neo4j.schema import Schema
from services.runtime.queries import Queries

_PACKAGE = "services.graph_query"
_FOLDER = "cypher"


def load_queries() -> Queries:
    """Loads all named queries. See `Queries.load`."""
    rooms = (room.name for room in files(_PACKAGE).iterdir() if (room / _FOLDER).is_dir())
    return Queries.load(_FOLDER, *(f"{_PACKAGE}.{room}" for room in sorted(rooms)))


def load_schema() -> Schema:
    """Loads the baseline of constraints and indexes."""
    text = (files(f"{_PACKAGE}.neo4j") / "baseline.cypher").read_text()
    return Schema(tuple(part.strip() for part in text.split(";\n") if part.strip()))
