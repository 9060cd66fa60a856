"""The tier's schema and queries are complete."""

from __future__ import annotations

from services.vector_search.database import load_queries, load_schema


def test_migrations_are_numbered_consecutively_from_1() -> None:
    numbers = [migration.number for migration in load_schema().migrations]
    assert numbers == list(range(1, len(numbers) + 1))


def test_all_queries_can_be_loaded_and_none_is_built_by_string_formatting() -> None:
    queries = load_queries()
    assert "search_chunks" in queries.names()
    assert all("%s" not in queries[name] for name in queries.names())
