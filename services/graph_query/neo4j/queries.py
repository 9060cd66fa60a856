"""The named queries of all features, and the schema. Each feature keeps its queries in its own folder `cypher`."""

from __future__ import annotations

from importlib.resources import files

from services.graph_query.neo4j.schema import Schema
from services.runtime.queries import Queries

_PACKAGE = "services.graph_query"
_FOLDER = "cypher"
_SUFFIX = ".cypher"


def load_queries() -> Queries:
    """Loads all named queries. Raises ValueError if two features have one of the same name."""
    texts: dict[str, str] = {}
    for room in sorted(entry.name for entry in files(_PACKAGE).iterdir() if entry.is_dir()):
        if not (files(_PACKAGE) / room / _FOLDER).is_dir():
            continue
        own = Queries.load(f"{_PACKAGE}.{room}", _FOLDER, _SUFFIX)
        for name in own.names():
            if name in texts:
                raise ValueError(f"two features have a query named {name}")
            texts[name] = own[name]
    return Queries(texts)


def load_schema() -> Schema:
    """Loads the baseline of constraints and indexes."""
    text = (files(f"{_PACKAGE}.neo4j") / "baseline.cypher").read_text()
    return Schema(tuple(part.strip() for part in text.split(";\n") if part.strip()))
