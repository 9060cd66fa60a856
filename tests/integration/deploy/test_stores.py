"""The local stores are real and private, and keep every acknowledged write."""

import asyncio
import os
import stat
import sys
from pathlib import Path

import asyncpg
import pytest
from neo4j import AsyncGraphDatabase
from neo4j.exceptions import AuthError

from deploy.local.errors import DataFolderInUseError, LocalStackError
from deploy.local.provision import ROLES, provision
from deploy.local.stores import LocalStores
from tests.stores import create_template, database_from_template

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def query(dsn: str, text: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetch(text)
    finally:
        await connection.close()


async def cypher(stores: LocalStores, text: str) -> list[dict[str, object]]:
    environment = stores.environment()
    auth = (environment["NEO4J_USER"], environment["NEO4J_PASSWORD"])
    async with AsyncGraphDatabase.driver(environment["NEO4J_URI"], auth=auth) as driver:
        result = await driver.execute_query(text, database_="neo4j")
        return [record.data() for record in result.records]


async def test_credentials_are_readable_by_their_owner_only(durable_stores: LocalStores) -> None:
    files = list(durable_stores.data.glob("*.credentials.json"))
    assert {path.name for path in files} == {
        "neo4j.credentials.json",
        "postgres.credentials.json",
    }
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


async def test_other_users_cannot_look_into_the_data_folder(durable_stores: LocalStores) -> None:
    # As root, PostgreSQL's own system user must pass through it.
    passes = 0o010 if os.geteuid() == 0 else 0
    assert stat.S_IMODE(durable_stores.data.stat().st_mode) == 0o700 | passes


async def test_no_service_role_is_a_superuser_or_can_create_roles(
    durable_stores: LocalStores,
) -> None:
    rows = await query(
        durable_stores.postgres.admin_dsn,
        "SELECT rolname FROM pg_roles WHERE rolcanlogin AND (rolsuper OR rolcreaterole "
        "OR rolcreatedb OR rolreplication OR rolbypassrls)",
    )
    assert [row["rolname"] for row in rows] == ["postgres"]


async def test_every_role_connects_with_its_own_password_only(
    durable_stores: LocalStores,
) -> None:
    for role in ROLES:
        dsn = durable_stores.postgres.dsn(role)
        (row,) = await query(dsn, "SELECT current_user AS name")
        assert row["name"] == role
        password = dsn.split(":")[2].split("@")[0]
        with pytest.raises(asyncpg.InvalidPasswordError):
            await query(dsn.replace(password, "guessed"), "SELECT 1")


async def test_no_role_can_connect_to_the_database_of_another_service(
    durable_stores: LocalStores,
) -> None:
    for role, database in (("braid_writer", "braid_agent"), ("braid_agent", "braid_vector")):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await query(durable_stores.postgres.dsn(role, database), "SELECT 1")


async def test_postgresql_listens_only_on_a_socket_and_commits_durably(
    durable_stores: LocalStores,
) -> None:
    rows = await query(
        durable_stores.postgres.admin_dsn,
        "SELECT name, setting FROM pg_settings WHERE name IN ('listen_addresses', 'fsync', "
        "'synchronous_commit', 'full_page_writes', 'max_connections') ORDER BY name",
    )
    assert {row["name"]: row["setting"] for row in rows} == {
        "fsync": "on",
        "full_page_writes": "on",
        "listen_addresses": "",
        "max_connections": "100",
        "synchronous_commit": "on",
    }


async def test_the_writer_and_the_reader_have_only_the_privileges_they_need(
    durable_stores: LocalStores,
) -> None:
    postgres = durable_stores.postgres
    owner, writer, reader = (
        postgres.dsn(role) for role in ("braid_migrator", "braid_writer", "braid_reader")
    )
    await query(owner, "CREATE TABLE note (id int GENERATED ALWAYS AS IDENTITY, v vector(2))")
    await query(owner, "CREATE FUNCTION two() RETURNS int LANGUAGE sql AS 'SELECT 2'")
    await query(writer, "INSERT INTO note (v) VALUES ('[1,2]'), ('[3,4]')")
    await query(writer, "UPDATE note SET v = '[5,6]' WHERE id = 2")
    await query(writer, "DELETE FROM note WHERE id = 1")
    for dsn in (writer, reader):
        assert len(await query(dsn, "SELECT v <-> '[0,0]' FROM note WHERE two() = 2")) == 1
        for ddl in (
            "CREATE TABLE other (id int)",
            "CREATE TEMP TABLE other (id int)",
            "CREATE SCHEMA other",
            "ALTER TABLE note ADD COLUMN other int",
            "DROP TABLE note",
            "TRUNCATE note",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await query(dsn, ddl)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await query(reader, "DELETE FROM note")


async def test_provisioning_again_does_not_change_passwords(durable_stores: LocalStores) -> None:
    passwords = dict.fromkeys(ROLES, "another password")
    await provision(durable_stores.postgres.admin_dsn, passwords)
    (row,) = await query(durable_stores.postgres.dsn("braid_reader"), "SELECT 1 AS one")
    assert row["one"] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
async def test_queries_go_before_javas_second_compiler(durable_stores: LocalStores) -> None:
    threads = await asyncio.to_thread(
        lambda: list(Path(f"/proc/{durable_stores.neo4j.pid}/task").iterdir())
    )
    names = {int(thread.name): (thread / "comm").read_text() for thread in threads}
    priorities = {name: os.getpriority(os.PRIO_PROCESS, thread) for thread, name in names.items()}
    assert {name[:2] for name, priority in priorities.items() if priority} == {"C2"}


async def test_neo4j_rejects_the_default_password(durable_stores: LocalStores) -> None:
    uri = durable_stores.environment()["NEO4J_URI"]
    assert uri.startswith("bolt://127.0.0.1:")
    async with AsyncGraphDatabase.driver(uri, auth=("neo4j", "neo4j")) as driver:
        with pytest.raises(AuthError):
            await driver.verify_connectivity()


async def test_a_second_stack_on_the_same_data_folder_is_rejected(
    durable_stores: LocalStores,
) -> None:
    with pytest.raises(DataFolderInUseError, match="in use by another Braid stack"):
        await LocalStores(durable_stores.data).start()
    assert durable_stores.postgres.pid is not None


async def test_a_test_database_has_the_schema_the_grants_and_no_rows_of_other_tests(
    durable_stores: LocalStores,
) -> None:
    async def migrate(dsn: str) -> None:
        await query(dsn, "CREATE TABLE item (v vector(2))")

    template = await create_template(durable_stores, migrate)
    for _ in range(2):
        async with database_from_template(durable_stores, template) as database:
            await query(database.dsn("braid_writer"), "INSERT INTO item VALUES ('[1,2]')")
            assert len(await query(database.dsn("braid_reader"), "SELECT v FROM item")) == 1
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await query(durable_stores.postgres.dsn("braid_agent", database.name), "SELECT 1")
    rows = await query(durable_stores.postgres.admin_dsn, "SELECT datname FROM pg_database")
    assert database.name not in {row["datname"] for row in rows}


async def test_rows_survive_a_kill_of_postgres(durable_stores: LocalStores) -> None:
    postgres = durable_stores.postgres
    await query(postgres.dsn("braid_migrator"), "CREATE TABLE kept (n int)")
    held = await asyncpg.connect(
        postgres.dsn("braid_writer")
    )  # its backend process is still exiting at the restart
    await held.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
    before = postgres.pid
    await postgres.kill()
    await postgres.start()
    held.terminate()
    assert postgres.pid not in (None, before)
    (row,) = await query(postgres.dsn("braid_reader"), "SELECT count(*) AS n FROM kept")
    assert row["n"] == 1000


async def test_nodes_survive_a_kill_of_neo4j(durable_stores: LocalStores) -> None:
    await cypher(durable_stores, "UNWIND range(1, 1000) AS n CREATE (:Kept {n: n})")
    before, uri = durable_stores.neo4j.pid, durable_stores.neo4j.uri
    await durable_stores.neo4j.kill()
    await durable_stores.neo4j.start()
    assert durable_stores.neo4j.pid not in (None, before)
    assert durable_stores.neo4j.uri == uri
    assert await cypher(durable_stores, "MATCH (k:Kept) RETURN count(k) AS n") == [{"n": 1000}]


async def test_a_lost_neo4j_password_is_reported_and_not_overwritten(
    durable_stores: LocalStores,
) -> None:
    secret = durable_stores.data / "neo4j.credentials.json"
    kept = secret.read_text()
    await durable_stores.neo4j.stop()
    secret.unlink()
    with pytest.raises(LocalStackError, match="refuses the password"):
        await durable_stores.neo4j.start()
    await durable_stores.neo4j.stop()
    secret.write_text(kept)
    await durable_stores.neo4j.start()
    assert await cypher(durable_stores, "RETURN 1 AS one") == [{"one": 1}]
