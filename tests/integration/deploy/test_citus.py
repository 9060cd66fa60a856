"""The migrated schema suits Citus: tables are distributed by space, which is in every key and every query.

https://docs.citusdata.com/en/stable/develop/migration_mt_schema.html
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import pytest

from services.agent_orchestrator import database as agent
from services.runtime.queries import Queries
from services.vector_search import database as vector
from tests.stores import TestDatabase

# Tables that are not distributed, and why. On Citus a reference table is copied to every node; a local table stays on
# the coordinator.
NOT_DISTRIBUTED: Mapping[str, str] = {
    "schema_migration": "local: what was applied to this database, read when migrating alone",
    "schema_function_file": "local: as schema_migration",
    "model": "reference: names and dimensions of models, some dozens; spaces refer to it",
    "job": "local: the queue of all spaces, from which workers take in order; small, and forgotten once ended",
    "job_input": "local: with its job, by the job's id",
    "job_failure": "local: with its job, by the job's id",
    "job_warning": "local: with its job, by the job's id",
    "document": "local in the agent's database: on the way to the graph, worked off in the order of all spaces",
    "turn": "local: leases of workers, one row a space that has work",
    "memory_write": "local: a queue of all spaces, worked off in order",
    "conversation": "local: found by its id, which callers hold; text of conversations alone",
    "conversation_message": "local: with its conversation",
    "agent_run": "local: runs of some days, found by their id when a stream is resumed",
    "agent_run_event": "local: with its run",
}
# `document` is distributed in the vector tier's database.
DISTRIBUTED_IN_VECTOR = {"document"}
# Named queries on distributed tables that name no space, and why.
ALL_SPACES: Mapping[str, str] = {
    "due_spaces": "looks for spaces with work, on all nodes, in the background",
    "spaces_to_index": "as due_spaces",
    "list_spaces": "lists the spaces of all nodes to an operator",
}

_COMMENT = re.compile(r"--[^\n]*")
_TARGET = re.compile(r"\b(?:from|join|update|into)\s+(?:only\s+)?([a-z_]+)\b", re.IGNORECASE)
_SPACE = re.compile(r"\bspace\b\s*(?:=|,|\)|<>|in\b)|\busing\s*\([^)]*\bspace\b|\bp_space\b")


@dataclass
class Table:
    """A table with its columns, unique keys and foreign keys."""

    name: str
    columns: set[str]
    keys: dict[str, set[str]] = field(default_factory=dict)
    references: dict[str, tuple[str, list[tuple[str, str]]]] = field(default_factory=dict)


_TABLES = """
select c.oid::regclass::text as name, array_agg(a.attname::text) as columns
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
group by c.oid"""
_KEYS = """
select i.indrelid::regclass::text as name, i.indexrelid::regclass::text as key,
  array(select a.attname::text from pg_attribute a
        where a.attrelid = i.indrelid and a.attnum = any(i.indkey[:i.indnkeyatts - 1])) as columns
from pg_index i join pg_class c on c.oid = i.indrelid
where i.indisunique and c.relnamespace = 'public'::regnamespace and not c.relispartition"""
_REFERENCES = """
select k.conrelid::regclass::text as name, k.conname::text as key, k.confrelid::regclass::text as target,
  array(select array[own.attname::text, other.attname::text]
        from unnest(k.conkey, k.confkey) as pair (own_number, other_number)
        join pg_attribute own on own.attrelid = k.conrelid and own.attnum = pair.own_number
        join pg_attribute other on other.attrelid = k.confrelid and other.attnum = pair.other_number) as pairs
from pg_constraint k join pg_class c on c.oid = k.conrelid
where k.contype = 'f' and not c.relispartition and k.connamespace = 'public'::regnamespace"""


async def tables_of(connection: Any) -> dict[str, Table]:
    found = {
        row["name"]: Table(row["name"], set(row["columns"]))
        for row in await connection.fetch(_TABLES)
    }
    for row in await connection.fetch(_KEYS):
        found[row["name"]].keys[row["key"]] = set(row["columns"])
    for row in await connection.fetch(_REFERENCES):
        pairs = [(own, other) for own, other in row["pairs"]]
        found[row["name"]].references[row["key"]] = (row["target"], pairs)
    return found


@asynccontextmanager
async def connected(database: TestDatabase) -> AsyncIterator[Any]:
    admin = await asyncpg.connect(database.stores.postgres.admin_dsn, database=database.name)
    try:
        yield admin
    finally:
        await admin.close()


@pytest.fixture
async def vector_tables(own_vector_database: TestDatabase) -> dict[str, Table]:
    """The vector tier's tables, with those of a registered model."""
    async with connected(own_vector_database) as admin:
        await admin.execute("select register_model('compass', 3, 'ours')")
        return await tables_of(admin)


