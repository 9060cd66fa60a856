"""The vector tier's schema: its migrations, applied as the role that owns it."""

from __future__ import annotations

from services.postgres import migrations
from services.postgres.migrations import Migration, Stage

_PACKAGE = "services.vector_search"
_LOCK = 7_305_183_922_011


def load_migrations() -> list[Migration]:
    """The tier's migrations in order."""
    return migrations.load_migrations(_PACKAGE)


async def migrate(url: str, *, stage: Stage = "post") -> None:
    """Brings the tier's schema up to date. See `services.postgres.migrations`."""
    await migrations.migrate(url, load_migrations(), lock=_LOCK, stage=stage)
