"""Real stores for tests, started once, with databases that are copied from templates."""

import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from deploy.local.provision import VECTOR, Database, open_to_roles, statement, write_and_run
from deploy.local.stores import LocalStores
from services.postgres.pool import PoolLimits
from services.vector_search.postgres_store import PostgresStore

# Test data is temporary; only crash tests need durable writes.
FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

# Installs the schema in an empty database, given the DSN of the database's owner.
Migrate = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class TestDatabase:
    """A database of a test and its stores, with the DSN of each role."""

    __test__ = False

    name: str
    stores: LocalStores

    def dsn(self, role: str) -> str:
        """The DSN of a role, such as `braid_writer`."""
        return self.stores.postgres.dsn(role, self.name)


@contextmanager
def data_folder(prefix: str = "braid-test-") -> Iterator[Path]:
    """A temporary data folder, not below pytest's own.

    PostgreSQL does not run as root, and every start of pytest removes the access of other users
    to the folder that its runs share.
    """
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        yield Path(name)


@asynccontextmanager
async def started_stores(
    *, durable: bool = False, prefix: str = "braid-test-"
) -> AsyncIterator[LocalStores]:
    """Starts both stores in a temporary folder, fast unless `durable`, and stops them at the end."""
    with data_folder(prefix) as data:
        async with LocalStores(data, postgres_settings=None if durable else FORGETFUL) as stores:
            yield stores


@asynccontextmanager
async def postgres_in_stores(prefix: str = "braid-test-") -> AsyncIterator[LocalStores]:
    """Stores with PostgreSQL started; at the end Neo4j is stopped too, if it was started meanwhile."""
    with data_folder(prefix) as data:
        stores = LocalStores(data, postgres_settings=FORGETFUL)
        stores.prepare()
        try:
            await stores.postgres.start()
            yield stores
        finally:
            await stores.stop()


async def create_template(stores: LocalStores, migrate: Migrate, *, like: Database = VECTOR) -> str:
    """Creates a database with the grants of the stack and the migrated schema, and returns its name."""
    name = f"template_{secrets.token_hex(6)}"
    admin = await asyncpg.connect(stores.postgres.admin_dsn)
    try:
        await write_and_run(admin, "create_database", name, like.owner)
        await open_to_roles(admin, like, name)
    finally:
        await admin.close()
    await _grant(stores, like, name)
    await migrate(stores.postgres.dsn(like.owner, name))
    return name


@asynccontextmanager
async def database_from_template(
    stores: LocalStores, template: str, *, like: Database = VECTOR
) -> AsyncIterator[TestDatabase]:
    """A copy of a template, dropped afterwards. The template must have no connections."""
    name = f"test_{secrets.token_hex(6)}"
    admin = await asyncpg.connect(stores.postgres.admin_dsn)
    try:
        await write_and_run(admin, "copy_database", name, like.owner, template)
        await open_to_roles(admin, like, name)
        yield TestDatabase(name, stores)
    finally:
        await write_and_run(admin, "drop_database", name)
        await admin.close()


_EMPTY = """
do $$
declare
  each_relation regclass;
  has_rows boolean;
begin
  perform pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend';
  if to_regclass('model') is not null then
    for each_relation in
      select unnest(array[format('embedding_%s', id), format('embedding_%s_unindexed', id)])::regclass from model
    loop
      execute format('drop table %s', each_relation);
    end loop;
  end if;
  for each_relation in
    select oid from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname not in ('schema_migration', 'schema_function_file')
    -- Last what others refer to, so that it is not emptied along with them one by one.
    order by relname = 'model', relname
  loop
    execute format('select exists (select from %s)', each_relation) into has_rows;
    if has_rows then
      -- Not `only`: tables that refer to this one are emptied too.
      execute format('truncate %s restart identity cascade', each_relation);
    end if;
  end loop;
  for each_relation in
    select oid from pg_class where relname like 'memory_entity_vector_hnsw_%'
  loop
    execute format('drop index %s', each_relation);
  end loop;
end $$"""


async def empty_database(database: TestDatabase) -> None:
    """Closes all connections to a database, and removes all rows and the tables and indexes of models."""
    admin = await asyncpg.connect(database.stores.postgres.admin_dsn, database=database.name)
    try:
        await admin.execute(_EMPTY)
    finally:
        await admin.close()


async def _grant(stores: LocalStores, like: Database, name: str) -> None:
    connection = await asyncpg.connect(stores.postgres.admin_dsn, database=name)
    try:
        await connection.execute(statement(like.grants))
    finally:
        await connection.close()


@asynccontextmanager
async def open_vector_store(
    database: TestDatabase, limits: PoolLimits | None = None
) -> AsyncIterator[PostgresStore]:
    """The vector tier's store over a test's database, closed at the end."""
    store = await PostgresStore.open(
        read_url=database.dsn("braid_reader"),
        write_url=database.dsn("braid_writer"),
        limits=limits,
    )
    try:
        yield store
    finally:
        await store.close()
