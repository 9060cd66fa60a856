"""Failures of tiers and embedders during ingestion: when it waits, which documents fail, and when the job fails."""

from __future__ import annotations

import pytest

from services.runtime.errors import (
    BraidError,
    FieldError,
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
            raise ValueError

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


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (WrongStateError("Another model."), "Another model."),
        (
            InvalidFieldError(FieldError("embedding_model", "is not the space's")),
            "embedding_model: is not the space's",
        ),
    ],
)
async def test_a_job_fails_at_once_if_the_space_has_another_model(
    world: World, error: BraidError, reason: str
) -> None:
    world.vector.script.acts["BatchUpsertDocuments"] = fail(error)
    job = await ingest(world, *lines({"id": "a", "text": "x"}, {"id": "b", "text": "y"}))
    assert job.state == FAILED
    assert reasons(job) == {"": reason}
    assert world.vector.script.count("BatchUpsertDocuments") == 1
