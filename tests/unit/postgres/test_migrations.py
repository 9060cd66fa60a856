"""Migrations are applied in order, once, and never after they have changed."""

from __future__ import annotations

import pytest

from services.postgres.migrations import (
    Applied,
    Migration,
    MigrationError,
    pending_migrations,
)

KNOWN = [
    Migration("0001_baseline.sql", "select 1", 1, "pre"),
    Migration("0002_post_b.sql", "select 2", 2, "post"),
    Migration("0003_c.sql", "select 3", 3, "pre"),
]


def applied(migration: Migration) -> Applied:
    return Applied(migration.name, migration.checksum)


def test_what_is_applied_is_not_applied_again() -> None:
    before = {1: applied(KNOWN[0]), 2: applied(KNOWN[1])}
    assert pending_migrations(KNOWN, before, "post") == [KNOWN[2]]


def test_before_a_release_the_first_post_migration_stops_the_run() -> None:
    assert pending_migrations(KNOWN, {}, "pre") == [KNOWN[0]]


def test_a_changed_migration_is_refused() -> None:
    with pytest.raises(MigrationError, match=r"0001_baseline\.sql has changed"):
        pending_migrations(KNOWN, {1: Applied("0001_baseline.sql", "other")}, "post")


def test_a_migration_of_a_newer_program_is_refused() -> None:
    with pytest.raises(MigrationError, match="does not know"):
        pending_migrations(KNOWN[:1], {9: Applied("0009_x.sql", "x")}, "post")


def test_a_database_from_before_the_baseline_is_refused_with_what_to_do() -> None:
    before = {1: Applied("0001_pre_schema.sql", "x"), 26: Applied("0026_pre_one_scale.sql", "x")}
    with pytest.raises(MigrationError, match="delete its data folder"):
        pending_migrations(KNOWN, before, "post")
