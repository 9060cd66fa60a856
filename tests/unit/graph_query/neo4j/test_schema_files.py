"""Schema statements can be run again, named queries exist, and queries by ids filter by space."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from services import graph_query
from services.graph_query.neo4j.queries import load_queries, load_schema

SCHEMA = load_schema()
QUERIES = load_queries()
# Calls with the name of a query on the same line or the next.
_NAMED = re.compile(r"\.(?:read|write|rows|stream)\(\s*\"([a-z_]+)\"")
# Nodes whose ids are chosen by callers.
_CALLER_CHOSEN_IDS = re.compile(r":(?:Episodic|BraidPassage|BraidSource)(?: \{|\()([^})]*)")


def test_each_schema_statement_is_idempotent() -> None:
    assert SCHEMA.statements
    assert all(text.count(" IF NOT EXISTS ") == 1 for text in SCHEMA.statements)
    assert len(SCHEMA.indexes) == len(SCHEMA.statements)


def test_the_first_statement_creates_the_constraint_of_the_schema_version() -> None:
    assert "braid_schema IF NOT EXISTS" in SCHEMA.statements[0]


def test_the_queries_of_all_packages_are_loaded() -> None:
    assert {"index_states", "create_facts", "search_facts", "entity_history"} <= set(
        load_queries().names()
    )


def test_every_query_that_the_code_names_has_a_file() -> None:
    """The name is a string, so a type checker does not notice a renamed file."""
    named = {
        (str(path), name)
        for path in Path(graph_query.__path__[0]).rglob("*.py")
        for name in _NAMED.findall(path.read_text())
    }
    assert len(named) > 50
    assert {one for one in named if one[1] not in QUERIES.names()} == set()


@pytest.mark.parametrize("name", QUERIES.names())
def test_every_query_by_a_caller_chosen_id_filters_by_space(name: str) -> None:
    """Two spaces may use the same id."""
    for properties in _CALLER_CHOSEN_IDS.findall(QUERIES[name]):
        assert properties == "" or "group_id" in properties


@pytest.mark.parametrize("label", ["Episodic", "BraidPassage", "BraidSource"])
def test_a_caller_chosen_id_is_unique_within_its_space(label: str) -> None:
    (one,) = [text for text in SCHEMA.statements if f":{label})" in text and "UNIQUE" in text]
    assert re.search(r"REQUIRE \((\w)\.group_id, \1\.uuid\) IS UNIQUE", one)
