"""A language model that was added later extracts from all chunks that it has not read, on real stores over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest

from braid.agent.v1 import jobs_pb2, models_pb2
from services.graph_query import app as graph_app
from services.graph_query.core.domain import Fact, FactFilter, Origin
from services.graph_query.core.intervals import OPEN
from services.runtime.server import start_server
from tests.integration.upkeep.conftest import OURS, WideEmbedder, World
from tests.stubs.language import Script
from tests.stubs.language_model import scripted_model

NOTES = {"guild": "Mira Okafor leads the Payments Guild.", "ledger": "Anna Bell owns the Ledger."}


@asynccontextmanager
async def language_model(world: World) -> AsyncIterator[Script]:
    """A graph tier with a language model that extracts the facts of the notes, for services started from now on."""
    script = Script(
        entities=[(name, "") for name in ("Mira Okafor", "Payments Guild", "Anna Bell", "Ledger")],
        facts=[
            ("Mira Okafor", "LEADS", "Payments Guild", {}),
            ("Anna Bell", "OWNS", "Ledger", {}),
        ],
    )
    embedder = WideEmbedder()
    async with scripted_model(script) as (model, _):
        reader = graph_app.build_extractor(world.graph, model)
        server = await start_server(
            settings=world.runtime,
            listen="127.0.0.1:0",
            services=graph_app.build_services(world.graph, embedder, reader),
            probes={},
        )
        world.agent = world.agent.model_copy(update={"graph_target": f"127.0.0.1:{server.port}"})
        try:
            yield script
        finally:
            await server.stop()


async def start(world: World) -> jobs_pb2.Job:
    """Starts the re-extraction of every chunk."""
    request = models_pb2.StartReextractionRequest()
    return (await world.models.StartReextraction(request, metadata=OURS, timeout=10)).job


async def extracted(world: World) -> dict[str, str]:
    """The relations that the language model extracted, each with the document that states it."""
    found: list[Fact] = []
    for name in ("mira okafor", "anna bell"):
        around = await world.graph.neighborhood(world.space, name, "", 10, FactFilter(-OPEN, OPEN))
        found += [one for one in around.edges if one.origin is Origin.EXTRACTED]
    return {one.relation: one.citations[0].document_id for one in found}


async def test_every_chunk_that_no_language_model_has_read_is_extracted_once(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        for name, text in NOTES.items():
            await world.put(name, text)
    assert await extracted(world) == {}
    async with AsyncExitStack() as stack:
        script = await stack.enter_async_context(language_model(world))
        await world.start_orchestrator(stack, world.embedder)
        await world.start_worker(stack)
        job = await world.ended((await start(world)).id)
        assert (job.kind, job.state) == (jobs_pb2.JOB_KIND_REEXTRACT, jobs_pb2.JOB_STATE_SUCCEEDED)
        assert (job.unit_count, job.graph_ready_count, job.failed_count) == (2, 2, 0)
        assert await extracted(world) == {"LEADS": "guild", "OWNS": "ledger"}
        asked = len(script.asked)
        again = await world.ended((await start(world)).id)
        assert again.id != job.id
        assert (again.state, again.graph_ready_count) == (jobs_pb2.JOB_STATE_SUCCEEDED, 2)
        assert len(script.asked) == asked


async def test_starting_a_reextraction_twice_returns_the_same_job(world: World) -> None:
    assert (await start(world)).id == (await start(world)).id


async def test_an_unknown_key_cannot_start_a_reextraction(world: World) -> None:
    stranger = (("authorization", "Bearer unknown"),)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await world.models.StartReextraction(
            models_pb2.StartReextractionRequest(), metadata=stranger, timeout=10
        )
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
