"""The schema of a service's database: numbered migrations, and replaceable function files.

`sql/schema/NNNN_name.sql` runs once, in order, each in a transaction. `NNNN_post_name.sql` runs only after the last
process of the previous release has stopped; every other file may run while it still serves. `checksums.sha256` in the
same folder lists the files that are already in use; they are never edited.

`sql/functions/*.sql` holds `create or replace function …`, of the service and, for all services, of this package. When
one of these files differs from the installed one, all of them are installed again, in one transaction. A function that
changes its result type needs a migration that drops it first.

One runner works at a time. Checksums of applied files are recorded in the database.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from typing import Literal

import asyncpg

from services.postgres.pool import Session
from services.runtime.telemetry import get_logger

Stage = Literal["pre", "post"]

CHECKSUMS_FILE = "checksums.sha256"
OTHER_BASELINE = (
    "This database was made by an unreleased version of Braid, which this version cannot update: export its spaces "
    "with that version if it has `braid space export`, stop Braid, delete its data folder (by default .braid) or drop "
    "this database, and import the spaces or ingest your documents."
)
_NUMBER = re.compile(r"\d{1,9}")
_NAME = re.compile(r"(\d{4})_(?:(pre|post)_)?[a-z0-9_]{1,200}\.sql")
_RECORDS = """
create table if not exists schema_migration (
  number integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
);
create table if not exists schema_function_file (
  name text primary key,
  checksum text not null,
  installed_at timestamptz not null default now()
)"""

_CONNECT_SECONDS = 60.0
# Older versions of PostgreSQL cannot subtract infinite timestamps, those of pgvector have no iterative index scans.
_MIN_POSTGRESQL = 17
_MIN_PGVECTOR = (0, 8)
_PGVECTOR = "select extversion from pg_extension where extname = 'vector'"
_LAST = "select max(number) from schema_migration"


class MigrationError(Exception):
    """The files and the database do not match. The message is for the operator."""


@dataclass(frozen=True, slots=True)
class SqlFile:
    """An SQL file and its name."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        """Returns the SHA-256 of the text in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Migration(SqlFile):
    """A numbered file."""

    number: int
    stage: Stage


@dataclass(frozen=True, slots=True)
class Schema:
    """A service's migrations in order, and its function files by name."""

    migrations: Sequence[Migration]
    functions: Sequence[SqlFile] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration as the database recorded it."""

    name: str
    checksum: str


def load_schema(package: str) -> Schema:
    """Loads the files of `package`. Raises MigrationError unless migrations are numbered 1, 2, 3 …"""
    folder = files(package) / "sql"
    found = []
    for file in _sql_files(folder / "schema") or _sql_files(folder / "migrations"):
        if matched := _NAME.fullmatch(file.name):
            stage: Stage = "post" if matched[2] == "post" else "pre"
            found.append(Migration(file.name, file.text, int(matched[1]), stage))
    numbers = [migration.number for migration in found]
    if not numbers or numbers != list(range(1, len(found) + 1)):
        raise MigrationError("migrations are not numbered one after the other")
    shared = files("services.postgres") / "sql"
    return Schema(found, [*_sql_files(shared / "functions"), *_sql_files(folder / "functions")])


def released_checksums(package: str) -> dict[str, str]:
    """Returns the checksums of released migrations by file name, from a file in the format of `sha256sum`."""
    text = (files(package) / "sql" / "schema" / CHECKSUMS_FILE).read_text()
    pairs = (line.split() for line in text.splitlines())
    return {name: checksum for checksum, name in pairs}


def pending_migrations(
    known: Sequence[Migration], applied: Mapping[int, Applied], stage: Stage
) -> list[Migration]:
    """Returns the migrations still to apply; for stage `pre` only up to the first `post` file.

    Raises MigrationError for a database made from another baseline, and for an applied file that has changed or is
    unknown.
    """
    if applied and 1 in applied and applied[1].name != known[0].name:
        raise MigrationError(OTHER_BASELINE)
    if unknown := sorted(applied.keys() - {migration.number for migration in known}):
        raise MigrationError(
            f"the database has migrations that this program does not know: {unknown}"
        )
    for migration in known:
        before = applied.get(migration.number)
        if before is not None and before.checksum != migration.checksum:
            raise MigrationError(f"{migration.name} has changed since it was applied")
    left = [migration for migration in known if migration.number not in applied]
    return left if stage == "post" else list(takewhile(lambda m: m.stage == "pre", left))


def check_versions(postgresql: int, pgvector: str | None) -> None:
    """Raises MigrationError for a PostgreSQL, or an installed pgvector, that is too old; `postgresql` is its major."""
    if postgresql < _MIN_POSTGRESQL:
        raise MigrationError(
            f"PostgreSQL {postgresql} is too old: Braid needs version {_MIN_POSTGRESQL} or later"
        )
    if pgvector is not None and tuple(map(int, _NUMBER.findall(pgvector))) < _MIN_PGVECTOR:
        needed = ".".join(map(str, _MIN_PGVECTOR))
        raise MigrationError(
            f"pgvector {pgvector} is too old: Braid needs version {needed} or later "
            "(install it, then run `alter extension vector update`)"
        )


async def migrate(url: str, schema: Schema, *, lock: int, stage: Stage = "post") -> None:
    """Applies pending migrations and installs changed functions, as the role that owns the schema.

    `lock` is the number of the advisory lock that allows one runner at a time. Raises MigrationError.
    """
    connection = await asyncpg.connect(url, timeout=_CONNECT_SECONDS)
    try:
        await connection.execute("select pg_advisory_lock($1)", lock)
        check_versions(connection.get_server_version().major, await connection.fetchval(_PGVECTOR))
        await connection.execute(_RECORDS)
        rows = await connection.fetch("select number, name, checksum from schema_migration")
        applied = {row["number"]: Applied(row["name"], row["checksum"]) for row in rows}
        for migration in pending_migrations(schema.migrations, applied, stage):
            await _apply(connection, migration)
            get_logger("migrate").info("applied", migration=migration.name)
        await _install(connection, schema.functions)
    finally:
        await connection.close()


async def last_migration(session: Session) -> int:
    """Returns the number of the last applied migration; 0 for a database without schema."""
    try:
        return int(await session.value(_LAST) or 0)
    except asyncpg.UndefinedTableError:
        return 0


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(migration.text)
        await connection.execute(
            "insert into schema_migration (number, name, checksum) values ($1, $2, $3)",
            migration.number,
            migration.name,
            migration.checksum,
        )


async def _install(connection: asyncpg.Connection, functions: Sequence[SqlFile]) -> None:
    rows = await connection.fetch("select name, checksum from schema_function_file")
    installed = {row["name"]: row["checksum"] for row in rows}
    if installed == {file.name: file.checksum for file in functions}:
        return
    async with connection.transaction():
        # Functions call each other across files, so their bodies are checked only when they first run.
        await connection.execute("set local check_function_bodies = off")
        for file in functions:
            await connection.execute(file.text)
        await connection.execute("delete from schema_function_file")
        await connection.executemany(
            "insert into schema_function_file (name, checksum) values ($1, $2)",
            [(file.name, file.checksum) for file in functions],
        )
    get_logger("migrate").info("installed", functions=[file.name for file in functions])


def _sql_files(folder: Traversable) -> list[SqlFile]:
    """Returns the folder's SQL files by name; empty without such a folder."""
    if not folder.is_dir():
        return []
    found = (file for file in folder.iterdir() if file.name.endswith(".sql"))
    return sorted((SqlFile(f.name, f.read_text()) for f in found), key=lambda file: file.name)
