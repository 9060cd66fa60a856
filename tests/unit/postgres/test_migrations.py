"""Migrations are applied in order and once, and a changed migration is rejected."""

from __future__ import annotations

import pytest

from services.postgres.migrations import (
    Applied,
    Migration,
    MigrationError,
    check_versions,
    pending_migrations,
)

KNOWN = [
    Migration("0001_baseline.sql", "select 1", 1, "pre"),
    Migration("0002_post_b.sql", "select 2", 2, "post"),
    Migration("0003_c.sql", "select 3", 3, "pre"),
]


def applied(migration: Migration) -> Applied:
    return Applied(migration.name, migration.checksum)


def test_an_applied_migration_is_not_applied_again() -> None:
    before = {1: applied(KNOWN[0]), 2: applied(KNOWN[1])}
    assert pending_migrations(KNOWN, before, "post") == [KNOWN[2]]


def test_a_pre_release_run_stops_at_the_first_post_migration() -> None:
    assert pending_migrations(KNOWN, {}, "pre") == [KNOWN[0]]


def test_a_changed_migration_is_rejected() -> None:
    with pytest.raises(MigrationError, match=r"0001_baseline\.sql has changed"):
        pending_migrations(KNOWN, {1: Applied("0001_baseline.sql", "other")}, "post")


def test_an_unknown_applied_migration_is_rejected() -> None:
    with pytest.raises(MigrationError, match="does not know"):
        pending_migrations(KNOWN[:1], {9: Applied("0009_x.sql", "x")}, "post")


def test_a_database_older_than_the_baseline_is_rejected_with_instructions() -> None:
    before = {1: Applied("0001_pre_schema.sql", "x"), 26: Applied("0026_pre_one_scale.sql", "x")}
    with pytest.raises(MigrationError, match="delete its data folder"):
        pending_migrations(KNOWN, before, "post")


@pytest.mark.parametrize(
    ("postgresql", "pgvector", "said"),
    [
        (15, None, "PostgreSQL 15 is too old: Braid needs version 17 or later"),
        (18, "0.7.4", r"pgvector 0\.7\.4 is too old: Braid needs version 0\.8 or later"),
    ],
)
def test_a_database_that_is_too_old_is_refused_in_one_sentence(
    postgresql: int, pgvector: str | None, said: str
) -> None:
    with pytest.raises(MigrationError, match=said):
        check_versions(postgresql, pgvector)


@pytest.mark.parametrize("pgvector", [None, "0.8.0", "0.8.1", "0.10", "1.0"])
def test_a_current_database_is_accepted(pgvector: str | None) -> None:
    check_versions(17, pgvector)
