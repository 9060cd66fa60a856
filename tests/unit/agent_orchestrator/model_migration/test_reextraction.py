"""All chunks are sent to the graph again, and those without a usable model answer are listed as failures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from braid.graph.v1 import ingest_pb2
from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.ingest.pipeline import episode_retry
from services.agent_orchestrator.ingest.pipeline.episode_retry import (
    MAX_ATTEMPTS,
    EpisodeSender,
)
from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.records import Failure
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.tasks import Counts
from services.agent_orchestrator.model_migration.reextraction import Reextraction
from services.models.errors import AnswerUnusable, LanguageModelUnavailable

REASON = "The language model gives no usable answer to the text: malformed answer."


class Tiers:
    """Both tiers with `count` chunks. The model's answers to the chunks in `bad` are malformed `times` times."""

    def __init__(self, count: int, bad: Sequence[str], times: int = 1_000) -> None:
        self.ids = [f"c{n:03}" for n in range(count)]
        self.left = dict.fromkeys(bad, times)
        self.read: list[str] = []
        self.tries = 0

    async def list_ids(self, after: str) -> AsyncIterator[Any]:
        for one in self.ids:
            if one > after:
                yield SimpleNamespace(id=one)

    async def chunks(self, ids: Sequence[str]) -> list[chunks_pb2.Chunk]:
        return [chunks_pb2.Chunk(id=one, document_id=f"of {one}") for one in ids]

    async def count(self) -> int:
        return len(self.ids)

    async def add_episodes(
        self, episodes: Sequence[ingest_pb2.EpisodeInput], *, patience: int = 1
    ) -> None:
        for one in episodes:
            if self.left.get(one.chunk_id, 0) > 0:
                self.left[one.chunk_id] -= 1
                self.tries += 1
                raise AnswerUnusable("malformed answer")
            if one.chunk_id not in self.read:
                self.read.append(one.chunk_id)


class RecordingTask:
    """A task that records what is saved."""

    def __init__(self, progress: Mapping[str, Any]) -> None:
        self.job = SimpleNamespace(progress=progress)
        self.progress: list[Mapping[str, Any]] = []
        self.counts = Counts()
        self.failures: list[Failure] = []

    async def save(
        self, progress: Mapping[str, Any], counts: Counts, failures: Sequence[Failure] = ()
    ) -> None:
        self.progress.append(progress)
        self.counts = counts
        self.failures += failures


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode_retry, "AGAIN_SECONDS", 0.0)


def reextraction(tiers: Tiers) -> Reextraction:
    async def nobody_waits() -> bool:
        return False

    given: Any = SimpleNamespace(chunks=tiers.chunks, add_episodes=tiers.add_episodes)
    ids: Any = SimpleNamespace(chunks=tiers.list_ids)
    models: Any = SimpleNamespace(chunks=tiers.count)
    return Reextraction(given, ids, models, given, retries=Retries(0), others_waiting=nobody_waits)


async def test_failed_chunks_are_listed_with_their_documents_and_all_others_are_read() -> None:
    tiers, task = Tiers(150, ["c007", "c008", "c140"]), RecordingTask({})
    untyped: Any = task
    assert await reextraction(tiers).run(untyped) == {"chunks": 150, "failed": 3}
    assert [(one.position, one.document_id, one.reason) for one in task.failures] == [
        (7, "of c007", REASON),
        (8, "of c008", REASON),
        (140, "of c140", REASON),
    ]
    assert sorted(tiers.read) == [one for one in tiers.ids if one not in tiers.left]
    assert task.counts == Counts(150, 150, 147, 3)


async def test_a_chunk_whose_last_attempt_succeeds_is_not_a_failure() -> None:
    tiers, task = Tiers(3, ["c001"], times=MAX_ATTEMPTS - 1), RecordingTask({})
    untyped: Any = task
    assert await reextraction(tiers).run(untyped) == {"chunks": 3, "failed": 0}
    assert tiers.read == ["c000", "c001", "c002"]


async def test_an_unavailable_model_ends_the_attempt_with_its_error() -> None:
    async def fail(_episodes: object, **_options: object) -> None:
        raise LanguageModelUnavailable("HTTP 503")

    graph: Any = SimpleNamespace(add_episodes=fail)
    with pytest.raises(LanguageModelUnavailable):
        await EpisodeSender(graph, Retries(0), AdaptiveBatch(8)).send(
            [ingest_pb2.EpisodeInput(chunk_id="a")]
        )
