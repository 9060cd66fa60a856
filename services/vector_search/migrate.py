"""Migrations: numbered SQL files, each in a transaction, recorded with a checksum, one runner at a time."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

import asyncpg

_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
_LOCK = 7_305_183_922_011
_RECORD = """
create table if not exists schema_migration (
  number integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
)"""


class MigrationError(Exception):
    """The files and the database do not fit each other."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load_migrations() -> list[Migration]:
    """The package's migrations in order. MigrationError unless they are numbered 1, 2, 3 …"""
    found = []
    for file in (files("services.vector_search") / "sql" / "migrations").iterdir():
        matched = _NAME.fullmatch(file.name)
        if matched:
            found.append(Migration(int(matched[1]), file.name, file.read_text()))
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise MigrationError("migrations are not numbered one after the other")
    return found


async def migrate(url: str) -> list[str]:
    """Applies what is not applied yet; answers with its names. MigrationError when an applied file has changed."""
    connection = await asyncpg.connect(url, timeout=10)
    try:
        await connection.execute("select pg_advisory_lock($1)", _LOCK)
        await connection.execute(_RECORD)
        rows = await connection.fetch("select number, checksum from schema_migration")
        pending = _pending({row["number"]: row["checksum"] for row in rows})
        for migration in pending:
            await _apply(connection, migration)
        return [migration.name for migration in pending]
    finally:
        await connection.close()


def _pending(applied: dict[int, str]) -> list[Migration]:
    known = load_migrations()
    if unknown := applied.keys() - {migration.number for migration in known}:
        raise MigrationError(f"the database has migrations this program does not know: {unknown}")
    for migration in known:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise MigrationError(f"{migration.name} has changed since it was applied")
    return [migration for migration in known if migration.number not in applied]


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(migration.text)
        await connection.execute(
            "insert into schema_migration (number, name, checksum) values ($1, $2, $3)",
            migration.number,
            migration.name,
            migration.checksum,
        )
