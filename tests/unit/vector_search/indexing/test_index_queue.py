"""Vectors are indexed once writes pause, sooner if many are queued, and by the writers if very many are queued."""

from __future__ import annotations

import asyncio

from services.runtime.errors import StoreUnavailableError
from services.vector_search.indexing.index_queue import IndexQueue

NEVER = 3_600.0


class StubIndexStore:
    """An index store with the number of queued vectors of each space."""

    def __init__(self, **spaces: int) -> None:
        self.spaces = spaces
        self.unavailable = False
        self.broken: set[str] = set()
        self.on_empty: asyncio.Event | None = None

    async def unindexed_count(self, space: str, limit: int) -> int:
        """Returns the number of queued vectors, at most `limit`."""
        self._answer()
        return min(self.spaces[space], limit)

    async def spaces_to_index(self) -> list[str]:
        """Returns the spaces with queued vectors."""
        self._answer()
        return [space for space, waiting in self.spaces.items() if waiting]

    async def index_vectors(self, space: str, limit: int) -> int:
        """Removes up to `limit` vectors from the queue."""
        self._answer()
        if space in self.broken:
            raise RuntimeError("could not read block 7")
        moved = min(self.spaces[space], limit)
        self.spaces[space] -= moved
        if self.on_empty and not any(self.spaces.values()):
            self.on_empty.set()
        return moved

    def _answer(self) -> None:
        if self.unavailable:
            raise StoreUnavailableError("postgresql")


async def test_a_space_is_not_indexed_while_it_is_being_written() -> None:
    store = StubIndexStore(a=500)
    indexing = IndexQueue(store, idle_seconds=NEVER)
    await indexing.written("a", 500)
    await indexing.turn()
    assert store.spaces == {"a": 500}


async def test_after_a_pause_all_queued_vectors_of_the_space_are_indexed() -> None:
    store = StubIndexStore(a=500, b=3)
    indexing = IndexQueue(store, idle_seconds=0)
    await indexing.written("a", 500)
    await indexing.turn()
    assert store.spaces == {"a": 0, "b": 3}


async def test_a_space_without_a_pause_is_indexed_after_the_longest_wait() -> None:
    store = StubIndexStore(a=500)
    indexing = IndexQueue(store, idle_seconds=NEVER, max_wait_seconds=0)
    await indexing.written("a", 500)
    await indexing.turn()
    assert store.spaces == {"a": 0}


async def test_a_round_indexes_vectors_that_other_processes_left() -> None:
    store = StubIndexStore(a=500, b=300)
    await IndexQueue(store, idle_seconds=NEVER).round()
    assert store.spaces == {"a": 0, "b": 0}


async def test_many_queued_vectors_are_indexed_without_a_pause() -> None:
    store = StubIndexStore(a=500)
    indexing = IndexQueue(store, idle_seconds=NEVER, busy_backlog=200)
    await indexing.written("a", 500)
    await indexing.turn()
    assert 0 < store.spaces["a"] < 200


async def test_a_writer_to_a_full_backlog_indexes_as_many_vectors_as_it_wrote() -> None:
    store = StubIndexStore(a=1_000)
    indexing = IndexQueue(store, idle_seconds=NEVER, max_backlog=1_000)
    await indexing.written("a", 250)
    assert store.spaces["a"] == 750
    await indexing.written("a", 250)
    assert store.spaces["a"] == 750


async def test_a_write_does_not_fail_if_the_store_is_unavailable_for_indexing() -> None:
    store = StubIndexStore(a=1_000)
    store.unavailable = True
    await IndexQueue(store).written("a", 250)
    assert store.spaces["a"] == 1_000


async def test_a_write_without_vectors_indexes_nothing() -> None:
    store = StubIndexStore(a=1_000)
    await IndexQueue(store, max_backlog=1_000).written("a", 0)
    assert store.spaces == {"a": 1_000}


async def test_indexing_runs_concurrently_with_a_block_and_survives_an_outage() -> None:
    store = StubIndexStore(a=500)
    store.on_empty = asyncio.Event()
    store.unavailable = True
    indexing = IndexQueue(store, idle_seconds=0)
    async with indexing.running():
        await asyncio.sleep(0)
        store.unavailable = False
        await indexing.written("a", 500)
        async with asyncio.timeout(10):
            await store.on_empty.wait()
    assert store.spaces == {"a": 0}


async def test_a_write_does_not_fail_if_its_index_is_broken() -> None:
    store = StubIndexStore(a=50)
    store.broken = {"a"}
    indexing = IndexQueue(store, idle_seconds=0, max_backlog=1)
    await indexing.written("a", 50)
    assert store.spaces == {"a": 50}


async def test_vectors_written_during_an_outage_are_indexed_after_it() -> None:
    store = StubIndexStore(a=50)
    store.unavailable = True
    indexing = IndexQueue(store, idle_seconds=0)
    await indexing.written("a", 50)
    store.unavailable = False
    await indexing.turn()
    assert store.spaces == {"a": 0}


async def test_a_failing_space_does_not_delay_others_and_is_retried_in_the_next_round() -> None:
    store = StubIndexStore(a=50, b=250)
    store.broken = {"a"}
    indexing = IndexQueue(store, idle_seconds=0)
    await indexing.round()
    assert store.spaces == {"a": 50, "b": 0}
    store.broken = set()
    await indexing.turn()
    assert store.spaces == {"a": 50, "b": 0}
    await indexing.round()
    assert store.spaces == {"a": 0, "b": 0}
