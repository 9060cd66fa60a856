"""Reads by round robin over usable replicas; by the primary where a replica lacks what the caller may have written.

While a replica reads, the primary is asked for the space's revision, which every write raises in its own transaction.
The replica's is in what it found, or is read before on the same connection. Where it is older, what was found is not
used, and the primary answers: through whichever process the write went, and without a token that callers would have to
carry. The primary answers one row by its key for each read; searching is the replica's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from services.runtime.errors import BraidError, StoreUnavailableError
from services.runtime.instruments import REPLICA_READS, counter
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

    from services.postgres.pool import Pool, Session
    from services.runtime.queries import Queries

T = TypeVar("T")
Work = Callable[["Session"], Awaitable[T]]


class Replica:
    """One replica: its connections, whether it is used, and how far behind it is, in seconds."""

    def __init__(self, name: str, pool: Pool, probe: Pool) -> None:
        """`name` is its place in the settings; `probe` is for the monitor, so that it never queues behind reads."""
        self.name = name
        self.pool = pool
        self.probe = probe
        self.usable = False
        self.lag = 0.0

    def use(self, *, usable: bool, reason: str = "") -> None:
        """Takes it in or leaves it out; a change is logged."""
        if usable != self.usable:
            log = get_logger("replicas")
            if usable:
                log.info("replica is used", replica=self.name)
            else:
                log.warning("replica is left out", replica=self.name, reason=reason)
        self.usable = usable

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
        try:
            async with replica.pool.session() as session:
                if (
                    revision_of is not None
                    or await self._revision_in(session, space) >= await asking
                ):
                    found = await work(session)
                    if revision_of is None or revision_of(found) >= await asking:
                        self._reads.add(1, {"source": "replica", "reason": ""})
                        return found
        except StoreUnavailableError:
            if _has_failed(asking):
                raise  # the primary is away: there is no telling what was written
            replica.use(usable=False, reason="unavailable")
            return await self._instead_of_replica("unavailable", work)
        finally:
            asking.cancel()
        return await self._instead_of_replica("behind", work)

    async def close(self) -> None:
        """Closes all connections."""
        await self.primary.close()
        for replica in self.replicas:
            await replica.close()

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
