"""Warms Neo4j's query plan cache before a caller has to wait for it.

Neo4j plans a query when it first receives it, which takes 0.1 to 4 s after its start. It plans a query twice if two
callers send it at the same time, so searches wait until their queries are planned.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

Connect = Callable[[], Awaitable[None]]


WarmUp = Callable[[str], Awaitable[None]]


# In the order in which a search for facts needs them.
SEARCH_QUERIES = (
    "search_facts",
    "search_vector_exact",
    "search_sentences",
    "facts_in_full",
)


# In the order in which the comprehensive search needs them to expand its list.
EXPANSION_QUERIES = (
    "entities_by_link_key",
    "entities_titled",
    "mention_subgraph",
)


# In the order in which they are needed: search, ingestion, browsing. Rarely used queries stay cold: each plan costs
# Neo4j a megabyte, and the stack's start a quarter of a second of CPU time.
WARMED_QUERIES = (
    *SEARCH_QUERIES,
    *EXPANSION_QUERIES,
    "search_state",
    "create_space",
    "lock_space",
    # Used by the write of a given fact.
    "names_by_key",
    "create_entities",
    "facts_by_uuid",
    "create_facts",
    "facts_with_endings",
    "raise_revision",
    "gazetteer_names",
    "passages_by_uuid",
    "passages_with_words",
    "known_entities",
    "create_documents",
    "create_passages",
    "create_mentions",
    "create_sentences",
    "count_mentions",
    "link_names",
    "entities_named",
    "neighbors",
    "list_entities",
    "list_entities_by_mentions",
    "search_vector_index",
    "search_vector_relation",
    # How the fixed formula is computed: planning it takes longer than a search gives it.
    "relations_around",
)


# The pause after each query that searches do not wait for, as a share of the time it took: the rest of the stack is
# starting too.
_REST = 1.0
# The longest wait for a write. Writes that time out while planning their own queries and are retried would otherwise
# keep the plans cold forever.
_MAX_PAUSE_SECONDS = 0.25


# How soon after an outage warm-up begins, and a round that failed is repeated.
_RETRY_SECONDS = 0.2


# How many of a search's queries are planned at a time. On two cores two are planned a second sooner than one after the
# other; Java's compilers need what is left. Once they are, searches run, and one query is planned at a time.
_AT_A_TIME = 2


class PendingPlans:
    """Queries about to be planned. Callers wait for these plans, as Neo4j would otherwise make each of them twice."""

    def __init__(self) -> None:
        self._planned: dict[str, asyncio.Event] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._planned

    def add(self, names: Iterable[str]) -> None:
        """Makes callers of these queries wait."""
        for name in names:
            self._planned.setdefault(name, asyncio.Event())

    def remove(self, name: str) -> None:
        """Lets the callers of a query go on: it is planned, or cannot be."""
        if planned := self._planned.pop(name, None):
            planned.set()

    def clear(self) -> None:
        """Lets all callers go on."""
        for name in list(self._planned):
            self.remove(name)

    async def wait(self, name: str) -> None:
        """Returns once a query is not pending; has no time limit of its own."""
        if planned := self._planned.get(name):
            await planned.wait()


class QueryPlanWarmer:
    """Warms queries once Neo4j is up, and again after each of its outages.

    Attributes:
        warming: whether a round runs, or waits for Neo4j: whatever else is planned meanwhile delays searches.
        rounds: how many rounds have ended.
    """

    def __init__(
        self,
        connect: Connect,
        warm_up: WarmUp,
        pending: PendingPlans,
        *,
        names: Sequence[str] = WARMED_QUERIES,
        searched: Sequence[str] = SEARCH_QUERIES,
        expanded: Sequence[str] = EXPANSION_QUERIES,
        max_pause_seconds: float = _MAX_PAUSE_SECONDS,
    ) -> None:
        """`searched` and then `expanded` are those of `names` that are warmed first, and are `pending` until then.

        `connect` raises a BraidError while Neo4j takes no connections.
        """
        self._connect = connect
        self._warm_up = warm_up
        self._pending = pending
        self._names = [name for name in names if name not in {*searched, *expanded}]
        self._searched = [name for name in names if name in searched]
        self._expanded = [name for name in names if name in expanded]
        self._max_pause_seconds = max_pause_seconds
        self._cold = asyncio.Event()
        self._writes = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.warming = False
        self.rounds = 0

    @contextmanager
    def pause_for_write(self) -> Iterator[None]:
        """Delays warm-up briefly while a write runs: it plans its own queries, and both would use all cores."""
        self._writes += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._writes -= 1
            if not self._writes:
                self._quiet.set()

    def start(self) -> None:
        """Starts the next round; called for a new server and after an outage, which leaves Neo4j without plans."""
        self._cold.set()

    async def run(self) -> None:
        """Waits until Neo4j needs warming and warms it, until cancelled."""
        while True:
            await self._cold.wait()
            self.warming = True
            try:
                await self._connected()
                self._cold.clear()
                self._pending.add([*self._searched, *self._expanded])
                await self._warm()
            except BraidError as error:
                # An outage, or Neo4j is too busy to plan in time. Finished plans stay cached.
                get_logger("warming").debug("warming ends early", reason=error.message)
                self.start()
            finally:
                self.warming = False
                self._pending.clear()
            if self._cold.is_set():
                await asyncio.sleep(_RETRY_SECONDS)

    async def _connected(self) -> None:
        """Returns once Neo4j takes connections; searches meanwhile fail at once, as no plan is pending."""
        while True:
            with suppress(BraidError):
                await self._connect()
                return
            await asyncio.sleep(_RETRY_SECONDS)

    async def _warm(self) -> None:
        started = time.perf_counter()
        await self._plan_pending(self._searched, _AT_A_TIME)
        await self._plan_pending(self._expanded, 1)
        for name in self._names:
            await self._plan(name)
        self.rounds += 1
        get_logger("warming").info(
            "plans are warm", seconds=round(time.perf_counter() - started, 2)
        )

    async def _plan_pending(self, pending: Sequence[str], at_a_time: int) -> None:
        names = iter(pending)

        async def plan() -> None:
            for name in names:
                await self._warm_up(name)
                self._pending.remove(name)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_a_time):
                    group.create_task(plan())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _plan(self, name: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._max_pause_seconds):
                await self._quiet.wait()
        before = time.perf_counter()
        await self._warm_up(name)
        await asyncio.sleep((time.perf_counter() - before) * _REST)
