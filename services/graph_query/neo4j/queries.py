"""The named queries of all rooms: each room has its own, in a folder `cypher` next to the code that runs them."""

from __future__ import annotations

from importlib.resources import files

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


def load_schema() -> Queries:
    """The statements that make constraints and indexes, in the order of their names."""
    return Queries.load(f"{_PACKAGE}.neo4j", "cypher_schema", _SUFFIX)
