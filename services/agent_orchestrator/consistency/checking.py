"""One pass over a space: compares both stores by id in constant memory, regardless of their size.

The stores are read at different times, and jobs write to one after the other. Apparent inconsistencies are therefore
checked again: first whether unfinished work concerns them, then, in both stores, whether they still exist.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from braid.agent.v1 import consistency_pb2
from services.agent_orchestrator.clients.inventories import (
    DOCUMENTS,
    GraphInventory,
    Ref,
    VectorInventory,
    in_parts,
)
from services.runtime.context import current_call

Kind: TypeAlias = "consistency_pb2.InconsistencyKind.ValueType"

CHUNK = consistency_pb2.INCONSISTENCY_KIND_CHUNK_WITHOUT_EPISODE
EPISODE = consistency_pb2.INCONSISTENCY_KIND_EPISODE_WITHOUT_CHUNK
DOCUMENT = consistency_pb2.INCONSISTENCY_KIND_UNKNOWN_DOCUMENT
ENTITY = consistency_pb2.INCONSISTENCY_KIND_ENTITY_WITHOUT_MENTION
DEAD = consistency_pb2.INCONSISTENCY_KIND_DEAD_JOB


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """One inconsistency; `document_id` is "" if it belongs to no document."""

    kind: Kind
    id: str
    document_id: str = ""


@dataclass(slots=True)
class InconsistencyReport:
    """A report under construction. `max_listed` bounds its size, regardless of the number of inconsistencies."""

    max_listed: int
    chunks: int = 0
    episodes: int = 0
    graph_documents: int = 0
    entities: int = 0
    pending: int = 0
    found: Counter[Kind] = field(default_factory=Counter)
    repaired: Counter[Kind] = field(default_factory=Counter)
    listed: list[Inconsistency] = field(default_factory=list)

    def note(self, findings: Iterable[Inconsistency]) -> None:
        """Counts findings, and lists them up to the limit."""
        for finding in findings:
            if self.found[finding.kind] < self.max_listed:
                self.listed.append(finding)
            self.found[finding.kind] += 1

    def report(self) -> consistency_pb2.ConsistencyReport:
        """Returns the contract's report."""
        listed = sorted(self.listed, key=lambda finding: finding.kind)
        return consistency_pb2.ConsistencyReport(
            chunk_count=self.chunks,
            episode_count=self.episodes,
            graph_document_count=self.graph_documents,
            entity_count=self.entities,
            pending_count=self.pending,
            counts=[
                consistency_pb2.InconsistencyCount(
                    kind=kind, found_count=count, repaired_count=self.repaired[kind]
                )
                for kind, count in sorted(self.found.items())
            ],
            listed=[
                consistency_pb2.Inconsistency(kind=one.kind, id=one.id, document_id=one.document_id)
                for one in listed
            ],
            consistent=all(self.repaired[kind] >= count for kind, count in self.found.items()),
        )


class UnmatchedRef(NamedTuple):
    """An item that only one stream has: the first stream if `first` is true."""

    first: bool
    ref: Ref


@dataclass(slots=True)
class Seen:
    """Number of items that each stream has yielded so far."""

    first: int = 0
    second: int = 0


async def symmetric_difference(
    first: AsyncIterator[Ref], second: AsyncIterator[Ref], seen: Seen
) -> AsyncIterator[UnmatchedRef]:
    """Yields the items that only one of two streams has, in order; both must be sorted by id, and are read once."""
    left, right = await anext(first, None), await anext(second, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left.id < right.id):
            assert left is not None  # noqa: S101 - for the type checker
            yield UnmatchedRef(True, left)
        elif left is None or right.id < left.id:
            yield UnmatchedRef(False, right)
        if left is None or (right is not None and right.id < left.id):
            seen.second += 1
            right = await anext(second, None)
        elif right is None or left.id < right.id:
            seen.first += 1
            left = await anext(first, None)
        else:
            seen.first, seen.second = seen.first + 1, seen.second + 1
            left, right = await anext(first, None), await anext(second, None)


SUSPECTS = 1_000
# Longer than an undisturbed write takes from the first store to the second.
SETTLE_SECONDS = 0.5


class DeadWork(Protocol):
    """Failed work of a job."""

    @property
    def job_id(self) -> str:
        """The id of the job."""
        ...

    @property
    def document_id(self) -> str:
        """The id of its document, "" for a whole job."""
        ...


class Work(Protocol):
    """The check's access to jobs."""

    async def in_progress(self, space: str, document_ids: Sequence[str]) -> set[str]:
        """Returns the given documents that unfinished jobs may still write or delete."""
        ...

    def dead(self, space: str) -> AsyncIterator[DeadWork]:
        """Yields failed work that a retry may repair."""
        ...

    async def retry(self, space: str, job_id: str) -> bool:
        """Retries a job's failed work; returns whether there was any."""
        ...


