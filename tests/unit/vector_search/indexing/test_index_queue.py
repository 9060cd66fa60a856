"""When vectors enter the index: once writes pause, sooner where many wait, by the writers where very many do."""

from __future__ import annotations

import asyncio

from services.runtime.errors import StoreUnavailableError
from services.vector_search.indexing.index_queue import IndexQueue

NEVER = 3_600.0


class Waiting:
    """Spaces by how many of their vectors wait."""

    def __init__(self, **spaces: int) -> None:
        self.spaces = spaces
        self.away = False
        self.broken: set[str] = set()
        self.on_last: asyncio.Event | None = None

    async def unindexed_count(self, space: str, most: int) -> int:
        """As the store counts them."""
        self._answer()
        return min(self.spaces[space], most)

    async def spaces_to_index(self) -> list[str]:
        """Those with any."""
        self._answer()
        return [space for space, waiting in self.spaces.items() if waiting]

    async def index_vectors(self, space: str, most: int) -> int:
        """Takes them off."""
        self._answer()
        if space in self.broken:
            raise RuntimeError("could not read block 7")
        moved = min(self.spaces[space], most)
        self.spaces[space] -= moved
        if self.on_last and not any(self.spaces.values()):
            self.on_last.set()
        return moved

    def _answer(self) -> None:
        if self.away:
            raise StoreUnavailableError("postgresql")


async def test_a_space_that_is_being_written_to_waits() -> None:
    store = Waiting(a=500)
    indexing = IndexQueue(store, idle_seconds=NEVER)
    await indexing.written("a", 500)
    await indexing.turn()
    assert store.spaces == {"a": 500}


async def test_after_a_pause_all_of_it_is_brought_in() -> None:
    store = Waiting(a=500, b=3)
    indexing = IndexQueue(store, idle_seconds=0)
    await indexing.written("a", 500)
    await indexing.turn()
    assert store.spaces == {"a": 0, "b": 3}


async def test_it_does_not_wait_for_a_pause_for_ever() -> None:
    store = Waiting(a=500)
    indexing = IndexQueue(store, idle_seconds=NEVER, max_wait_seconds=0)
    await indexing.written("a", 500)
    await indexing.turn()
    assert store.spaces == {"a": 0}


async def test_what_others_left_is_found_by_a_round() -> None:
    store = Waiting(a=500, b=300)
    await IndexQueue(store, idle_seconds=NEVER).round()
    assert store.spaces == {"a": 0, "b": 0}


async def test_where_many_wait_writes_need_not_pause() -> None:
    store = Waiting(a=500)
    indexing = IndexQueue(store, idle_seconds=NEVER, busy_backlog=200)
    await indexing.written("a", 500)
    await indexing.turn()
    assert 0 < store.spaces["a"] < 200


async def test_where_very_many_wait_a_writer_brings_in_as_many_as_it_wrote() -> None:
    store = Waiting(a=1_000)
    indexing = IndexQueue(store, idle_seconds=NEVER, max_backlog=1_000)
    await indexing.written("a", 250)
    assert store.spaces["a"] == 750
    await indexing.written("a", 250)
    assert store.spaces["a"] == 750


async def test_a_write_does_not_fail_because_the_index_has_to_wait() -> None:
    store = Waiting(a=1_000)
    store.away = True
    await IndexQueue(store).written("a", 250)
    assert store.spaces["a"] == 1_000


async def test_a_write_without_vectors_asks_nothing() -> None:
    store = Waiting()
    await IndexQueue(store).written("unknown", 0)
    assert store.spaces == {}


async def test_it_runs_beside_a_block_and_survives_an_outage() -> None:
    store = Waiting(a=500)
    store.on_last = asyncio.Event()
    store.away = True
    indexing = IndexQueue(store, idle_seconds=0)
    async with indexing.running():
        await asyncio.sleep(0)
        store.away = False
        await indexing.written("a", 500)
        async with asyncio.timeout(10):
            await store.on_last.wait()
    assert store.spaces == {"a": 0}


async def test_a_write_does_not_fail_because_its_index_is_broken() -> None:
    store = Waiting(a=50)
    store.broken = {"a"}
    indexing = IndexQueue(store, idle_seconds=0, max_backlog=1)
    await indexing.written("a", 50)
    assert store.spaces == {"a": 50}


async def test_what_is_written_during_an_outage_has_its_turn_after_it() -> None:
    store = Waiting(a=50)
    store.away = True
    indexing = IndexQueue(store, idle_seconds=0)
    await indexing.written("a", 50)
    store.away = False
    await indexing.turn()
    assert store.spaces == {"a": 0}


async def test_a_space_that_fails_holds_up_no_other_one_and_is_tried_again() -> None:
    store = Waiting(a=50, b=250)
    store.broken = {"a"}
    indexing = IndexQueue(store, idle_seconds=0)
    await indexing.round()
    assert store.spaces == {"a": 50, "b": 0}
    store.broken = set()
    await indexing.turn()
    assert store.spaces == {"a": 50, "b": 0}
    await indexing.round()
    assert store.spaces == {"a": 0, "b": 0}
