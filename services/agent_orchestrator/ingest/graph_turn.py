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
_GRAPH_STORE = "neo4j"
# Seconds that a store asks for when it knows nothing: one that asks for more knows what is wrong with itself.
_UNTOLD_WAIT = 1.0

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
        # How many episodes of a document that is sent alone are in the graph: it goes on there.
        self._through: dict[int, int] = {}
        self._blamed_at: dict[int, int] = {}

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
            for gone, group in groupby(documents, lambda document: document.gone):
                await self._send(list(group), refused, pace, gone=gone)
        except BraidError as error:
            alone = len(documents) == 1 and pace.size == 1
            if not alone or not await self._is_to_blame(turn, documents[0], error):
                raise
            refused.append((documents[0], told(error)))
        lost = {document.number for document, _ in refused}
        ready = [document for document in documents if document.number not in lost]
        await self._work.note_graph(turn, GraphOutcome(ready, refused))
        for document in documents:
            self._through.pop(document.number, None)
            self._blamed_at.pop(document.number, None)
        return True

    async def _is_to_blame(self, turn: Turn, document: WaitingDocument, error: BraidError) -> bool:
        """Whether a document is given up: alone, it has failed again and again on a graph that serves."""
        if not is_suspicious(error):
            return False
        try:
            await self._check_serving()
        except BraidError:
            return False
        attempts = 1 if self._has_advanced(document) else document.attempts + 1
        await self._work.blame(turn, document, attempts)
        return attempts >= MOST_ATTEMPTS

    def _has_advanced(self, document: WaitingDocument) -> bool:
        """Whether more of it is in the graph than when it failed before."""
        through = self._through.get(document.number, 0)
        before = self._blamed_at.get(document.number, 0)
        self._blamed_at[document.number] = through
        return through > before

    async def _over(self, time: Slice) -> bool:
        return time.stop.is_set() or (time.used and await self._work.others_wait(GRAPH))

    async def _send(
        self, documents: Documents, refused: Refused, pace: Pace, *, gone: bool
    ) -> None:
        """All together, or one by one where one of them may be to blame."""
        send = self._remove if gone else self._add
        try:
            await self._retries.run(lambda: send(documents, pace))
        except BraidError as error:
            if not is_of_a_document(error):
                raise
            if len(documents) == 1:
                refused.append((documents[0], told(error)))
                return
            for document in documents:
                await self._send([document], refused, pace, gone=gone)

    async def _add(self, documents: Documents, pace: Pace) -> None:
        """A document that is longer than what the graph takes at once goes in parts, and goes on where it failed."""
        episodes = [episode for document in documents for episode in _episodes(document)]
        alone = documents[0].number if len(documents) == 1 else None
        start = 0 if alone is None else self._through.get(alone, 0)
        while start < len(episodes):
            part = episodes[start : start + pace.size]
            with pace.measured():
                await self._graph.add_episodes(part)
            start += len(part)
            if alone is not None:
                self._through[alone] = start

    async def _remove(self, documents: Documents, pace: Pace) -> None:
        uuids = [episode.uuid for document in documents for episode in _episodes(document)]
        with pace.measured():
            await self._graph.delete_episodes(uuids)


def is_suspicious(error: BraidError) -> bool:
    """Whether a failure on a graph that serves may be the document's: no other store, such as a model, is away."""
    if error.reason == errors_pb2.ERROR_REASON_DEADLINE:
        return error.retry_after is None
    if error.reason != errors_pb2.ERROR_REASON_STORE_UNAVAILABLE:
        return False
    asked = error.retry_after or 0.0
    return error.metadata.get("store") == _GRAPH_STORE and asked <= _UNTOLD_WAIT


def _asked(error: Exception) -> WaitingError | None:
    """What waiting may not help, such as a graph of another model, is told and tried again: nothing is given up."""
    return WaitingError(told(error), None) if isinstance(error, BraidError) else None


def _episodes(document: WaitingDocument) -> Sequence[ingest_pb2.EpisodeInput]:
    return ingest_pb2.BatchAddEpisodesRequest.FromString(document.episodes).episodes
