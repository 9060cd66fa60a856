"""Migrations: numbered SQL files, each in a transaction, recorded with a checksum, one runner at a time.

`NNNN_pre_….sql` may run while the former program still serves, `NNNN_post_….sql` only when none of it is left.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import takewhile
from typing import Literal

import asyncpg

from services.runtime.telemetry import get_logger

Stage = Literal["pre", "post"]

_NAME = re.compile(r"(\d{4})_(pre|post)_[a-z0-9_]+\.sql")
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
    stage: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load_migrations(package: str) -> list[Migration]:
    """The files of `package`'s `sql/migrations` in order. MigrationError unless they are numbered 1, 2, 3 …"""
    found = []
    for file in (files(package) / "sql" / "migrations").iterdir():
        matched = _NAME.fullmatch(file.name)
        if matched:
            found.append(Migration(int(matched[1]), file.name, matched[2], file.read_text()))
    found.sort(key=lambda migration: migration.number)
    numbers = [migration.number for migration in found]
    if not numbers or numbers != list(range(1, len(found) + 1)):
        raise MigrationError("migrations are not numbered one after the other")
    return found


def pending_migrations(
    known: list[Migration], applied: dict[int, str], stage: Stage
) -> list[Migration]:
    """What is left to apply, of numbers to checksums applied; up to the first `post` one for stage `pre`.

    MigrationError when an applied file has changed or is unknown.
    """
    if unknown := applied.keys() - {migration.number for migration in known}:
        raise MigrationError(f"the database has migrations this program does not know: {unknown}")
    for migration in known:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise MigrationError(f"{migration.name} has changed since it was applied")
    left = [migration for migration in known if migration.number not in applied]
    return left if stage == "post" else list(takewhile(lambda m: m.stage == "pre", left))


async def migrate(url: str, known: list[Migration], *, lock: int, stage: Stage = "post") -> None:
    """Applies what is not applied yet, as the role that owns the schema. See `pending_migrations`.

    `lock` is the number of the advisory lock that lets one runner at a time pass.
    """
    connection = await asyncpg.connect(url, timeout=10)
    try:
        await connection.execute("select pg_advisory_lock($1)", lock)
        await connection.execute(_RECORD)
        rows = await connection.fetch("select number, checksum from schema_migration")
        applied = {row["number"]: row["checksum"] for row in rows}
        for migration in pending_migrations(known, applied, stage):
            await _apply(connection, migration)
            get_logger("migrate").info("applied", migration=migration.name)
    finally:
        await connection.close()


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(migration.text)
        await connection.execute(
            "insert into schema_migration (number, name, checksum) values ($1, $2, $3)",
            migration.number,
            migration.name,
            migration.checksum,
        )
