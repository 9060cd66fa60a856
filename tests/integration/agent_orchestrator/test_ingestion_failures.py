"""Failures of tiers and embedders during ingestion: when it waits, which documents fail, and when the job fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.agent_orchestrator.ingest.pipeline import isolation
from services.agent_orchestrator.jobs import worker as jobs_worker
from services.runtime.errors import (
    INTERNAL_MESSAGE,
    BraidError,
    FieldError,
    InternalError,
    InvalidCredentialError,
    InvalidFieldError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.agent_orchestrator.uploads import (
    FAILED,
    SUCCEEDED,
    data,
    document,
    ingest,
    lines,
    reasons,
    submit,
    watch,
)
from tests.stubs.script import fail


@pytest.fixture
def settings() -> dict[str, object]:
    return {"retry_seconds": 1, "max_upload_bytes": 65_536, "max_waiting_jobs": 3}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens all retry delays."""
    monkeypatch.setattr(isolation, "AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(jobs_worker, "FIRST_DELAY", 0.02)
    monkeypatch.setattr(jobs_worker, "MAX_BACKOFF", 0.05)


async def test_a_document_that_a_tier_rejects_does_not_fail_the_rest_of_its_batch(
    world: World,
) -> None:
    async def refuse_b(request: object) -> None:
        if any(d.document_id == "b" for d in getattr(request, "documents")):  # noqa: B009
            raise InvalidFieldError(FieldError("documents[1].valid_time", "is another version's"))

    world.vector.script.acts["BatchUpsertDocuments"] = refuse_b
    job = await ingest(world, *lines(*({"id": i, "text": i} for i in "abc")))
    assert job.state == SUCCEEDED
    assert reasons(job) == {"b": "is another version's"}
    assert {key for _, key in world.vector.documents} == {"a", "c"}
    assert (job.searchable_count, job.graph_ready_count) == (2, 2)


async def test_a_document_that_breaks_the_graph_tier_does_not_fail_the_rest_of_its_batch(
    world: World,
) -> None:
    async def break_on_b(request: object) -> None:
        if any(e.document_id == "b" for e in getattr(request, "episodes")):  # noqa: B009
            raise InternalError

    world.graph.script.acts["BatchAddEpisodes"] = break_on_b
    job = await ingest(world, *lines(*({"id": i, "text": i} for i in "abc")))
    assert set(reasons(job)) == {"b"}
    assert (job.searchable_count, job.graph_ready_count) == (3, 2)


@pytest.mark.parametrize(
    ("tier", "method"),
    [
        ("vector", "CheckDocuments"),
        ("vector", "GetChunks"),
        ("vector", "BatchUpsertDocuments"),
        ("graph", "BatchAddEpisodes"),
    ],
)
async def test_a_briefly_overloaded_tier_is_waited_for(
    world: World, tier: str, method: str
) -> None:
    stub = world.vector if tier == "vector" else world.graph
    stub.script.fail_times(method, 2, OverloadedError(0.01))
    job = await ingest(world, document(), data("text"))
    assert job.state == SUCCEEDED
    assert stub.script.count(method) == 3


async def test_a_briefly_unavailable_embedder_is_waited_for(world: World) -> None:
    world.embedder.failures = 2
    assert (await ingest(world, document(), data("text"))).state == SUCCEEDED


async def test_a_document_whose_text_the_embedder_rejects_fails_and_the_others_succeed(
    world: World,
) -> None:
    world.embedder.refused = "unheard"
    good = [{"id": f"good {n}", "text": f"text {n}"} for n in range(9)]
    job = await ingest(world, *lines(*good, {"id": "bad", "text": "an unheard word"}))
    assert (job.state, job.searchable_count) == (SUCCEEDED, len(good))
    assert reasons(job) == {"bad": "The embedding model refuses the text: scripted."}
    assert all(chunk.embedding for one in world.vector.documents.values() for chunk in one.chunks)


async def test_an_embedder_that_rejects_every_text_is_waited_for(world: World) -> None:
    world.embedder.refused = ""
    reported = []
    async for job in watch(world, await submit(world, document(), data("text"))):
        reported.append(job)
        if job.waiting_for:
            world.embedder.refused = None
    assert any(job.waiting_for for job in reported)
    assert (reported[-1].state, reported[-1].failed_count) == (SUCCEEDED, 0)


async def test_a_job_waits_for_an_unavailable_tier_and_reports_it(world: World) -> None:
    world.graph.script.acts["BatchAddEpisodes"] = fail(StoreUnavailableError("neo4j", 0.01))
    reported = []
    async for job in watch(world, await submit(world, document(), data("text"))):
        reported.append(job)
        if job.waiting_for:
            world.graph.script.acts.clear()
    waiting = [job for job in reported if job.waiting_for]
    assert {job.waiting_for for job in waiting} == {"neo4j cannot be reached now."}
    assert {(j.searchable_count, j.graph_ready_count) for j in waiting} == {(1, 0)}
    assert (reported[-1].state, reported[-1].waiting_for) == (SUCCEEDED, "")
    assert reported[-1].failed_count == 0


ALIKE = [
    WrongStateError("Another model."),
    InvalidFieldError(FieldError("embedding_model", "is not the space's")),
    InternalError(),
    InvalidCredentialError(),
    StoreUnavailableError("postgresql", 0.01),
]


@pytest.mark.parametrize("error", ALIKE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    ("tier", "method"),
    [
        ("vector", "CheckDocuments"),
        ("vector", "BatchUpsertDocuments"),
        ("graph", "BatchAddEpisodes"),
    ],
)
async def test_while_a_tier_fails_for_all_documents_they_wait_with_the_reason_and_none_dies(
    world: World, tier: str, method: str, error: BraidError
) -> None:
    script = (world.vector if tier == "vector" else world.graph).script
    script.acts[method] = fail(error)
    waited: set[str] = set()
    parts = lines(*({"id": f"d{n}", "text": f"text {n}"} for n in range(8)))
    reported = []
    async for job in watch(world, await submit(world, *parts)):
        reported.append(job)
        if job.waiting_for and script.acts:
            waited.add(job.waiting_for)
            await asyncio.sleep(0.5)  # for some more attempts
            script.acts.clear()
    assert waited
    last = reported[-1]
    assert (last.state, last.graph_ready_count, last.failed_count) == (SUCCEEDED, 8, 0)


@pytest.mark.parametrize("poison", [["d3"], ["d0", "d1", "d2"]])
@pytest.mark.parametrize("tier", ["vector", "graph"])
async def test_documents_that_fail_while_others_succeed_die_alone(
    world: World, tier: str, poison: list[str]
) -> None:
    async def break_on_poison(request: Any) -> None:
        parts = request.documents if tier == "vector" else request.episodes
        if any(part.document_id in poison for part in parts):
            raise InternalError

    script = (world.vector if tier == "vector" else world.graph).script
    script.acts["BatchUpsertDocuments" if tier == "vector" else "BatchAddEpisodes"] = (
        break_on_poison
    )
    job = await ingest(world, *lines(*({"id": f"d{n}", "text": f"text {n}"} for n in range(8))))
    assert sorted(reasons(job)) == poison
    assert all(reason.startswith(INTERNAL_MESSAGE) for reason in reasons(job).values())
    assert job.graph_ready_count == 8 - len(poison)


async def test_a_document_that_fails_alone_waits_until_another_one_shows_that_the_tier_works(
    world: World,
) -> None:
    async def break_on_poison(request: Any) -> None:
        if any(one.document_id == "poison" for one in request.documents):
            raise InternalError

    world.vector.script.acts["BatchUpsertDocuments"] = break_on_poison
    alone = await submit(world, document(document_id="poison"), data("text"))
    async for job in watch(world, alone):
        if job.waiting_for:
            break
    assert (await ingest(world, document(document_id="good"), data("text"))).state == SUCCEEDED
    async for job in watch(world, alone):
        alone = job
    assert (alone.state, list(reasons(alone))) == (FAILED, ["poison"])
