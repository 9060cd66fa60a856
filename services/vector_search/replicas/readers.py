"""Reads by round robin over usable replicas, or from the primary if a replica lacks a possible write of the caller.

While a replica reads, the primary is queried for the space's revision, which every write raises in its own transaction.
The replica's revision is part of the result, or is read before it on the same connection. If it is older, the result is
discarded and the primary answers. This works whichever process made the write, and without a token that callers would
have to carry. The primary answers one row by its key for each read; the search itself runs on the replica.

A hanging replica returns nothing, not even an error. It gets half of the caller's time, or less once it is excluded;
the rest is for the primary.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from services.runtime.context import share_of_remaining
from services.runtime.errors import BraidError, StoreUnavailableError
from services.runtime.instruments import REPLICA_READS, counter
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

    from services.postgres.pool import Pool, Session
    from services.runtime.queries import Queries

T = TypeVar("T")
Work = Callable[["Session"], Awaitable[T]]

_REPLICA_SHARE = 0.5


class _BehindError(Exception):
    """The replica has not replayed everything that the caller may have written."""


class Replica:
    """One replica: its connections, whether it is usable, and its lag in seconds."""

    def __init__(self, name: str, pool: Pool, probe: Pool) -> None:
        """`name` is its position in the settings; `probe` is for the monitor, so that it never queues behind reads."""
        self.name = name
        self.pool = pool
        self.probe = probe
        self.usable = False
        self.lag = 0.0
        self._left_out: asyncio.Future[None] | None = None

    async def wait(self, reading: asyncio.Task[T], seconds: float | None) -> None:
        """Waits until the task is done, the replica is excluded, or `seconds` have passed."""
        if self._left_out is None:
            self._left_out = asyncio.get_running_loop().create_future()
        await asyncio.wait(
            (reading, self._left_out), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )

    def use(self, *, usable: bool, reason: str = "") -> None:
        """Includes or excludes the replica; logs a change."""
        if usable != self.usable:
            log = get_logger("replicas")
            if usable:
                log.info("replica is used", replica=self.name)
            else:
                log.warning("replica is left out", replica=self.name, reason=reason)
        self.usable = usable
        if not usable and self._left_out is not None:
            self._left_out.set_result(None)
            self._left_out = None

    async def close(self) -> None:
        """Closes its connections."""
        await self.pool.close()
        await self.probe.close()


class Readers:
    """Routes reads. Without replicas, all go to the primary."""

    def __init__(
        self,
        primary: Pool,
        replicas: Sequence[Replica],
        queries: Queries,
        meter: Meter | None = None,
    ) -> None:
        self.primary = primary
        self.replicas = tuple(replicas)
        self._revision = queries["space_revision"]
        self._next = 0
        self._reads = counter(REPLICA_READS, meter)
        self._given_up: set[asyncio.Task[object]] = set()

    async def read(
        self, space: str, work: Work[T], revision_of: Callable[[T], int] | None = None
    ) -> T:
        """Runs `work` in a state of the space that includes all writes before this call, and returns its result.

        `revision_of` returns the space's revision from the result if it is included; else the revision is read first.
        """
        if not self.replicas:
            return await self._on_primary(work)
        replica = self._choose()
        if replica is None:
            return await self._instead_of_replica("none", work)
        asking = asyncio.create_task(self._written(space))
        reading = asyncio.create_task(
            self._on_replica(replica, space, work, revision_of=revision_of, written=asking)
        )
        try:
            await replica.wait(reading, share_of_remaining(_REPLICA_SHARE))
            if reading.done():
                found = reading.result()
                self._reads.add(1, {"source": "replica", "reason": ""})
                return found
            reason = "slow"
        except _BehindError:
            reason = "behind"
        except StoreUnavailableError:
            if _has_failed(asking):
                raise  # The primary is unavailable: it is unknown what was written.
            replica.use(usable=False, reason="unavailable")
            reason = "unavailable"
        finally:
            asking.cancel()
            self._give_up(reading)
        return await self._instead_of_replica(reason, work)

    async def close(self) -> None:
        """Closes all connections."""
        await self.primary.close()
        for replica in self.replicas:
            await replica.close()

    async def _on_replica(
        self,
        replica: Replica,
        space: str,
        work: Work[T],
        *,
        revision_of: Callable[[T], int] | None,
        written: asyncio.Task[int],
    ) -> T:
        async with replica.pool.session() as session:
            if revision_of is None and await self._revision_in(session, space) < await written:
                raise _BehindError
            found = await work(session)
            if revision_of is not None and revision_of(found) < await written:
                raise _BehindError
            return found

    def _give_up(self, reading: asyncio.Task[T]) -> None:
        """Cancels a running read. Not awaited, as a connection to a hanging server takes time to end."""
        if not reading.done():
            reading.cancel()
            self._given_up.add(reading)
            reading.add_done_callback(self._forget)

    def _forget(self, reading: asyncio.Task[T]) -> None:
        self._given_up.discard(reading)
        if not reading.cancelled():
            reading.exception()

    def _choose(self) -> Replica | None:
        usable = [replica for replica in self.replicas if replica.usable]
        if not usable:
            return None
        self._next += 1
        return usable[self._next % len(usable)]

    async def _written(self, space: str) -> int:
        async with self.primary.session() as session:
            return await self._revision_in(session, space)

    async def _revision_in(self, session: Session, space: str) -> int:
        return await session.value(self._revision, space) or 0

    async def _instead_of_replica(self, reason: str, work: Work[T]) -> T:
        self._reads.add(1, {"source": "primary", "reason": reason})
        return await self._on_primary(work)

    async def _on_primary(self, work: Work[T]) -> T:
        async with self.primary.session() as session:
            return await work(session)


def _has_failed(task: asyncio.Task[int]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


async def position(pool: Pool, queries: Queries, seconds: float) -> int | None:
    """Returns a server's log position, in bytes; None if it does not answer in time."""
    asking = asyncio.create_task(_position(pool, queries))
    done, _ = await asyncio.wait({asking}, timeout=seconds)
    if not done:
        # Not awaited, as a connection to a hanging server takes time to close.
        asking.cancel()
        return None
    return asking.result()


async def _position(pool: Pool, queries: Queries) -> int | None:
    try:
        async with pool.session() as session:
            found: int | None = await session.value(queries["log_position"])
    except (BraidError, TimeoutError):
        return None
    return found
