"""A space's turn to become graph-ready: its searchable documents, in order, into the graph.

A batch is as large as the graph takes in a few seconds: hundreds of passages with the local extractor, one where a
language model reads each for ten seconds. The other stage goes on meanwhile, in this space as in all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import groupby

from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.ingest.pace import Pace
from services.agent_orchestrator.ingest.retries import Retries, is_of_a_document, told
from services.agent_orchestrator.ingest.turns import Slice, call_of, waiting
from services.agent_orchestrator.jobs.queue import GRAPH, Turn
from services.agent_orchestrator.jobs.work import GraphOutcome, WaitingDocument, WorkStore
from services.agent_orchestrator.tiers import GraphTier
from services.runtime.context import call_scope
from services.runtime.errors import BraidError

DOCUMENTS_AT_ONCE = 200
EPISODES_AT_ONCE = 500

Documents = Sequence[WaitingDocument]
Refused = list[tuple[WaitingDocument, str]]


class GraphTurns:
    """Brings searchable documents of spaces into the graph."""

    def __init__(
        self, work: WorkStore, graph: GraphTier, retries: Retries, *, turn_seconds: float
    ) -> None:
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
                while await self._batch(turn, pace) and not await self._over(time):
                    pass
            except Exception as error:
                reason = waiting(error)
                if reason is None:
                    raise
                await self._work.say_waiting(turn, reason.reason)
                raise reason from None
        if pace.is_full:
            del self._paces[turn.key]

    async def _batch(self, turn: Turn, pace: Pace) -> bool:
        documents = await self._work.next_documents(turn, count=DOCUMENTS_AT_ONCE, chunks=pace.size)
        if not documents:
            return False
        refused: Refused = []
        with pace.measured():
            for gone, group in groupby(documents, lambda document: document.gone):
                await self._send(list(group), refused, gone=gone)
        lost = {document.number for document, _ in refused}
        ready = [document for document in documents if document.number not in lost]
        await self._work.note_graph(turn, GraphOutcome(ready, refused))
        return True

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


def _episodes(document: WaitingDocument) -> Sequence[ingest_pb2.EpisodeInput]:
    return ingest_pb2.BatchAddEpisodesRequest.FromString(document.episodes).episodes
