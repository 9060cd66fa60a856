"""A space moves to another model while it is in use, and an interrupted move is completed, on real stores."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from hashlib import sha256

import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2, memories_pb2, models_pb2
from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import findings_pb2, query_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.typed_memory.domain import Owner
from services.graph_query.core.domain import FIRST, DescribedEntity, EntityName
from services.graph_query.embeddings import neo4j_store
from services.graph_query.embeddings.domain import TextKind, TextVector
from services.graph_query.embeddings.neo4j_store import Neo4jEmbeddings
from services.graph_query.episodes.extraction_result import ExtractionResult
from tests.integration.upkeep.conftest import DIMENSION, OURS, Models, WideEmbedder, World
from tests.integration.workers import worker_process
from tests.store_suite.graph.builders import passage
from tests.stubs.embedders import StubEmbedder, StubModels
from tests.stubs.openai_server import OpenAIStub, hang

NEW = "newer"


def worker(
    world: World, provider: OpenAIStub
) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
    """Starts a worker process with the newer model."""
    return worker_process(
        {
            "BRAID_AGENT_DATABASE_URL": world.agent.database_url.get_secret_value(),
            "BRAID_VECTOR_TARGET": world.agent.vector_target,
            "BRAID_GRAPH_TARGET": world.agent.graph_target,
            "BRAID_API_KEYS_FILE": str(world.runtime.api_keys_file),
            "BRAID_SERVICE_KEY": "agent-key",
            "EMBEDDING_PROVIDER": "openai",
            "EMBEDDING_API_KEY": "sk-test",
            "EMBEDDING_BASE_URL": provider.base_url,
            "EMBEDDING_MODEL": NEW,
            "EMBEDDING_DIMENSION": "16",
        }
    )


async def start(world: World) -> jobs_pb2.Job:
    """Starts the move to the configured model."""
    request = models_pb2.StartReembeddingRequest()
    return (await world.models.StartReembedding(request, metadata=OURS, timeout=10)).job


async def test_chunks_move_to_the_configured_model_during_writes(world: World) -> None:
    newer = StubEmbedder(model=NEW, dimension=16)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        for n in range(30):
            await world.put(f"d{n}", f"Ada met Bob {n}.")
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, newer)
        models = Models(default=newer, other=world.embedder)
        await world.start_worker(stack, models)
        later = [await world.send(f"later{n}", f"Carl met Dora {n}.") for n in range(10)]
        job = await world.ended((await start(world)).id)
        assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED, job
        for one in later:
            assert (await world.ended(one.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
        after = await world.put("after", "Eve met Kim.")
        assert after.state == jobs_pb2.JOB_STATE_SUCCEEDED
        found = await world.vector.list_models(world.space)
        assert [(one.model.name, one.embedded) for one in found.models] == [(NEW, found.chunks)]
        assert found.chunks == 41


async def test_memories_move_with_their_space(world: World) -> None:
    newer = StubEmbedder(model=NEW, dimension=16)
    given = memories_pb2.CreateMemoryRequest(content="Ada met Bob.", skip_inference=True)
    await world.memories.CreateMemory(given, metadata=OURS, timeout=20)
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, newer)
        await world.start_worker(stack, Models(default=newer, other=world.embedder))
        job = await world.ended((await start(world)).id)
    assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED, job
    found = await world.vector.list_models(Owner(world.space, "").partition)
    assert [(one.model.name, one.embedded) for one in found.models] == [(NEW, 1)]


async def test_a_change_of_the_dimension_alone_fails_with_its_reason(world: World) -> None:
    """A store has a model in one dimension only, so nothing can be moved, and the job must not report success."""
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("d", "Ada met Bob.")
    async with AsyncExitStack() as stack:
        shorter = StubEmbedder(dimension=16)
        await world.start_orchestrator(stack, shorter)
        await world.start_worker(stack, Models(default=shorter, other=StubEmbedder(NEW)))
        job = await world.ended((await start(world)).id)
    assert job.state == jobs_pb2.JOB_STATE_FAILED
    assert "Set EMBEDDING_DIMENSION to 32" in job.failures[0].reason
    assert [
        one.model.dimension for one in (await world.vector.list_models(world.space)).models
    ] == [32]


class KilledError(Exception):
    """Simulates the end of a process."""


def dying_after_one(move: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    """Wraps `move` so that it succeeds once and then fails as if the process were killed."""
    moved: list[str] = []

    async def moves(store: Neo4jEmbeddings, space: str, kind: TextKind, model: str) -> bool:
        if moved:
            raise KilledError
        moved.append(model)
        return await move(store, space, kind, model)

    return moves


async def embed_facts(world: World, embedder: WideEmbedder) -> None:
    """Ingests three facts with the embedder's vectors."""
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, embedder)
        facts = [
            graph_pb2.FactInput(
                subject=graph_pb2.EntityInput(name="Ada"),
                relation_type="KNOWS",
                object=graph_pb2.EntityInput(name=name),
            )
            for name in ("Bob", "Carl", "Dora")
        ]
        request = ingest_pb2.IngestFactsRequest(facts=facts)
        await world.ingest.IngestFacts(iter([request]), metadata=OURS, timeout=20)


