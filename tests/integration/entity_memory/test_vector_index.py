"""Entity vectors have an HNSW index for each dimension, and a search within a user is still exact."""

from __future__ import annotations

import io
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import asyncpg
import numpy as np
import pytest

from braid.agent.v1 import entity_memory_pb2 as pb
from deploy.local.provision import AGENT
from services.agent_orchestrator.entity_memory.domain import EntityType
from services.agent_orchestrator.entity_memory.records import Owner
from services.agent_orchestrator.entity_memory.reembedding import MemoryReembedding
from services.agent_orchestrator.entity_memory.row_mapping import vector_text
from services.agent_orchestrator.entity_memory.store import EntityMemoryStore
from services.agent_orchestrator.jobs.embedding_pace import EmbeddingPace
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.migrate import load_schema, migrate
from services.models.embedding.vectors import Matrix
from services.postgres import migrations
from services.postgres.pool import Pool, PoolLimits
from services.runtime.queries import Queries
from tests.integration.entity_memory.conftest import ALICE, DIMENSION, WordVectors, World
from tests.stores import TestDatabase, create_template, database_from_template

USERS, ENTITIES = 8, 250
MODEL = "random"
# The number of migrations before the one that adds the index.
BEFORE_INDEX = 6


class OtherVectors(WordVectors):
    """An embedder with another dimension."""

    async def embed(self, texts: Any) -> Matrix:
        return np.tile(await super().embed(texts), 2)


@pytest.fixture
async def admin(agent_database: TestDatabase) -> AsyncIterator[Any]:
    """A superuser's connection, which bypasses row-level security."""
    async with connected(agent_database) as connection:
        yield connection


@asynccontextmanager
async def connected(database: TestDatabase) -> AsyncIterator[Any]:
    """A superuser's connection to a database."""
    connection = await asyncpg.connect(database.stores.postgres.admin_dsn, database=database.name)
    try:
        yield connection
    finally:
        await connection.close()


async def indexes(connection: Any) -> dict[str, bool]:
    """The HNSW indexes by name, and whether each is valid."""
    rows = await connection.fetch(
        "select c.relname, i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid "
        "join pg_am a on a.oid = c.relam where a.amname = 'hnsw' "
        "and i.indrelid = 'memory_entity_vector'::regclass"
    )
    return {row["relname"]: row["indisvalid"] for row in rows}


def name_of(dimension: int) -> str:
    return f"memory_entity_vector_hnsw_{dimension}"


async def add_entities(connection: Any, user: str, vectors: Matrix) -> list[str]:
    """Adds entities of a user with these vectors and returns their ids."""
    ids = [uuid.uuid4() for _ in vectors]
    await connection.copy_records_to_table(
        "memory_entity",
        records=[
            ("acme", user, id_, f"E {n}", f"e {n}", "tool" if n % 2 else "project", 0.9)
            for n, id_ in enumerate(ids)
        ],
        columns=("space", "user_id", "id", "name", "canonical_name", "type", "confidence"),
    )
    lines = "".join(
        f"acme\t{user}\t{MODEL}\t{id_}\t{vector_text(row)}\n"
        for id_, row in zip(ids, vectors, strict=True)
    )
    await connection.copy_to_table(
        "memory_entity_vector",
        source=io.BytesIO(lines.encode()),
        columns=["space", "user_id", "model", "entity_id", "embedding"],
    )
    return [str(id_) for id_ in ids]


