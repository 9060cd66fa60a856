"""A released migration is never edited: a change is a new migration."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.postgres.migrations import load_schema, released_checksums

SERVICES = Path(__file__).parents[3] / "services"
PACKAGES = [f"services.{folder.parts[-3]}" for folder in sorted(SERVICES.glob("*/sql/schema"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_migration_has_its_released_checksum(package: str) -> None:
    found = {migration.name: migration.checksum for migration in load_schema(package).migrations}
    assert found == released_checksums(package)