@pytest.mark.parametrize("new", [WideEmbedder(model=NEW), StubEmbedder(NEW, 16)])
async def test_an_interrupted_model_change_of_the_graph_is_completed(
    world: World, monkeypatch: pytest.MonkeyPatch, new: StubEmbedder
) -> None:
    old = WideEmbedder()
    await embed_facts(world, old)
    embeddings = world.graph.embeddings
    texts = await embeddings.unembedded(world.space, TextKind.FACT, NEW, FIRST, 10)
    vectors = [
        TextVector(one.uuid, sha256(one.text.encode()).hexdigest(), new.vector(one.text))
        for one in texts
    ]
    assert await embeddings.put_vectors(world.space, TextKind.FACT, NEW, vectors) == 3
    with monkeypatch.context() as dying:
        dying.setattr(neo4j_store, "AT_ONCE", 1)
        dying.setattr(Neo4jEmbeddings, "_move", dying_after_one(Neo4jEmbeddings._move))
        with pytest.raises(KilledError):
            await embeddings.activate(world.space, NEW)
    assert (await embeddings.vectors(world.space)).changing_to == NEW
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, new)
        await world.start_worker(stack, Models(default=new, other=old))
        job = await world.ended((await start(world)).id)
        assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED, job
    assert (await embeddings.vectors(world.space)) == (NEW, "", 3, new.dimension)


async def test_facts_move_to_the_configured_model(world: World) -> None:
    old, new = WideEmbedder(), WideEmbedder(model=NEW)
    await embed_facts(world, old)
    assert (await world.graph.embeddings.vectors(world.space)) == ("stub", "", 3, DIMENSION)
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, new)
        await world.start_worker(stack, Models(default=new, other=old))
        job = await world.ended((await start(world)).id)
        assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED, job
    assert (await world.graph.embeddings.vectors(world.space)) == (NEW, "", 3, DIMENSION)


async def fill(world: World) -> None:
    """Stores passages, facts, a finding and an entity, each with a vector of the space's model."""
    for n in range(3):
        await world.put(f"d{n}", f"Ada met Bob {n}.")
    ends = [graph_pb2.EntityInput(name=name) for name in ("Bob", "Carl", "Dora", "Eve")]
    facts = [
        graph_pb2.FactInput(
            subject=graph_pb2.EntityInput(name="Ada"), relation_type="KNOWS", object=end
        )
        for end in ends
    ]
    request = ingest_pb2.IngestFactsRequest(facts=facts)
    await world.ingest.IngestFacts(iter([request]), metadata=OURS, timeout=20)
    given = findings_pb2.FindingInput(finding=findings_pb2.FindingDetails(key_insight="Ada knows."))
    added = findings_pb2.AddFindingsRequest(findings=[given])
    await world.findings.AddFindings(added, metadata=OURS, timeout=20)
    note = passage(world.space, "note", "Note", "Ada is an engineer.")
    vector = tuple(float(value) for value in (await WideEmbedder().embed(["Ada"]))[0])
    read = ExtractionResult(
        entities=(DescribedEntity(EntityName("Ada"), "An engineer.", {}, vector),)
    )
    await world.graph.extractions.add_extraction(world.space, note, read, "stub")


async def search(world: World, *models: StubEmbedder) -> list[bool]:
    """Searches facts and findings with a vector of each model; returns whether the fact search compared vectors."""
    compared = []
    for model in models:
        row = (await model.embed(["Who knows Bob?"]))[0]
        vector = retrieval_pb2.QueryEmbedding(embedding_model=model.model, values=row.tolist())
        found = await world.facts.SearchFacts(
            query_pb2.SearchFactsRequest(query="Who knows Bob?", query_embedding=vector),
            metadata=OURS,
            timeout=20,
        )
        assert len(found.hits) >= 4
        compared.append(found.vector_path == retrieval_pb2.VECTOR_PATH_EXACT)
        asked = findings_pb2.SearchFindingsRequest(query="Ada knows", query_embedding=vector)
        answer = await world.facts.SearchFindings(asked, metadata=OURS, timeout=20)
        assert [hit.finding.finding.key_insight for hit in answer.hits] == ["Ada knows."]
    return compared