class Repairer(Protocol):
    """Repairs findings."""

    async def repair(self, findings: Sequence[Inconsistency]) -> int:
        """Repairs findings of one kind, as many as possible; returns how many."""
        ...


class Check:
    """Checks the current call's space; with a repairer, it repairs findings immediately."""

    def __init__(
        self,
        vector: VectorInventory,
        graph: GraphInventory,
        work: Work,
        *,
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        self._vector = vector
        self._graph = graph
        self._work = work
        self._settle_seconds = settle_seconds

    async def run(self, max_listed: int, repairer: Repairer | None = None) -> InconsistencyReport:
        """Runs the whole pass. Raises an error if a store is unavailable; repairs made before remain."""
        tally = InconsistencyReport(max_listed)
        for found in (
            self._dead(),
            self._documents(tally),
            self._pairs(tally),
            self._unjoined_entities(tally),
        ):
            async for findings in found:
                tally.note(findings)
                if repairer is not None and findings:
                    tally.repaired[findings[0].kind] += await repairer.repair(findings)
        return tally

    async def _dead(self) -> AsyncIterator[Sequence[Inconsistency]]:
        dead = self._work.dead(current_call().space)
        async for part in in_parts(dead, SUSPECTS):
            yield [Inconsistency(DEAD, one.job_id, one.document_id) for one in part]

    async def _documents(
        self, tally: InconsistencyReport
    ) -> AsyncIterator[Sequence[Inconsistency]]:
        async for page in self._graph.documents():
            tally.graph_documents += len(page)
            unknown = await self._unknown(page)
            if not unknown:
                continue
            await asyncio.sleep(self._settle_seconds)
            idle = await self._idle(unknown)
            yield [Inconsistency(DOCUMENT, one, one) for one in await self._unknown(idle)]

    async def _unknown(self, documents: Sequence[str]) -> list[str]:
        known = await self._vector.find_documents(documents)
        return [document for document in documents if document not in known]

    async def _pairs(self, tally: InconsistencyReport) -> AsyncIterator[Sequence[Inconsistency]]:
        seen = Seen()
        suspects = symmetric_difference(self._vector.chunks(), self._graph.episodes(), seen)
        async for part in in_parts(suspects, SUSPECTS):
            await asyncio.sleep(self._settle_seconds)
            idle = set(await self._idle([suspect.ref.document_id for suspect in part]))
            still = [suspect for suspect in part if suspect.ref.document_id in idle]
            tally.pending += len(part) - len(still)
            yield await self._without_episode([one.ref for one in still if one.first])
            yield await self._without_chunk([one.ref for one in still if not one.first])
        tally.chunks, tally.episodes = seen.first, seen.second

    async def _without_episode(self, refs: Sequence[Ref]) -> list[Inconsistency]:
        """Checks again: whether the graph lacks the episode, then whether the chunk still exists."""
        ids = [ref.id for ref in refs]
        there = await self._graph.find_episodes(ids)
        left = await self._vector.find_chunks([one for one in ids if one not in there])
        return [Inconsistency(CHUNK, ref.id, ref.document_id) for ref in refs if ref.id in left]

    async def _without_chunk(self, refs: Sequence[Ref]) -> list[Inconsistency]:
        ids = [ref.id for ref in refs]
        there = await self._vector.find_chunks(ids)
        left = await self._graph.find_episodes([one for one in ids if one not in there])
        return [Inconsistency(EPISODE, ref.id, ref.document_id) for ref in refs if ref.id in left]

    async def _unjoined_entities(
        self, tally: InconsistencyReport
    ) -> AsyncIterator[Sequence[Inconsistency]]:
        token, more = "", True
        while more:
            page = await self._graph.entities(token)
            tally.entities += page.looked_through
            if page.unjoined:
                await asyncio.sleep(self._settle_seconds)
                again = {uuid for uuid, _ in (await self._graph.entities(token)).unjoined}
                yield [Inconsistency(ENTITY, uuid) for uuid, _ in page.unjoined if uuid in again]
            token, more = page.next_token, bool(page.next_token)

    async def _idle(self, documents: Sequence[str]) -> list[str]:
        """Returns the documents without unfinished jobs. Called before the stores are checked again, so that everything
        a job has written by its end is seen there.
        """
        space, distinct = current_call().space, list(dict.fromkeys(documents))
        busy: set[str] = set()
        for start in range(0, len(distinct), DOCUMENTS):
            busy |= await self._work.in_progress(space, distinct[start : start + DOCUMENTS])
        return [document for document in distinct if document not in busy]
