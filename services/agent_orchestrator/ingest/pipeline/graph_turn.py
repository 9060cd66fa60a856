"""A space's graph stage: adds its searchable documents to the graph, in order.

A batch is as large as the graph can process in a few seconds: hundreds of passages with the local extractor, one if a
language model needs ten seconds for each. The search stage continues meanwhile, in this and in all other spaces.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby

from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.clients.tiers import GraphTier
from services.agent_orchestrator.ingest.pipeline.episode_retry import MAX_ATTEMPTS
from services.agent_orchestrator.ingest.pipeline.isolation import Evidence, Isolation
from services.agent_orchestrator.ingest.pipeline.stored_episodes import decode_episodes
from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.queue import GRAPH, Turn
from services.agent_orchestrator.jobs.retries import Retries, reason_of
from services.agent_orchestrator.jobs.time_slice import (
    StagePriority,
    TimeSlice,
    WaitingError,
    call_of,
    waiting,
)
from services.agent_orchestrator.jobs.work_store import GraphOutcome, WaitingDocument, WorkStore
from services.models.errors import is_unusable
from services.runtime.context import call_scope, current_call
from services.runtime.errors import BraidError

DOCUMENTS_AT_ONCE = 200
EPISODES_AT_ONCE = 500
# The first batches of a worker, whose queries the graph may have to plan; quick batches double the next one.
FIRST_EPISODES = 32
# Seconds before a passage with an unusable answer is tried again; doubled each time.
AGAIN_SECONDS = 0.25
_GRAPH_STORE = "neo4j"
# A store without information asks for this wait in seconds; one that asks for more knows its own problem.
_DEFAULT_WAIT = 1.0

Documents = Sequence[WaitingDocument]
Refused = list[tuple[WaitingDocument, str]]


class GraphTurns:
    """Adds the searchable documents of spaces to the graph."""

    def __init__(
        self,
        work: WorkStore,
        graph: GraphTier,
        retries: Retries,
        priority: StagePriority,
        *,
        check_serving: Callable[[], Awaitable[None]],
        turn_seconds: float,
    ) -> None:
        self._check_serving = check_serving
        self._priority = priority
        self._work = work
        self._graph = graph
        self._retries = retries
        self._turn_seconds = turn_seconds
        self._batch_sizes: dict[str, AdaptiveBatch] = {}
        self._first = FIRST_EPISODES
        self._progress: dict[int, PartialProgress] = {}
        self._revisions: dict[str, int] = {}
        self._evidence = Evidence("the graph tier")
        # Spaces for which the graph accepts nothing: more of their documents are sent, to find one that it accepts.
        self._failing: set[str] = set()

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Works until nothing waits or the turn's time is used. Raises WaitingError if it cannot continue now."""
        batch_size = self._batch_sizes.setdefault(
            turn.key, AdaptiveBatch(EPISODES_AT_ONCE, first=self._first)
        )
        time = TimeSlice(self._turn_seconds, stop)
        with call_scope(call_of(turn, turn.key)):
            try:
                await self._batches(turn, batch_size, time)
            except Exception as error:
                reason = waiting(error) or _asked(error)
                if reason is None:
                    raise
                await self._work.set_waiting_reason(turn, reason.reason)
                raise reason from None
        if batch_size.is_full:
            self._first = EPISODES_AT_ONCE
        if batch_size.size >= FIRST_EPISODES:
            del self._batch_sizes[turn.key]

    async def _batches(self, turn: Turn, batch_size: AdaptiveBatch, time: TimeSlice) -> None:
        while True:
            if (
                batch_size.size >= FIRST_EPISODES
            ):  # the local extractor uses the same CPU as the search stage
                await self._priority.yield_to_search(time.stop)
            if not await self._batch(turn, batch_size, time.stop) or await self._is_time_over(time):
                return

    async def _batch(self, turn: Turn, batch_size: AdaptiveBatch, stop: asyncio.Event) -> bool:
        chunks = EPISODES_AT_ONCE if turn.key in self._failing else batch_size.size
        documents = await self._work.next_documents(turn, count=DOCUMENTS_AT_ONCE, chunks=chunks)
        if not documents:
            return False
        refused: Refused = []
        try:
            for gone, group in groupby(documents, lambda document: document.gone):
                await self._send(list(group), refused, batch_size, gone=gone)
            self._failing.discard(turn.key)
        except WaitingError:
            self._failing.add(turn.key)
            raise
        except BraidError as error:
            if is_unusable(error):
                await self._tried(turn, documents, error, stop)
                return True
            alone = len(documents) == 1 and batch_size.size == 1
            if not alone or not await self._is_to_blame(turn, documents[0], error):
                if not _is_slow(error):
                    raise
                # The next batch is smaller, or has more time: the turn goes on.
                await self._work.set_waiting_reason(turn, reason_of(error))
                return True
            refused.append((documents[0], reason_of(error)))
        await self._note(turn, documents, refused)
        return True

    async def _note(self, turn: Turn, documents: Documents, refused: Refused) -> None:
        reasons = self._in_part(documents) | {one.number: reason for one, reason in refused}
        ready = [one for one in documents if one.number not in reasons]
        failed = [(one, reasons[one.number]) for one in documents if one.number in reasons]
        await self._work.note_graph(turn, GraphOutcome(ready, failed))
        if revision := self._revisions.pop(turn.key, 0):
            await self._work.note_seen_graph(turn.key, revision)
        for document in documents:
            self._progress.pop(document.number, None)

    def _in_part(self, documents: Documents) -> dict[int, str]:
        """Returns by number why documents lack passages that were given up, without documents deleted meanwhile."""
        progresses = [(one, self._progress.get(one.number)) for one in documents if not one.gone]
        return {
            one.number: progress.reason(one)
            for one, progress in progresses
            if progress and progress.dead
        }

    async def _tried(
        self, turn: Turn, documents: Documents, error: BraidError, stop: asyncio.Event
    ) -> None:
        """Handles a language model's unusable answer to some passage. The failure has reduced the batch size: less is
        sent next, down to the passage alone, which is given up after several attempts.
        """
        progress = self._progress_of(documents[0])
        if len(documents) > 1 or progress.part > 1:
            return
        attempts = progress.attempts(documents[0])
        given_up = attempts >= MAX_ATTEMPTS
        # The count belongs to one passage: the next passage and another worker must not start from it.
        await self._work.record_attempt(turn, documents[0], 0 if given_up else attempts)
        if given_up:
            progress.give_up(reason_of(error))
            return
        await self._work.set_waiting_reason(turn, reason_of(error))
        with suppress(TimeoutError):
            async with asyncio.timeout(AGAIN_SECONDS * 2 ** (attempts - 1)):
                await stop.wait()

    async def _is_to_blame(self, turn: Turn, document: WaitingDocument, error: BraidError) -> bool:
        """Whether to give up a document: sent alone, it failed MAX_ATTEMPTS times in a row while the graph works."""
        if not is_suspicious(error):
            return False
        try:
            await self._check_serving()
        except BraidError:
            return False
        attempts = self._progress_of(document).attempts(document)
        await self._work.record_attempt(turn, document, attempts)
        return attempts >= MAX_ATTEMPTS

    def _progress_of(self, document: WaitingDocument) -> PartialProgress:
        return self._progress.setdefault(document.number, PartialProgress())

    async def _is_time_over(self, time: TimeSlice) -> bool:
        return time.stop.is_set() or (time.used and await self._work.others_waiting(GRAPH))

    async def _send(
        self, documents: Documents, refused: Refused, batch_size: AdaptiveBatch, *, gone: bool
    ) -> None:
        """Sends all documents together, or in parts if some of them may have caused the failure."""
        send = self._remove if gone else self._add

        async def work(some: Documents) -> None:
            await self._retries.run(lambda: send(some, batch_size))

        found = await Isolation(work, self._evidence, _number).run(documents)
        refused += [(document, reason_of(error)) for document, error in found]

    async def _add(self, documents: Documents, batch_size: AdaptiveBatch) -> None:
        """Adds episodes in parts of the batch size; a single document resumes after the last part that succeeded."""
        episodes = [episode for document in documents for episode in _episodes(document)]
        progress = self._progress_of(documents[0]) if len(documents) == 1 else PartialProgress()
        while progress.through < len(episodes):
            part = episodes[progress.through : progress.through + batch_size.size]
            progress.part = len(part)
            with batch_size.measured():
                revision = await self._graph.add_episodes(part, patience=batch_size.patience)
            self._revisions[current_call().space] = revision
            progress.through += len(part)

    async def _remove(self, documents: Documents, batch_size: AdaptiveBatch) -> None:
        uuids = [episode.chunk_id for document in documents for episode in _episodes(document)]
        with batch_size.measured():
            await self._graph.delete_episodes(uuids)


