"""Documents that change while a write waits for a lock: counts and reported outcomes stay correct."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest

from services.runtime.errors import NotFoundError
from services.runtime.queries import Queries
from services.runtime.times import utc_now
from services.vector_search import postgres_store
from services.vector_search.database import load_queries
from services.vector_search.domain import NewDocument, Outcome
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.clock import make_due
from tests.integration.vector_search.locks import superuser, until_waiting
from tests.store_suite.vector.builders import MODEL, SPACE, contents, document, words
from tests.stores import TestDatabase, open_vector_store

HOLD = "select from document where space = $1 and document_id = $2 for update"
MAKE_CLOCK = """
create table clock (ahead interval not null);
insert into clock values ('0');
grant select on clock to braid_writer"""
READ_CLOCK = "select clock_timestamp() + ahead from clock"
LEAVE_WITHOUT_VERSIONS = (
    "insert into document (space, document_id, written_at) values ($1, $2, now())"
)


@pytest.fixture
async def vector_database(own_vector_database: TestDatabase) -> TestDatabase:
    """A database of its own: these tests add a table."""
    return own_vector_database


@asynccontextmanager
async def locked_document(
    database: TestDatabase, document_id: str
) -> AsyncIterator[asyncpg.Connection]:
    """Locks a document as another writer would. Yields a connection that sees who waits for it."""
    async with superuser(database) as admin, admin.transaction():
        await admin.execute(HOLD, SPACE, document_id)
        yield admin


async def put(store: PostgresStore, documents: Sequence[NewDocument]) -> dict[str, Outcome]:
    """Writes documents and returns the outcome of each."""
    written = await store.upsert(SPACE, MODEL, documents)
    return {outcome.document_id: outcome for outcome in written.outcomes}


async def documents_of(store: PostgresStore) -> tuple[list[str], int]:
    """Returns the existing documents, and how many the space counts."""
    found = await store.find_documents(SPACE, ["a", "b", "d", "e"])
    return found, (await store.stats(SPACE)).documents


@pytest.fixture
async def due(store: PostgresStore, vector_database: TestDatabase) -> PostgresStore:
    """A store with `a`, `e` and `d`; a version of `d` has come into force since the last write."""
    await put(store, [document(key, f"{key} text") for key in ("a", "d", "e")])
    await put(store, [document("d", "d later", valid_time=utc_now() + timedelta(hours=12))])
    await make_due(vector_database)
    return store


async def test_a_due_document_deleted_while_another_write_waits_leaves_nothing(
    due: PostgresStore, vector_database: TestDatabase
) -> None:
    async with (
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
        locked_document(vector_database, "a") as admin,
    ):
        group.create_task(put(due, [document("a", "a changed")]))
        await until_waiting(admin, 1)
        await due.delete_document(SPACE, "d")
    assert await documents_of(due) == (["a", "e"], 2)
    with pytest.raises(NotFoundError):
        await due.delete_document(SPACE, "d")
    assert await documents_of(due) == (["a", "e"], 2)


async def test_a_due_document_deleted_while_its_own_write_waits_is_written_as_new(
    due: PostgresStore, vector_database: TestDatabase
) -> None:
    async with (
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
        locked_document(vector_database, "a") as admin,
    ):
        both = [document("a", "a changed"), document("d", "d changed", path="documents[1]")]
        writing = group.create_task(put(due, both))
        await until_waiting(admin, 1)
        await due.delete_document(SPACE, "d")
    assert writing.result()["d"].version == 1
    assert await documents_of(due) == (["a", "d", "e"], 3)
    assert contents(await due.search(SPACE, words("d"))) == ["d changed"]


async def test_an_unchanged_document_deleted_while_its_batch_waits_stays_deleted(
    due: PostgresStore, vector_database: TestDatabase
) -> None:
    later = document("d", "d last", valid_time=utc_now() + timedelta(hours=1))
    await put(due, [later])
    await make_due(vector_database)
    async with (
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
        locked_document(vector_database, "a") as admin,
    ):
        writing = group.create_task(put(due, [document("a", "a changed"), later]))
        await until_waiting(admin, 1)
        await due.delete_document(SPACE, "d")
    assert writing.result()["d"].unchanged
    assert await documents_of(due) == (["a", "e"], 2)


async def test_a_document_without_a_version_is_neither_found_nor_counted(
    due: PostgresStore, vector_database: TestDatabase
) -> None:
    async with superuser(vector_database) as admin:
        await admin.execute(LEAVE_WITHOUT_VERSIONS, SPACE, "b")
    with pytest.raises(NotFoundError):
        await due.delete_document(SPACE, "b")
    assert await documents_of(due) == (["a", "d", "e"], 3)


@pytest.fixture
async def expiring(
    vector_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PostgresStore]:
    """A store with `b`, and `d` whose version ends in 12 hours. Its writes read a clock that `tomorrow` advances."""
    queries = load_queries()
    texts = {name: queries[name] for name in queries.names()} | {"read_clock": READ_CLOCK}
    monkeypatch.setattr(postgres_store, "load_queries", lambda: Queries(texts))
    async with superuser(vector_database) as admin:
        await admin.execute(MAKE_CLOCK)
    async with open_vector_store(vector_database) as store:
        await put(store, [document("b", "b text"), document("d", "d text")])
        later = document("d", "d later", valid_time=utc_now() + timedelta(hours=12))
        await put(store, [later])
        yield store


async def tomorrow(database: TestDatabase) -> None:
    """Advances the clock of running writes by a day."""
    async with superuser(database) as other:
        await other.execute("update clock set ahead = interval '1 day'")


async def test_a_document_is_reported_as_unchanged_if_its_version_ends_while_its_batch_waits(
    expiring: PostgresStore, vector_database: TestDatabase
) -> None:
    async with (
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
        locked_document(vector_database, "b") as admin,
    ):
        batch = [document("b", "b changed"), document("d", "d text")]
        writing = group.create_task(put(expiring, batch))
        await until_waiting(admin, 1)
        await tomorrow(vector_database)
    outcomes = writing.result()
    assert (outcomes["b"].version, outcomes["b"].unchanged) == (2, False)
    assert (outcomes["d"].version, outcomes["d"].unchanged) == (1, True)
    assert (await expiring.delete_document(SPACE, "d")).versions == 2


async def test_a_document_is_reported_as_unchanged_if_another_write_stores_its_batch_first(
    expiring: PostgresStore, vector_database: TestDatabase
) -> None:
    batch = [document("b", "b changed"), document("d", "d text")]
    async with (
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
        locked_document(vector_database, "b") as admin,
    ):
        first = group.create_task(put(expiring, batch[:1]))
        await until_waiting(admin, 1)
        second = group.create_task(put(expiring, batch))
        await until_waiting(admin, 2)
        await tomorrow(vector_database)
    assert not first.result()["b"].unchanged
    outcomes = second.result()
    assert (outcomes["b"].version, outcomes["b"].unchanged) == (2, True)
    assert (outcomes["d"].version, outcomes["d"].unchanged) == (1, True)