async def move(world: World, to: StubEmbedder, former: StubEmbedder) -> None:
    """Moves the space to a model while it is searched."""
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, to)
        await world.start_worker(stack, Models(default=to, other=former))
        job = asyncio.create_task(world.ended((await start(world)).id))
        while not job.done():
            await search(world, to, former)
        assert job.result().state == jobs_pb2.JOB_STATE_SUCCEEDED, job.result()
    assert (await search(world, to)) == [True]


async def test_a_space_moves_to_another_dimension_and_back_while_it_is_searched(
    world: World,
) -> None:
    old, new = WideEmbedder(), StubEmbedder(NEW, 16)
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, old)
        await world.start_worker(stack, Models(default=old, other=new))
        await fill(world)
    assert (await world.graph.embeddings.vectors(world.space)) == ("stub", "", 5, DIMENSION)
    for to, former in ((new, old), (old, new)):
        await move(world, to, former)
        vectors = await world.graph.embeddings.vectors(world.space)
        assert vectors == (to.model, "", 5, to.dimension)
        for kind in TextKind:
            assert not await world.graph.embeddings.unembedded(
                world.space, kind, to.model, FIRST, 10
            )
        found = await world.vector.list_models(world.space)
        assert [(one.model.name, one.embedded) for one in found.models] == [
            (to.model, found.chunks)
        ]


async def test_facts_ingested_without_an_embedder_are_embedded_by_a_move(world: World) -> None:
    old = WideEmbedder(away=True)
    await embed_facts(world, old)
    assert (await world.graph.embeddings.vectors(world.space)) == ("", "", 0, 0)
    new = StubEmbedder(NEW, 16)
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, new)
        await world.start_worker(stack, Models(default=new, other=old))
        job = await world.ended((await start(world)).id)
        assert job.state == jobs_pb2.JOB_STATE_SUCCEEDED, job
    assert (await world.graph.embeddings.vectors(world.space)) == (NEW, "", 3, 16)


async def test_new_facts_keep_the_spaces_model_after_the_settings_change(
    world: World,
) -> None:
    old, new = WideEmbedder(), StubModels(NEW, 16, others=[WideEmbedder()])
    await embed_facts(world, old)
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, new)
        late = graph_pb2.FactInput(
            subject=graph_pb2.EntityInput(name="Ada"),
            relation_type="KNOWS",
            object=graph_pb2.EntityInput(name="Late"),
        )
        request = ingest_pb2.IngestFactsRequest(facts=[late])
        await world.ingest.IngestFacts(iter([request]), metadata=OURS, timeout=20)
    assert (await world.graph.embeddings.vectors(world.space)) == ("stub", "", 4, DIMENSION)


async def test_another_worker_completes_the_move_of_a_stopped_worker(world: World) -> None:
    newer = StubEmbedder(model=NEW, dimension=16)
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await asyncio.gather(*(world.put(f"d{n}", f"Ada met Bob {n}.") for n in range(20)))
    models = Models(default=newer, other=world.embedder)
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, newer)
        newer.stuck = True
        job = await start(world)
        async with AsyncExitStack() as first:
            await world.start_worker(first, models)
            while newer.running == 0:  # noqa: ASYNC110 - until it is embedding
                await asyncio.sleep(0.02)
        newer.stuck = False
        await world.start_worker(stack, models)
        assert (await world.ended(job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
    assert (await world.vector.space_model(world.space)).name == NEW  # type: ignore[union-attr]


async def test_another_process_completes_the_move_of_a_killed_process(
    world: World,
) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await asyncio.gather(*(world.put(f"d{n}", f"Ada met Bob {n}.") for n in range(20)))
    async with AsyncExitStack() as stack:
        await world.start_orchestrator(stack, StubEmbedder(model=NEW, dimension=16))
        provider = await stack.enter_async_context(OpenAIStub(dimension=16))
        provider.answer_always(hang())
        job = await start(world)
        first = await stack.enter_async_context(worker(world, provider))
        async with asyncio.timeout(60):
            while not provider.requests:  # noqa: ASYNC110 - until it is embedding
                await asyncio.sleep(0.02)
        second = await stack.enter_async_context(worker(world, provider))
        first.send_signal(signal.SIGKILL)
        await first.wait()
        provider.answer_always(None)
        assert (await world.ended(job.id)).state == jobs_pb2.JOB_STATE_SUCCEEDED
        second.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await second.wait() == 0
    found = await world.vector.list_models(world.space)
    assert [(one.model.name, one.embedded) for one in found.models] == [(NEW, found.chunks)]
    assert found.chunks == 20
