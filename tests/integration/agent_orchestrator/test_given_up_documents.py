"""Documents that fail again and again while what they need serves are listed at last, and nothing else is."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.ingest.graph_turn import MOST_ATTEMPTS
from services.runtime.errors import DeadlineError, StoreUnavailableError
from tests.integration.agent_orchestrator.conftest import World
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


async def test_a_document_that_breaks_its_batch_again_and_again_is_listed_and_the_others_pass(
    world: World,
) -> None:
    async def break_on_b(request: object) -> None:
        if any(d.document_id == "b" for d in getattr(request, "documents")):  # noqa: B009
            raise ValueError

    world.vector.script.acts["BatchUpsertDocuments"] = break_on_b
    async with worker(world):
        jobs = [await submit(world, document(document_id=name), data(name)) for name in "abc"]
        states = [(await watched(world, job))[-1].state for job in jobs]
    assert states == [SUCCEEDED, FAILED, SUCCEEDED]


async def test_a_document_that_the_graph_fails_on_while_it_serves_is_given_up_at_last(
    world: World,
) -> None:
    async def fail_on_b(request: object) -> None:
        if any(e.document_id == "b" for e in getattr(request, "episodes")):  # noqa: B009
            raise StoreUnavailableError("neo4j", retry_after=0.01)

    world.graph.script.acts["BatchAddEpisodes"] = fail_on_b
    async with worker(world):
        job = await submit(world, *lines(*({"id": name, "text": name} for name in "abc")))
        told = (await watched(world, job, seconds=120))[-1]
    assert (told.state, reasons(told)) == (SUCCEEDED, {"b": "neo4j cannot be reached now."})
    assert told.documents_graph_ready == 2


async def test_no_document_is_given_up_while_the_language_model_is_away(world: World) -> None:
    tries = 0

    async def no_model(_request: object) -> None:
        nonlocal tries
        tries += 1
        if tries <= 4 * MOST_ATTEMPTS:
            raise StoreUnavailableError("language_model", retry_after=0.01)

    world.graph.script.acts["BatchAddEpisodes"] = no_model
    async with worker(world):
        job = await submit(world, document(document_id="d"), data("text"))
        told = (await watched(world, job, seconds=120))[-1]
    assert (told.state, told.documents_graph_ready) == (SUCCEEDED, 1)
    assert tries > 4 * MOST_ATTEMPTS


async def test_a_long_document_that_a_slow_graph_takes_in_parts_goes_on_where_it_failed(
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
        told = (await watched(world, job, seconds=120))[-1]
    assert (told.state, told.documents_graph_ready) == (SUCCEEDED, 1)
    chunks = len(world.vector.documents["alice", "long"].chunks)
    assert chunks > MOST_ATTEMPTS
    assert world.graph.writes["episodes"] == sent.count(1) == chunks
