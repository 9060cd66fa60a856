"""The named queries of all rooms, and the schema. A room keeps its queries in a folder `cypher` of its own."""

from __future__ import annotations

from importlib.resources import files

from services.graph_query.neo4j.schema import Schema
from services.runtime.queries import Queries

_PACKAGE = "services.graph_query"
_FOLDER = "cypher"
_SUFFIX = ".cypher"


def load_queries() -> Queries:
    """All named queries. ValueError when two rooms have one of the same name."""
    texts: dict[str, str] = {}
    for room in sorted(entry.name for entry in files(_PACKAGE).iterdir() if entry.is_dir()):
        if not (files(_PACKAGE) / room / _FOLDER).is_dir():
            continue
        own = Queries.load(f"{_PACKAGE}.{room}", _FOLDER, _SUFFIX)
        for name in own.names():
            if name in texts:
                raise ValueError(f"two rooms have a query named {name}")
            texts[name] = own[name]
    return Queries(texts)


def load_schema() -> Schema:
    """The baseline of constraints and indexes."""
    text = (files(f"{_PACKAGE}.neo4j") / "baseline.cypher").read_text()
    return Schema(tuple(part.strip() for part in text.split(";\n") if part.strip()))
