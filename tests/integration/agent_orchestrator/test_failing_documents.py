"""A document that keeps failing while its dependencies work is listed as failed; an outage fails no document."""

from __future__ import annotations

import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2
from services.agent_orchestrator.ingest.pipeline import graph_turn, isolation
from services.agent_orchestrator.ingest.pipeline.episode_retry import MAX_ATTEMPTS
from services.agent_orchestrator.jobs import worker as jobs_worker
from services.models.errors import AnswerUnusable, LanguageModelUnavailable
from services.runtime.errors import DeadlineError, InternalError, StoreUnavailableError
from tests.integration.agent_orchestrator.conftest import ALICE, World
from tests.integration.agent_orchestrator.test_durable_jobs import worker
from tests.integration.agent_orchestrator.uploads import (
    FAILED,
    SUCCEEDED,
    data,
    document,
    lines,
    reasons,
    submit,
    watched,
)


@pytest.fixture
def settings() -> dict[str, object]:
    return {"workers": 0, "retry_seconds": 0.2, "lease_seconds": 1.0, "jobs_at_once": 1}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens all retry delays."""
    monkeypatch.setattr(graph_turn, "AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(isolation, "AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(jobs_worker, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(jobs_worker, "FIRST_DELAY", 0.05)
    monkeypatch.setattr(jobs_worker, "MAX_BACKOFF", 0.1)


async def test_a_document_that_keeps_breaking_its_batch_fails_and_the_others_succeed(
    world: World,
) -> None:
    async def break_on_b(request: object) -> None:
        if any(d.document_id == "b" for d in getattr(request, "documents")):  # noqa: B009
            raise InternalError

    world.vector.script.acts["BatchUpsertDocuments"] = break_on_b
    async with worker(world):
        jobs = [await submit(world, document(document_id=name), data(name)) for name in "abc"]
        states = [(await watched(world, job))[-1].state for job in jobs]
    assert states == [SUCCEEDED, FAILED, SUCCEEDED]


async def test_a_document_that_keeps_failing_in_a_working_graph_is_given_up(
    world: World,
) -> None:
    async def fail_on_b(request: object) -> None:
        if any(e.document_id == "b" for e in getattr(request, "episodes")):  # noqa: B009
            raise StoreUnavailableError("neo4j", retry_after=0.01)

    world.graph.script.acts["BatchAddEpisodes"] = fail_on_b
    async with worker(world):
        job = await submit(world, *lines(*({"id": name, "text": name} for name in "abc")))
        ended = (await watched(world, job, seconds=120))[-1]
    assert (ended.state, reasons(ended)) == (SUCCEEDED, {"b": "neo4j cannot be reached now."})
    assert ended.graph_ready_count == 2


async def test_no_document_is_given_up_while_the_language_model_is_unavailable(
    world: World,
) -> None:
    tries = 0

    async def no_model(_request: object) -> None:
        nonlocal tries
        tries += 1
        if tries <= 4 * MAX_ATTEMPTS:
            raise StoreUnavailableError("language_model", retry_after=0.01)

    world.graph.script.acts["BatchAddEpisodes"] = no_model
    async with worker(world):
        job = await submit(world, document(document_id="d"), data("text"))
        ended = (await watched(world, job, seconds=120))[-1]
    assert (ended.state, ended.graph_ready_count) == (SUCCEEDED, 1)
    assert tries > 4 * MAX_ATTEMPTS


async def test_a_long_document_in_a_slow_graph_resumes_after_the_last_stored_passage(
    world: World,
) -> None:
    sent: list[int] = []

    async def slow(request: object) -> None:
        count = len(getattr(request, "episodes"))  # noqa: B009
        sent.append(count)
        if count > 1:
            raise DeadlineError

    world.graph.script.acts["BatchAddEpisodes"] = slow
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 150 for n in range(8))
    async with worker(world):
        job = await submit(world, document(document_id="long"), data(text))
        ended = (await watched(world, job, seconds=120))[-1]
    assert (ended.state, ended.graph_ready_count) == (SUCCEEDED, 1)
    chunks = len(world.vector.documents["alice", "long"].chunks)
    assert chunks > MAX_ATTEMPTS
    assert world.graph.writes["episodes"] == sent.count(1) == chunks


MALFORMED = "The language model gives no usable answer to the text: malformed answer."


class Reader:
    """A language model behind the graph that reads episodes in order and fails on those that contain a word."""

    def __init__(self, world: World, word: str) -> None:
        self._world = world
        self.word = word
        self.tries = 0

    async def act(self, request: ingest_pb2.IngestDocumentRequest) -> None:
        for episode in getattr(request, "episodes"):  # noqa: B009
            if self.word and self.word in episode.content:
                self.tries += 1
                raise AnswerUnusable("malformed answer")
            self._world.graph.episodes["alice", episode.chunk_id] = episode


def long_text(*words: str) -> str:
    """Text with one chunk for each word."""
    return "\n\n".join(f"Paragraph {word}. " + "word " * 150 for word in words)


async def test_a_passage_that_always_gets_malformed_answers_fails_and_the_others_succeed(
    world: World,
) -> None:
    reader = Reader(world, "poison")
    world.graph.script.acts["BatchAddEpisodes"] = reader.act
    texts = {"a": "fine", "b": "poison", "c": "fine too"}
    async with worker(world):
        job = await submit(world, *lines(*({"id": k, "text": v} for k, v in texts.items())))
        ended = (await watched(world, job, seconds=60))[-1]
    assert (ended.state, reasons(ended)) == (SUCCEEDED, {"b": MALFORMED})
    assert ended.graph_ready_count == 2
    assert MAX_ATTEMPTS <= reader.tries <= 2 * MAX_ATTEMPTS


async def test_the_other_passages_of_a_failed_document_are_in_the_graph(world: World) -> None:
    reader = Reader(world, "poison")
    world.graph.script.acts["BatchAddEpisodes"] = reader.act
    text = long_text("one", "poison", "three", "four")
    async with worker(world):
        job = await submit(world, document(document_id="long"), data(text))
        ended = (await watched(world, job, seconds=60))[-1]
    chunks = world.vector.documents["alice", "long"].chunks
    missing = [chunk.content for chunk in chunks if ("alice", chunk.id) not in world.graph.episodes]
    assert ended.state == FAILED
    assert reasons(ended) == {"long": f"1 of {len(chunks)} passages: {MALFORMED}"}
    assert len(missing) == 1
    assert "poison" in missing[0]


async def test_retrying_a_job_reads_a_passage_that_was_given_up(
    world: World,
) -> None:
    reader = Reader(world, "poison")
    world.graph.script.acts["BatchAddEpisodes"] = reader.act
    async with worker(world):
        job = await submit(world, document(document_id="d"), data("poison"))
        assert (await watched(world, job, seconds=60))[-1].state == FAILED
        reader.word = ""
        request = jobs_pb2.RetryJobRequest(job_id=job.id)
        again = await world.jobs.RetryJob(request, metadata=ALICE, timeout=10)
        ended = (await watched(world, again.job, seconds=60))[-1]
    assert (ended.state, ended.graph_ready_count, list(ended.failures)) == (SUCCEEDED, 1, [])


async def test_outages_between_malformed_answers_do_not_count_as_attempts(world: World) -> None:
    calls = 0

    async def act(_request: object) -> None:
        nonlocal calls
        calls += 1
        if calls < MAX_ATTEMPTS:
            raise AnswerUnusable("malformed answer")
        if calls < 3 * MAX_ATTEMPTS:
            raise LanguageModelUnavailable("HTTP 429", retry_after=0.01)

    world.graph.script.acts["BatchAddEpisodes"] = act
    async with worker(world):
        job = await submit(world, document(document_id="d"), data("text"))
        ended = (await watched(world, job, seconds=60))[-1]
    assert (ended.state, ended.graph_ready_count) == (SUCCEEDED, 1)
