"""Row-level security: the service's role sees only the rows of the user that the transaction names."""

from __future__ import annotations

import asyncpg
import pytest

from braid.agent.v1 import entity_memory_pb2 as pb
from tests.integration.entity_memory.conftest import ALICE, ANNA, BOB, World

TABLES = ("memory_entity", "memory_relationship", "memory_entity_vector", "memory_write")


@pytest.fixture
async def connection(world: World) -> asyncpg.Connection:
    """A connection as the service's role, after three users have saved data."""
    for who, name in ((ALICE, "Vim"), (ANNA, "Emacs"), (BOB, "Nano")):
        await world.relate("USES", name, who=who)
        seen = pb.MemoryProvenance(conversation_id="c", message_id="m")
        await world.stub.SaveTurn(pb.SaveTurnRequest(turns=["hi"], provenance=seen), metadata=who)
    return await asyncpg.connect(world.database.dsn("braid_agent"))


async def name_user(connection: asyncpg.Connection, space: str, user: str) -> None:
    await connection.execute(
        "select set_config('braid.space', $1, true), set_config('braid.user', $2, true)",
        space,
        user,
    )


async def test_the_role_is_not_a_superuser_and_owns_no_table(
    connection: asyncpg.Connection,
) -> None:
    assert not await connection.fetchval(
        "select rolsuper or rolbypassrls from pg_roles where rolname = current_user"
    )
    owned = await connection.fetchval(
        "select count(*) from pg_tables where tableowner = current_user"
    )
    assert owned == 0
    await connection.close()


@pytest.mark.parametrize("table", TABLES)
async def test_without_a_user_no_rows_are_visible(
    connection: asyncpg.Connection, table: str
) -> None:
    assert await connection.fetchval(f"select count(*) from {table}") == 0  # noqa: S608
    await connection.close()


async def test_the_services_role_cannot_use_the_scope_of_migrations(
    connection: asyncpg.Connection,
) -> None:
    async with connection.transaction():
        await connection.execute("select set_config('braid.memory_scope', 'schema', true)")
        for table in TABLES:
            assert await connection.fetchval(f"select count(*) from {table}") == 0  # noqa: S608
    await connection.close()


@pytest.mark.parametrize("table", TABLES)
async def test_a_query_without_a_user_filter_sees_only_the_current_users_rows(
    connection: asyncpg.Connection, table: str
) -> None:
    async with connection.transaction():
        await name_user(connection, "acme", "alice")
        rows = await connection.fetch(f"select space, user_id from {table}")  # noqa: S608
        assert {(row["space"], row["user_id"]) for row in rows} == {("acme", "alice")}
        changed = await connection.execute(
            f"delete from {table} where user_id in ('anna', 'bob')"  # noqa: S608
        )
        assert changed == "DELETE 0"
    await connection.close()


async def test_rows_of_another_user_cannot_be_written(connection: asyncpg.Connection) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with connection.transaction():
            await name_user(connection, "acme", "alice")
            await connection.execute(
                "insert into memory_entity (space, user_id, id, name, canonical_name, type, confidence) "
                "values ('acme', 'anna', gen_random_uuid(), 'X', 'x', 'tool', 1)"
            )
    await connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [("type", "editor"), ("confidence", 1.1), ("confidence", -0.1), ("mention_count", 0)],
)
async def test_the_database_rejects_invalid_values(
    connection: asyncpg.Connection, column: str, value: object
) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        async with connection.transaction():
            await name_user(connection, "acme", "alice")
            await connection.execute(
                f"update memory_entity set {column} = $1 where type = 'tool'",  # noqa: S608
                value,
            )
    await connection.close()
