"""A space's search stage: makes its uploads searchable in concurrent steps, connected by short queues.

The embedder is the slowest step by far. While it works on one batch, the next is parsed and checked, and the previous
one is stored and recorded, so that the whole takes little longer than the embedder alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field

from services.agent_orchestrator.ingest.pipeline.batches import (
    MAX_TAKES,
    UPLOADS_AT_ONCE,
    Batch,
    Parse,
    Reader,
    ended_jobs,
)
from services.agent_orchestrator.ingest.pipeline.stages import Stages
from services.agent_orchestrator.jobs.queue import SEARCH, Turn, TurnLostError
from services.agent_orchestrator.jobs.retries import reason_of
from services.agent_orchestrator.jobs.time_slice import (
    StagePriority,
    TimeSlice,
    WaitingError,
    call_of,
    leaf_exceptions,
    waiting,
)
from services.agent_orchestrator.jobs.work_store import TakenUpload, WorkStore
from services.runtime.context import call_scope
from services.runtime.errors import BraidError

# Batches that wait between two steps, so that one is ready whenever the next step is.
WAITING = 1
BYTES_AT_ONCE = 8 * 1024 * 1024
# Bytes reserved for the rest of a message around its documents.
ENVELOPE = 64 * 1024
# Claims before a job fails. A single document that crashes the worker is found and listed earlier, after MAX_TAKES.
MAX_JOB_TAKES = MAX_TAKES + 3

# A batch that takes longer than this is reported as the reason why its jobs wait.
REPORT_SECONDS = 10.0
EMBEDDING = "embedding"

Queue = asyncio.Queue[Batch | None]
Work = Callable[[Batch], Awaitable[None]]


@dataclass(eq=False, slots=True)
class _Run:
    """One turn in progress."""

    turn: Turn
    time: TimeSlice
    reader: Reader
    on_the_way: Counter[str] = field(default_factory=Counter)
    in_progress: list[Batch] = field(default_factory=list)
    advanced: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    reported: bool = False

    def slow_step(self) -> str:
        """Returns what the oldest batch is doing, if no batch was recorded for some time; else an empty text."""
        seconds = asyncio.get_running_loop().time() - self.advanced
        if seconds < REPORT_SECONDS:
            return ""
        if not self.in_progress:
            return f"reading takes long: {seconds:.0f} s so far"
        batch = self.in_progress[0]
        count = f"{batch.embedded} of {batch.texts} texts in " if batch.step == EMBEDDING else ""
        return f"{batch.step} takes long: {count}{seconds:.0f} s so far"


class SearchTurns:
    """Adds the uploads of spaces to the vector tier."""

    def __init__(
        self,
        work: WorkStore,
        stages: Stages,
        parse: Parse,
        priority: StagePriority,
        *,
        max_message_bytes: int,
        turn_seconds: float,
    ) -> None:
        self._work = work
        self._stages = stages
        self._parse = parse
        self._priority = priority
        self._max_size = max_message_bytes - ENVELOPE
        self._turn_seconds = turn_seconds

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Works until nothing is left to read or the turn's time is used. Raises WaitingError if it must wait."""
        with call_scope(call_of(turn, turn.key)), self._priority.search_runs():
            claimed: set[str] = set()
            try:
                await self._stages_of(turn, stop, claimed)
            except asyncio.CancelledError:
                if stop.is_set():
                    await self._leave(claimed)
                raise
            except Exception as error:
                if any(isinstance(leaf, TurnLostError) for leaf in leaf_exceptions(error)):
                    await self._leave(claimed)
                await self._wait_unless_defect(turn, error, claimed)
                raise

    async def _leave(self, claimed: Collection[str]) -> None:
        """Releases uploads after an interruption, so that it does not count as a worker crash caused by one of them."""
        with suppress(BraidError, TimeoutError):
            await self._work.release_uploads(claimed)

    async def _stages_of(self, turn: Turn, stop: asyncio.Event, claimed: set[str]) -> None:
        async def more(taken: Collection[str]) -> list[TakenUpload]:
            return await self._more(turn, taken)

        reader = Reader(
            more,
            self._parse,
            space=turn.key,
            dimension=await self._stages.dimension(),
            max_size=self._max_size,
            claimed=claimed,
            max_chunks=lambda: self._stages.batch_chunks,
        )
        run = _Run(turn, TimeSlice(self._turn_seconds, stop), reader)
        steps: tuple[tuple[str, Work], ...] = (
            ("checking", lambda batch: self._check(run, batch)),
            (EMBEDDING, lambda batch: self._embed(batch, 0)),
            (EMBEDDING, lambda batch: self._embed(batch, 1)),
            ("storing", self._store),
        )
        async with asyncio.TaskGroup() as group:
            queue: Queue = asyncio.Queue(WAITING)
            group.create_task(_read(self._until_over(run), queue))
            for step, work in steps:
                following: Queue = asyncio.Queue(WAITING)
                group.create_task(_stage(step, work, queue, following))
                queue = following
            reporting = group.create_task(self._report_slow_batches(run))
            await _stage("recording", lambda batch: self._note(run, batch), queue, None)
            reporting.cancel()
        await self._clear_report(run)
        if claimed:
            await self._work.release_uploads(claimed)

    async def _more(self, turn: Turn, taken: Collection[str]) -> list[TakenUpload]:
        uploads = await self._work.claim_uploads(
            turn, taken, count=UPLOADS_AT_ONCE, size=BYTES_AT_ONCE
        )
        lost = [one.job.id for one in uploads if one.takes > MAX_JOB_TAKES]
        if not lost:
            return uploads
        await self._work.fail_jobs(
            turn, lost, f"Its reading ended the worker {MAX_JOB_TAKES} times."
        )
        return await self._more(turn, taken)

    async def _until_over(self, run: _Run) -> AsyncIterator[Batch]:
        async for batch in run.reader.batches():
            run.in_progress.append(batch)
            yield batch
            if run.time.stop.is_set():
                return
            if run.time.used and await self._work.others_waiting(SEARCH):
                return

    async def _check(self, run: _Run, batch: Batch) -> None:
        await self._leave_ended(batch)
        await self._stages.check(batch, run.on_the_way.keys())
        run.on_the_way.update(document.id for document in batch.documents)

    async def _embed(self, batch: Batch, turn: int) -> None:
        # Two batches are embedded concurrently and stored in order: cores that one no longer needs work on the other.
        if batch.number % 2 == turn:
            await self._stages.embed(batch)

    async def _store(self, batch: Batch) -> None:
        await self._leave_ended(batch)
        await self._stages.store(batch)

    async def _leave_ended(self, batch: Batch) -> None:
        """Removes jobs that were cancelled or tried again meanwhile, so that they are not stored."""
        batch.keep(await self._work.unchanged(batch.passes))

    async def _note(self, run: _Run, batch: Batch) -> None:
        run.on_the_way.subtract(document.id for document in batch.documents)
        run.on_the_way += Counter()  # removes counts of 0
        await self._work.record_read(run.turn, batch.outcome())
        run.in_progress.remove(batch)
        run.advanced = asyncio.get_running_loop().time()
        await self._clear_report(run)
        run.reader.claimed.difference_update(ended_jobs(batch))

    async def _report_slow_batches(self, run: _Run) -> None:
        """Records what a slow batch is doing, so that its jobs say why they wait."""
        while True:
            await asyncio.sleep(REPORT_SECONDS / 2)
            reason = run.slow_step()
            if reason:
                run.reported = True
                with suppress(BraidError, TimeoutError):
                    await self._work.set_waiting_reason(run.turn, reason)

    async def _clear_report(self, run: _Run) -> None:
        if run.reported:
            run.reported = False
            await self._work.set_waiting_reason(run.turn, "")

    async def _wait_unless_defect(self, turn: Turn, error: Exception, claimed: set[str]) -> None:
        """Raises WaitingError for a failure that is no document's own: its jobs wait, and say why."""
        reason = waiting(error) or _known(error)
        if reason is not None:
            await self._work.release_uploads(claimed)
            await self._work.set_waiting_reason(turn, reason.reason)
            raise reason from None


def _known(error: Exception) -> WaitingError | None:
    """Returns a tier's failure as a reason to wait, also if waiting may not help: no document is given up for it."""
    known = [leaf for leaf in leaf_exceptions(error) if isinstance(leaf, BraidError)]
    return WaitingError(reason_of(known[0]), None) if known else None


async def _read(source: AsyncIterator[Batch], target: Queue) -> None:
    async for batch in source:
        await target.put(batch)
    await target.put(None)


async def _stage(step: str, work: Work, source: Queue, target: Queue | None) -> None:
    while (batch := await source.get()) is not None:
        batch.step = step
        await work(batch)
        if target is not None:
            await target.put(batch)
    if target is not None:
        await target.put(None)
