"""Applies the orchestrator's own schema, as the role that owns it."""

from __future__ import annotations

from services.postgres import migrations
from services.postgres.migrations import Schema, Stage

_PACKAGE = "services.agent_orchestrator"
_LOCK = 7_305_183_922_012


def load_schema() -> Schema:
    """Loads the service's migrations and functions."""
    return migrations.load_schema(_PACKAGE)


async def migrate(url: str, *, stage: Stage = "post") -> None:
    """Brings the schema up to date. See `services.postgres.migrations`."""
    await migrations.migrate(url, load_schema(), lock=_LOCK, stage=stage)
