"""The orchestrator's own schema: its migrations, applied as the role that owns it."""

from __future__ import annotations

from services.postgres import migrations
from services.postgres.migrations import Migration, Stage

_PACKAGE = "services.agent_orchestrator"
_LOCK = 7_305_183_922_012


def load_migrations() -> list[Migration]:
    """The orchestrator's migrations in order."""
    return migrations.load_migrations(_PACKAGE)


async def migrate(url: str, *, stage: Stage = "post") -> None:
    """Brings the schema up to date. See `services.postgres.migrations`."""
    await migrations.migrate(url, load_migrations(), lock=_LOCK, stage=stage)
