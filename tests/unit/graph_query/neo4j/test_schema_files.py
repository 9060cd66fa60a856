"""The baseline: each statement may be run again, and each room's queries have names of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from services import graph_query
from services.graph_query.neo4j.queries import load_queries, load_schema

SCHEMA = load_schema()
QUERIES = load_queries()
# Calls with the name of a query, on one line or with the name on the next.
_NAMED = re.compile(r"\.(?:read|write|rows|stream)\(\s*\"([a-z_]+)\"")
# What is kept under ids that callers choose.
_CALLERS_OWN = re.compile(r":(?:Episodic|BraidPassage|BraidSource)(?: \{|\()([^})]*)")


def test_each_statement_makes_one_thing_where_it_is_missing() -> None:
    assert SCHEMA.statements
    assert all(text.count(" IF NOT EXISTS ") == 1 for text in SCHEMA.statements)
    assert len(SCHEMA.indexes) == len(SCHEMA.statements)


def test_the_version_has_its_constraint_before_anything_else_is_made() -> None:
    assert "braid_schema IF NOT EXISTS" in SCHEMA.statements[0]


def test_all_rooms_queries_are_loaded() -> None:
    assert {"index_states", "create_facts", "search_facts", "entity_history"} <= set(
        load_queries().names()
    )


def test_every_query_that_the_code_names_has_a_file() -> None:
    """A name is a string: no type checker sees that its file was renamed."""
    named = {
        (str(path), name)
        for path in Path(graph_query.__path__[0]).rglob("*.py")
        for name in _NAMED.findall(path.read_text())
    }
    assert len(named) > 50
    assert {one for one in named if one[1] not in QUERIES.names()} == set()


@pytest.mark.parametrize("name", QUERIES.names())
def test_no_query_finds_what_callers_name_without_its_space(name: str) -> None:
    """An id says nothing by itself: another space may have chosen the same."""
    for properties in _CALLERS_OWN.findall(QUERIES[name]):
        assert properties == "" or "group_id" in properties


@pytest.mark.parametrize("label", ["Episodic", "BraidPassage", "BraidSource"])
def test_an_id_that_callers_choose_is_unique_within_its_space_alone(label: str) -> None:
    (one,) = [text for text in SCHEMA.statements if f":{label})" in text and "UNIQUE" in text]
    assert re.search(r"REQUIRE \((\w)\.group_id, \1\.uuid\) IS UNIQUE", one)
