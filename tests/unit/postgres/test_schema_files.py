"""A migration that is in use somewhere is never edited: what changes is a new migration."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.postgres.migrations import load_schema, released_checksums

SERVICES = Path(__file__).parents[3] / "services"
PACKAGES = [f"services.{folder.parts[-3]}" for folder in sorted(SERVICES.glob("*/sql/schema"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_migrations_are_listed_with_the_checksum_that_they_landed_with(package: str) -> None:
    found = {migration.name: migration.checksum for migration in load_schema(package).migrations}
    assert found == released_checksums(package)
