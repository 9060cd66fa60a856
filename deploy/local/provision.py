"""Creation of the roles and databases of Braid's services; every step is idempotent."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[Any] | PoolConnectionProxy[Any]

SUPERUSER = "postgres"
_SQL = Path(__file__).with_name("sql")


@dataclass(frozen=True)
class Database:
    """A database, the role that owns its schema, the roles that use it, and their grants."""

    name: str
    owner: str
    users: tuple[str, ...]
    grants: str

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles that may connect."""
        return (self.owner, *self.users)


VECTOR = Database(
    "braid_vector", "braid_migrator", ("braid_writer", "braid_reader"), "vector_grants"
)
AGENT = Database("braid_agent", "braid_agent_migrator", ("braid_agent",), "agent_grants")
DATABASES = (VECTOR, AGENT)
ROLES = tuple(role for database in DATABASES for role in database.roles)


def statement(name: str) -> str:
    """Return the text of a named query."""
    return (_SQL / f"{name}.sql").read_text()


async def write_and_run(connection: "Connection", query: str, *arguments: str) -> None:
    """Run the statement that a named query generates from its arguments, if any.

    Names of roles and databases cannot be parameters; the server quotes them instead.
    """
    written = await connection.fetchval(statement(query), *arguments)
    if written is not None:
        await connection.execute(written)


async def open_to_roles(connection: "Connection", database: Database, name: str) -> None:
    """Let exactly a database's roles connect to it, or to the copy of it called `name`."""
    await write_and_run(connection, "close_database", name)
    for role in database.roles:
        await write_and_run(connection, "open_database", name, role)


async def provision(admin_dsn: str, passwords: Mapping[str, str]) -> None:
    """Create roles and databases as superuser; `passwords` are by role."""
    admin = await asyncpg.connect(admin_dsn)
    try:
        for role in ROLES:
            await write_and_run(admin, "create_role", role, passwords[role])
        for database in DATABASES:
            await write_and_run(admin, "create_database", database.name, database.owner)
            await open_to_roles(admin, database, database.name)
    finally:
        await admin.close()
    for database in DATABASES:
        await _grant(admin_dsn, database)


async def _grant(admin_dsn: str, database: Database) -> None:
    connection = await asyncpg.connect(admin_dsn, database=database.name)
    try:
        await connection.execute(statement(database.grants))
    finally:
        await connection.close()
