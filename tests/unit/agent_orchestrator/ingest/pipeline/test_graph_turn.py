"""Graph turns of a space with documents of which single passages fail for good."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.ingest.pipeline import graph_turn
from services.agent_orchestrator.ingest.pipeline.graph_turn import GraphTurns
from services.agent_orchestrator.ingest.pipeline.stored_episodes import encode_episodes
from services.agent_orchestrator.jobs.queue import GRAPH, Turn
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.time_slice import StagePriority, WaitingError
from services.agent_orchestrator.jobs.work_store import GraphOutcome, WaitingDocument
from services.models.errors import AnswerUnusable, LanguageModelUnavailable
from services.runtime.errors import (
    DeadlineError,
    FieldError,
    InvalidFieldError,
    StoreUnavailableError,
)

TURN = Turn(1, GRAPH, "s", uuid.uuid4())
MALFORMED = AnswerUnusable("malformed answer")

Act = Callable[[Sequence[str]], Awaitable[None]]


def document(*passages: str) -> WaitingDocument:
    """Returns a waiting document whose episodes have these chunk ids."""
    episodes = [ingest_pb2.EpisodeInput(chunk_id=one) for one in passages]
    encoded = encode_episodes(episodes)
    return WaitingDocument(1, "j", 0, "d", len(passages), encoded, attempts=0, gone=False)


class Work:
    """A work store with one document that waits for the graph."""

    def __init__(self, waiting: WaitingDocument) -> None:
        self.waiting: WaitingDocument | None = waiting
        self.ready: list[str] = []
        self.refused: list[tuple[str, str]] = []
        self.revisions: list[int] = []

    def delete(self) -> None:
        """Marks the document as deleted while it waits."""
        assert self.waiting is not None
        self.waiting = replace(self.waiting, gone=True)

    async def next_documents(self, turn: Turn, *, count: int, chunks: int) -> list[WaitingDocument]:
        return [self.waiting] if self.waiting else []

    async def note_graph(self, turn: Turn, outcome: GraphOutcome) -> None:
        self.ready += [one.document_id for one in outcome.ready]
        self.refused += [(one.document_id, reason) for one, reason in outcome.refused]
        self.waiting = None

    async def record_attempt(self, turn: Turn, waiting: WaitingDocument, attempts: int) -> None:
        self.waiting = replace(waiting, attempts=attempts)

    async def set_waiting_reason(self, turn: Turn, reason: str) -> None:
        """Does nothing: no test reads the reason."""

    async def others_waiting(self, stage: str) -> bool:
        return False

    async def note_seen_graph(self, space: str, revision: int) -> None:
        self.revisions.append(revision)


class Graph:
    """A graph tier that calls `act` before it stores episodes."""

    def __init__(self, act: Act) -> None:
        self.act = act
        self.stored: list[str] = []

    async def add_episodes(
        self, episodes: Sequence[ingest_pb2.EpisodeInput], *, patience: int = 1
    ) -> None:
        uuids = [one.chunk_id for one in episodes]
        await self.act(uuids)
        self.stored += uuids

    async def delete_episodes(self, uuids: Sequence[str]) -> None:
        self.stored = [one for one in self.stored if one not in uuids]


def turns(work: Work, graph: Graph) -> GraphTurns:
    """Returns the graph turns of a worker that has just started."""

    async def serves() -> None:
        """Reports that all dependencies are available."""

    store: Any = work
    tier: Any = graph
    return GraphTurns(
        store, tier, Retries(0), StagePriority(), check_serving=serves, turn_seconds=60
    )


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_turn, "AGAIN_SECONDS", 0.0)


async def test_a_document_that_is_rejected_after_a_failed_passage_is_listed_once() -> None:
    async def act(uuids: Sequence[str]) -> None:
        if "bad" in uuids:
            raise MALFORMED
        raise InvalidFieldError(FieldError("episodes[0]", "is wrong"))

    work = Work(document("bad", "wrong"))
    await turns(work, Graph(act)).run(TURN, asyncio.Event())
    assert (work.ready, work.refused) == ([], [("d", "is wrong")])


async def test_a_document_that_is_deleted_after_a_failed_passage_is_not_a_failure() -> None:
    async def act(uuids: Sequence[str]) -> None:
        if "bad" in uuids:
            raise MALFORMED
        work.delete()
        raise LanguageModelUnavailable("HTTP 503")

    work = Work(document("bad", "good"))
    worker = turns(work, Graph(act))
    with pytest.raises(WaitingError):
        await worker.run(TURN, asyncio.Event())
    await worker.run(TURN, asyncio.Event())
    assert (work.ready, work.refused) == (["d"], [])


async def test_another_worker_restarts_the_attempt_count_after_a_failed_passage() -> None:
    async def act(uuids: Sequence[str]) -> None:
        raise MALFORMED if "bad" in uuids else LanguageModelUnavailable("HTTP 503")

    async def fail(_uuids: Sequence[str]) -> None:
        raise StoreUnavailableError("neo4j", retry_after=0.01)

    async def serve(_uuids: Sequence[str]) -> None:
        """Succeeds."""

    work = Work(document("bad", "good"))
    graph = Graph(act)
    with pytest.raises(WaitingError):
        await turns(work, graph).run(TURN, asyncio.Event())
    other = turns(work, graph)
    graph.act = fail
    for _ in range(4):
        with pytest.raises(WaitingError):
            await other.run(TURN, asyncio.Event())
    graph.act = serve
    await other.run(TURN, asyncio.Event())
    assert (work.ready, work.refused, graph.stored) == (["d"], [], ["bad", "good"])


async def test_a_graph_that_is_slow_gets_smaller_batches_and_more_time_within_the_turn() -> None:
    sent: list[int] = []

    async def act(uuids: Sequence[str]) -> None:
        sent.append(len(uuids))
        if len(sent) <= 4:
            raise DeadlineError

    passages = [f"p{number}" for number in range(40)]
    work = Work(document(*passages))
    graph = Graph(act)
    await turns(work, graph).run(TURN, asyncio.Event())
    assert sent[:5] == [32, 4, 1, 1, 1]
    assert graph.stored == passages
    assert (work.ready, work.refused) == (["d"], [])


async def test_a_document_for_which_the_graph_never_has_time_enough_is_given_up() -> None:
    async def act(uuids: Sequence[str]) -> None:
        raise DeadlineError

    work = Work(document("a"))
    await turns(work, Graph(act)).run(TURN, asyncio.Event())
    [(name, reason)] = work.refused
    assert (name, "deadline" in reason.lower()) == ("d", True)
