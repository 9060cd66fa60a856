"""Applies the orchestrator's own schema, as the role that owns it."""

from __future__ import annotations

from services.postgres import migrations
from services.postgres.migrations import Schema, Stage, last_migration
from services.postgres.pool import Pool
from services.runtime.errors import BraidError, StoreUnavailableError

_PACKAGE = "services.agent_orchestrator"
_LOCK = 7_305_183_922_012


def load_schema() -> Schema:
    """Loads the service's migrations and functions."""
    return migrations.load_schema(_PACKAGE)


class SchemaProbe:
    """A health probe: fails while the database answers without the schema that this release needs.

    Once it has found the schema, it no longer asks. A database that does not answer is no failure, because searches
    do not need it.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        needed = migrations.pending_migrations(load_schema().migrations, {}, "pre")
        self._needed = needed[-1].number
        self._found = False

    async def check(self) -> None:
        """Raises StoreUnavailableError without the schema."""
        if self._found:
            return
        try:
            async with self._pool.session() as session:
                last = await last_migration(session)
        except (BraidError, TimeoutError):
            return
        if last < self._needed:
            raise StoreUnavailableError("postgresql", message="The database has no schema yet.")
        self._found = True


async def migrate(url: str, *, stage: Stage = "post") -> None:
    """Brings the schema up to date. See `services.postgres.migrations`."""
    await migrations.migrate(url, load_schema(), lock=_LOCK, stage=stage)