def _number(document: WaitingDocument) -> int:
    return document.number


def _is_slow(error: BraidError) -> bool:
    """Whether the graph did not answer in time, and no provider has asked for a pause."""
    return error.reason == errors_pb2.ERROR_REASON_DEADLINE and error.retry_after is None


def is_suspicious(error: BraidError) -> bool:
    """Whether the document may have caused a failure of a working graph, and not another unavailable store or model."""
    if error.reason == errors_pb2.ERROR_REASON_DEADLINE:
        return _is_slow(error)
    if error.reason != errors_pb2.ERROR_REASON_STORE_UNAVAILABLE:
        return False
    asked = error.retry_after or 0.0
    return error.metadata.get("store") == _GRAPH_STORE and asked <= _DEFAULT_WAIT


def _asked(error: Exception) -> WaitingError | None:
    """Returns a reason to wait, also for failures that waiting may not fix: nothing is given up."""
    return WaitingError(reason_of(error), None) if isinstance(error, BraidError) else None


def _episodes(document: WaitingDocument) -> Sequence[ingest_pb2.EpisodeInput]:
    return decode_episodes(document.episodes)


@dataclass(eq=False, slots=True)
class PartialProgress:
    """The progress of a document that is sent alone: `through` of its passages are in the graph or given up.

    `part` is the size of the last part sent, `dead` the reasons of the passages given up.
    """

    through: int = 0
    part: int = 0
    blamed_at: int = 0
    dead: list[str] = field(default_factory=list)

    def attempts(self, document: WaitingDocument) -> int:
        """Returns the failures in a row including this one: 1 if the document has progressed since the last failure."""
        advanced, self.blamed_at = self.through > self.blamed_at, self.through
        return 1 if advanced else document.attempts + 1

    def give_up(self, reason: str) -> None:
        """Skips the next passage; the others continue."""
        self.dead.append(reason)
        self.through += 1

    def reason(self, document: WaitingDocument) -> str:
        """Returns the reason why the document is not completely in the graph."""
        if document.chunks <= 1:
            return self.dead[0]
        return f"{len(self.dead)} of {document.chunks} passages: {self.dead[0]}"
