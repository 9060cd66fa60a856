"""A space's turn to become graph-ready: its searchable documents, in order, into the graph.

A batch is as large as the graph takes in a few seconds: hundreds of passages with the local extractor, one where a
language model reads each for ten seconds. The other stage goes on meanwhile, in this space as in all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby

from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.ingest.courtesy import Courtesy
from services.agent_orchestrator.ingest.pace import Pace
from services.agent_orchestrator.ingest.retries import Retries, is_of_a_document, told
from services.agent_orchestrator.ingest.turns import Slice, WaitingError, call_of, waiting
from services.agent_orchestrator.jobs.queue import GRAPH, Turn
from services.agent_orchestrator.jobs.work import GraphOutcome, WaitingDocument, WorkStore
from services.agent_orchestrator.tiers import GraphTier
from services.runtime.context import call_scope
from services.runtime.errors import BraidError

DOCUMENTS_AT_ONCE = 200
EPISODES_AT_ONCE = 500
# Failures of a document alone while the graph serves; a graph that is away, or at its limit, counts for nothing.
MOST_ATTEMPTS = 5
_SUSPICIOUS = frozenset(
    {errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, errors_pb2.ERROR_REASON_DEADLINE}
)

Documents = Sequence[WaitingDocument]
Refused = list[tuple[WaitingDocument, str]]


class GraphTurns:
    """Brings searchable documents of spaces into the graph."""

    def __init__(
        self,
        work: WorkStore,
        graph: GraphTier,
        retries: Retries,
        courtesy: Courtesy,
        *,
        check_serving: Callable[[], Awaitable[None]],
        turn_seconds: float,
    ) -> None:
        self._check_serving = check_serving
        self._courtesy = courtesy
        self._work = work
        self._graph = graph
        self._retries = retries
        self._turn_seconds = turn_seconds
        self._paces: dict[str, Pace] = {}

    async def run(self, turn: Turn, stop: asyncio.Event) -> None:
        """Works until nothing waits or the turn is over. WaitingError when it cannot go on now."""
        pace = self._paces.setdefault(turn.key, Pace(EPISODES_AT_ONCE))
        time = Slice(self._turn_seconds, stop)
        with call_scope(call_of(turn, turn.key)):
            try:
                await self._batches(turn, pace, time)
            except Exception as error:
                reason = waiting(error) or _asked(error)
                if reason is None:
                    raise
                await self._work.say_waiting(turn, reason.reason)
                raise reason from None
        if pace.is_full:
            del self._paces[turn.key]

    async def _batches(self, turn: Turn, pace: Pace, time: Slice) -> None:
        while True:
            if pace.is_full:  # it takes processor time then, and no language model's
                await self._courtesy.give_way(time.stop)
            if not await self._batch(turn, pace) or await self._over(time):
                return

    async def _batch(self, turn: Turn, pace: Pace) -> bool:
        documents = await self._work.next_documents(turn, count=DOCUMENTS_AT_ONCE, chunks=pace.size)
        if not documents:
            return False
        refused: Refused = []
        try:
            with pace.measured():
                for gone, group in groupby(documents, lambda document: document.gone):
                    await self._send(list(group), refused, gone=gone)
        except BraidError as error:
            if len(documents) > 1 or not await self._is_to_blame(turn, documents[0], error):
                raise
            refused.append((documents[0], told(error)))
        lost = {document.number for document, _ in refused}
        ready = [document for document in documents if document.number not in lost]
        await self._work.note_graph(turn, GraphOutcome(ready, refused))
        return True

    async def _is_to_blame(self, turn: Turn, document: WaitingDocument, error: BraidError) -> bool:
        """Whether a document is given up: alone, it has failed again and again on a graph that serves."""
        if error.reason not in _SUSPICIOUS:
            return False
        try:
            await self._check_serving()
        except BraidError:
            return False
        await self._work.blame(turn, [document])
        return document.attempts + 1 >= MOST_ATTEMPTS

    async def _over(self, time: Slice) -> bool:
        return time.stop.is_set() or (time.used and await self._work.others_wait(GRAPH))

    async def _send(self, documents: Documents, refused: Refused, *, gone: bool) -> None:
        """All together, or one by one where one of them may be to blame."""
        send = self._remove if gone else self._add
        try:
            await self._retries.run(lambda: send(documents))
        except BraidError as error:
            if not is_of_a_document(error):
                raise
            if len(documents) == 1:
                refused.append((documents[0], told(error)))
                return
            for document in documents:
                await self._send([document], refused, gone=gone)

    async def _add(self, documents: Documents) -> None:
        episodes = [episode for document in documents for episode in _episodes(document)]
        for start in range(0, len(episodes), EPISODES_AT_ONCE):
            await self._graph.add_episodes(episodes[start : start + EPISODES_AT_ONCE])

    async def _remove(self, documents: Documents) -> None:
        uuids = [episode.uuid for document in documents for episode in _episodes(document)]
        await self._graph.delete_episodes(uuids)


def _asked(error: Exception) -> WaitingError | None:
    """What waiting may not help, such as a graph of another model, is told and tried again: nothing is given up."""
    return WaitingError(told(error), None) if isinstance(error, BraidError) else None


def _episodes(document: WaitingDocument) -> Sequence[ingest_pb2.EpisodeInput]:
    return ingest_pb2.BatchAddEpisodesRequest.FromString(document.episodes).episodes
