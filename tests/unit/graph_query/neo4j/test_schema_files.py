"""The baseline: each statement may be run again, and each room's queries have names of their own."""

from __future__ import annotations

from services.graph_query.neo4j.queries import load_queries, load_schema

SCHEMA = load_schema()


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
