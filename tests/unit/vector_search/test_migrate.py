"""Migrations are applied in order, once, and never after they have changed."""

from __future__ import annotations

import pytest

from services.postgres.migrations import Migration, MigrationError, pending_migrations
from services.vector_search.migrate import load_migrations
from services.vector_search.postgres import load_queries

KNOWN = [
    Migration(1, "0001_pre_a.sql", "pre", "select 1"),
    Migration(2, "0002_post_b.sql", "post", "select 2"),
    Migration(3, "0003_pre_c.sql", "pre", "select 3"),
]


def test_the_packages_own_migrations_are_numbered_from_1() -> None:
    numbers = [migration.number for migration in load_migrations()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_what_is_applied_is_not_applied_again() -> None:
    applied = {1: KNOWN[0].checksum, 2: KNOWN[1].checksum}
    assert pending_migrations(KNOWN, applied, "post") == [KNOWN[2]]


def test_before_a_release_the_first_post_migration_stops_the_run() -> None:
    assert pending_migrations(KNOWN, {}, "pre") == [KNOWN[0]]


def test_a_changed_or_unknown_migration_is_an_error() -> None:
    with pytest.raises(MigrationError, match="changed"):
        pending_migrations(KNOWN, {1: "other"}, "post")
    with pytest.raises(MigrationError, match="does not know"):
        pending_migrations(KNOWN[:1], {9: "x"}, "post")


def test_every_query_is_described_and_none_is_built_from_strings() -> None:
    queries = load_queries()
    assert "search_chunks" in queries.names()
    assert all("%s" not in queries[name] for name in queries.names())