def unit_vectors(rng: np.random.Generator, count: int) -> Matrix:
    rows = rng.standard_normal((count, DIMENSION)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


async def test_a_search_within_one_of_many_users_equals_brute_force(
    world: World, admin: Any
) -> None:
    rng = np.random.default_rng(7)
    vectors, ids = {}, {}
    for user in (f"user-{number}" for number in range(USERS)):
        vectors[user] = unit_vectors(rng, ENTITIES)
        ids[user] = await add_entities(admin, user, vectors[user])
    await admin.execute(f"select index_entity_vectors({DIMENSION})")
    await admin.execute("analyze memory_entity, memory_entity_vector")
    for query in unit_vectors(rng, 5):
        for user, own in vectors.items():
            async with world.parts.memory.store.reading(Owner("acme", user)) as rows:
                every = await rows.nearest(MODEL, query, (), ENTITIES)
                tools = await rows.nearest(MODEL, query, (EntityType.TOOL,), 10)
            similarities = own @ query
            assert every.keys() == set(ids[user])
            assert [every[id_] for id_ in ids[user]] == pytest.approx(similarities, abs=2e-3)
            best = sorted(similarities[1::2], reverse=True)[:10]
            assert list(tools.values()) == pytest.approx(best, abs=2e-3)
            assert tools.keys() <= set(ids[user][1::2])


async def test_no_plan_of_a_users_search_uses_the_index(world: World, admin: Any) -> None:
    vectors = unit_vectors(np.random.default_rng(7), 500)
    await add_entities(admin, "alice", vectors)
    await admin.execute(f"select index_entity_vectors({DIMENSION})")
    await admin.execute("analyze memory_entity, memory_entity_vector")
    query = Queries.load("sql", "services.agent_orchestrator.entity_memory")
    arguments: tuple[object, ...] = ("acme", "alice", MODEL, vector_text(vectors[0]), [], 10)

    async def plan(sql: str, *given: object) -> str:
        return "\n".join(row[0] for row in await admin.fetch(f"explain {sql}", *given))

    # The planner would use the index if it could, because every other way to order is disabled.
    for setting in (
        "enable_seqscan",
        "enable_sort",
        "enable_bitmapscan",
        "enable_incremental_sort",
    ):
        await admin.execute(f"set {setting} = off")
    for mode in ("force_custom_plan", "force_generic_plan"):
        await admin.execute(f"set plan_cache_mode = {mode}")
        assert "_hnsw_" not in await plan(query["nearest_entities"].text, *arguments)
    across = (
        f"select entity_id from memory_entity_vector where vector_dims(embedding) = {DIMENSION} "  # noqa: S608
        f"order by embedding::halfvec({DIMENSION}) <=> '{vector_text(vectors[0])}' limit 10"
    )
    assert name_of(DIMENSION) in await plan(across)


async def test_a_model_of_another_dimension_gets_an_index(world: World, admin: Any) -> None:
    assert await indexes(admin) == {}
    await world.save_entity("Vim")
    assert await indexes(admin) == {name_of(DIMENSION): True}
    pace = EmbeddingPace(Retries(0))
    await MemoryReembedding(world.parts.memory.store).finish("acme", OtherVectors("other"), pace)
    assert await indexes(admin) == {name_of(DIMENSION): True, name_of(2 * DIMENSION): True}
    found = await admin.fetch("select model, vector_dims(embedding) from memory_entity_vector")
    assert [tuple(row) for row in found] == [("other", 2 * DIMENSION)]


async def test_the_index_has_no_vectors_of_deleted_entities(world: World, admin: Any) -> None:
    saved = await world.save_entity("Grafana", description="dashboards and monitoring")
    count = "select count(*) from memory_entity_vector"
    await world.stub.DeleteEntity(pb.DeleteEntityRequest(entity_id=saved.entity.id), metadata=ALICE)
    assert await admin.fetchval(count) == 0
    await world.stub.RestoreEntity(
        pb.RestoreEntityRequest(entity_id=saved.entity.id), metadata=ALICE
    )
    assert await admin.fetchval(count) == 1
    assert await world.names("monitoring dashboards") == ["Grafana"]


async def test_migrating_an_older_database_adds_the_index(world: World) -> None:
    async def migrate_before_the_index(dsn: str) -> None:
        schema = load_schema()
        old = replace(schema, migrations=schema.migrations[:BEFORE_INDEX])
        await migrations.migrate(dsn, old, lock=1)

    template = await create_template(world.database.stores, migrate_before_the_index, like=AGENT)
    vectors = unit_vectors(np.random.default_rng(7), 20)
    async with (
        database_from_template(world.database.stores, template, like=AGENT) as database,
        connected(database) as admin,
    ):
        ids = await add_entities(admin, "alice", vectors)
        await admin.execute("update memory_entity set delete_time = now() where name = 'E 0'")
        await migrate(database.dsn(AGENT.owner))
        assert await indexes(admin) == {name_of(DIMENSION): True}
        assert await admin.fetchval("select count(*) from memory_entity_vector") == 19
        forced = "select relname from pg_class where relforcerowsecurity order by relname"
        assert [row[0] for row in await admin.fetch(forced)] == [
            "memory_entity",
            "memory_entity_vector",
            "memory_relationship",
            "memory_write",
        ]
        pool = await Pool.open(database.dsn("braid_agent"), PoolLimits(1), application="test")
        async with EntityMemoryStore(pool).reading(Owner("acme", "alice")) as rows:
            assert (await rows.nearest(MODEL, vectors[3], (), 1)).keys() == {ids[3]}
        await pool.close()
