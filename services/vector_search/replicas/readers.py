"""Reads by round robin over usable replicas; by the primary where a replica lacks what the caller may have written.

While a replica reads, the primary is asked for the space's revision, which every write raises in its own transaction.
The replica's is in what it found, or is read before on the same connection. Where it is older, what was found is not
used, and the primary answers: through whichever process the write went, and without a token that callers would have to
carry. The primary answers one row by its key for each read; searching is the replica's.

A replica that hangs answers nothing, not even that it fails. It has half of the caller's time, and none once it is left
out: the rest is the primary's.
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
    """The replica has not replayed all that the caller may have written."""


class Replica:
    """One replica: its connections, whether it is used, and how far behind it is, in seconds."""

    def __init__(self, name: str, pool: Pool, probe: Pool) -> None:
        """`name` is its place in the settings; `probe` is for the monitor, so that it never queues behind reads."""
        self.name = name
        self.pool = pool
        self.probe = probe
        self.usable = False
        self.lag = 0.0
        self._left_out: asyncio.Future[None] | None = None

    async def wait(self, reading: asyncio.Task[T], seconds: float | None) -> None:
        """Until the task is done, the replica is left out, or so many seconds are over."""
        if self._left_out is None:
            self._left_out = asyncio.get_running_loop().create_future()
        await asyncio.wait(
            (reading, self._left_out), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )

    def use(self, *, usable: bool, reason: str = "") -> None:
        """Takes it in or leaves it out; a change is logged."""
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
    """Where reads go. Without replicas, straight to the primary."""

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
        """What `work` finds in a state of the space that has all that was written before this call.

        `revision_of` takes the space's revision from what was found, where that has it: then it is not asked for first.
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
                raise  # the primary is away: there is no telling what was written
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
        """Ends what is still running. Not awaited: a connection to a server that hangs takes its time to end."""
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
    """How far a server's log goes, in bytes; None while it does not answer in time."""
    asking = asyncio.create_task(_position(pool, queries))
    done, _ = await asyncio.wait({asking}, timeout=seconds)
    if not done:
        # Not awaited: a connection to a server that hangs takes its time to be given up.
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