@pytest.fixture
async def agent_tables(agent_database: TestDatabase) -> dict[str, Table]:
    async with connected(agent_database) as admin:
        return await tables_of(admin)


def distributed(tables: Mapping[str, Table], more: set[str] | None = None) -> dict[str, Table]:
    local = NOT_DISTRIBUTED.keys() - (more or set())
    return {name: table for name, table in tables.items() if name not in local}


def faults(tables: Mapping[str, Table], own: Mapping[str, Table]) -> list[str]:
    """The violations that Citus would reject."""
    return [*_faults_of_keys(own), *_faults_of_references(tables, own)]


def _faults_of_keys(own: Mapping[str, Table]) -> Iterator[str]:
    for table in own.values():
        if "space" not in table.columns:
            yield f"{table.name} has no space"
        if not table.keys:
            yield f"{table.name} has no key"
        for key, columns in table.keys.items():
            if "space" not in columns:
                yield f"{key} of {table.name} is without the space"


def _faults_of_references(tables: Mapping[str, Table], own: Mapping[str, Table]) -> Iterator[str]:
    for table in tables.values():
        for key, (target, pairs) in table.references.items():
            if table.name in own and NOT_DISTRIBUTED.get(target, "").startswith("reference"):
                continue
            if (table.name in own) != (target in own):
                yield f"{key} of {table.name} leaves the tables of a space"
            elif table.name in own and ("space", "space") not in pairs:
                yield f"{key} of {table.name} is without the space"


async def test_the_vector_tiers_tables_can_be_distributed(vector_tables: dict[str, Table]) -> None:
    own = distributed(vector_tables, DISTRIBUTED_IN_VECTOR)
    assert {"chunk", "posting", "embedding_1", "embedding_1_unindexed", "document"} <= own.keys()
    assert faults(vector_tables, own) == []


async def test_the_agents_memories_can_be_distributed(agent_tables: dict[str, Table]) -> None:
    own = distributed(agent_tables)
    assert {"memory", "memory_entity", "memory_relationship"} <= own.keys()
    assert faults(agent_tables, own) == []


async def test_every_table_that_is_not_distributed_exists(
    vector_tables: dict[str, Table], agent_tables: dict[str, Table]
) -> None:
    assert NOT_DISTRIBUTED.keys() <= vector_tables.keys() | agent_tables.keys()


def without_space(queries: Queries, tables: set[str]) -> list[str]:
    """The queries that mention the space less often than distributed tables."""
    found = []
    for name in queries.names():
        text = _COMMENT.sub("", queries[name])
        named = [target for target in _TARGET.findall(text) if target in tables]
        if named and len(_SPACE.findall(text)) < len(named):
            found.append(name)
    return found


async def test_each_query_of_the_vector_tier_names_the_space(
    vector_tables: dict[str, Table],
) -> None:
    own = set(distributed(vector_tables, DISTRIBUTED_IN_VECTOR))
    found = without_space(vector.load_queries(), own)
    assert [name for name in found if name not in ALL_SPACES] == []


async def test_each_query_of_the_agent_on_distributed_tables_names_the_space(
    agent_tables: dict[str, Table],
) -> None:
    own = set(distributed(agent_tables))
    packages = [
        Queries.load("sql", f"services.agent_orchestrator.{room}")
        for room in ("entity_memory", "agent.conversations", "agent.runs")
    ]
    found = [
        name
        for queries in (agent.load_queries(), *packages)
        for name in without_space(queries, own)
    ]
    assert [name for name in found if name not in ALL_SPACES] == []


async def test_each_stored_function_on_distributed_tables_takes_the_space(
    own_vector_database: TestDatabase, vector_tables: dict[str, Table]
) -> None:
    own = set(distributed(vector_tables, DISTRIBUTED_IN_VECTOR))
    async with connected(own_vector_database) as admin:
        functions = await admin.fetch(
            """select p.proname as name, p.prosrc as body, coalesce(p.proargnames, '{}') as arguments
            from pg_proc p join pg_language l on l.oid = p.prolang
            where p.pronamespace = 'public'::regnamespace and l.lanname in ('sql', 'plpgsql')"""
        )
    reading = {
        row["name"]: row["arguments"]
        for row in functions
        if any(target in own for target in _TARGET.findall(_COMMENT.sub("", row["body"])))
    }
    assert "search_chunks" in reading
    missing = [name for name, arguments in reading.items() if "p_space" not in arguments]
    assert [name for name in missing if name not in ALL_SPACES] == []
