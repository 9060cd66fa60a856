"""Typed memories when a tier fails: a memory is stored completely or not at all, and a search reports what it lacks."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable
from typing import Any

import asyncpg
import grpc
import pytest

from braid.agent.v1 import memories_pb2, memories_pb2_grpc, search_pb2
from braid.common.v1 import errors_pb2, expansion_pb2, legs_pb2, reranking_pb2
from braid.graph.v1 import relations_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.app import Embedders, open_app
from services.agent_orchestrator.reranking.reranking import MAX_RERANKED
from services.agent_orchestrator.typed_memory import memories
from services.runtime.channels import open_channel
from services.runtime.errors import FieldError, InvalidFieldError, StoreUnavailableError
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, World
from tests.stubs.script import fail, hang
from tests.stubs.vector_tier import chunk_hit

FORMULA = expansion_pb2.ExpansionOptions(mode=expansion_pb2.EXPANSION_MODE_FORMULA)
UNAVAILABLE = StoreUnavailableError("neo4j")
PARTITION = re.compile(r"memories-[0-9a-f]{48}")


@pytest.fixture
def stub(world: World) -> memories_pb2_grpc.MemoryServiceStub:
    return memories_pb2_grpc.MemoryServiceStub(world.channel)


async def create(
    stub: Any, content: str = "A note.", *, caller: Any = ALICE, **more: Any
) -> memories_pb2.Memory:
    request = memories_pb2.CreateMemoryRequest(content=content, skip_inference=True, **more)
    found: memories_pb2.Memory = (await stub.CreateMemory(request, metadata=caller)).memory
    return found


async def listed(stub: Any, caller: Any = ALICE) -> list[str]:
    page = await stub.ListMemories(memories_pb2.ListMemoriesRequest(), metadata=caller)
    return [memory.id for memory in page.memories]


async def reason_of(call: Any) -> errors_pb2.ErrorReason.ValueType:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return error_from_rpc(failed.value).reason


async def refused(call: Any) -> list[str]:
    """The fields that a call is rejected for."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    assert failed.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    return [one.field for one in error_from_rpc(failed.value).fields]


async def rows(world: World) -> int:
    connection = await asyncpg.connect(world.database.dsn("braid_agent"))
    try:
        return int(await connection.fetchval("select count(*) from memory"))
    finally:
        await connection.close()


async def test_a_memory_is_stored_in_a_partition_of_its_user(world: World, stub: Any) -> None:
    memory = await create(stub)
    ((vector_space, _),) = world.vector.documents
    ((graph_space, uuid),) = world.graph.episodes
    assert vector_space == graph_space
    assert PARTITION.fullmatch(vector_space)
    assert uuid == memory.id
    assert await listed(stub) == [memory.id]
    assert await listed(stub, BOB) == []


async def test_what_is_said_again_is_the_same_memory_also_from_two_devices_at_once(
    world: World, stub: Any
) -> None:
    first = await create(stub, "The pump leaks.", title="Pump")
    target = await create(stub, "The valve was replaced.")
    again = await create(stub, "The pump leaks.", title="Other", relations=[fixing(target.id)])
    assert (again.id, again.title) == (first.id, "Pump")
    [put] = world.graph.script.requests["PutRelations"]
    assert [(one.source_id, one.target_id) for one in put.relations] == [(first.id, target.id)]
    both = await asyncio.gather(*(create(stub, "The roof is new.") for _ in range(2)))
    assert both[0].id == both[1].id
    assert await rows(world) == 3
    # Another type, session or user has another memory.
    others = [
        await create(stub, "The pump leaks.", type="task"),
        await create(stub, "The pump leaks.", session_id="s"),
        await create(stub, "The pump leaks.", caller=BOB),
    ]
    assert len({first.id, *(one.id for one in others)}) == 4
    assert await refused(
        stub.CreateMemory(
            memories_pb2.CreateMemoryRequest(
                content="The pump leaks.", relations=[fixing(first.id)]
            ),
            metadata=ALICE,
        )
    ) == ["relations"]


@pytest.mark.parametrize(
    "failing",
    [
        lambda world: world.graph.script.acts.update(BatchAddEpisodes=fail(UNAVAILABLE)),
        lambda world: world.vector.script.acts.update(BatchUpsertDocuments=fail(UNAVAILABLE)),
    ],
    ids=["graph", "vector"],
)
async def test_nothing_is_stored_when_a_tier_fails(
    world: World, stub: Any, failing: Callable[[World], None]
) -> None:
    failing(world)
    assert await reason_of(create(stub)) == errors_pb2.ERROR_REASON_STORE_UNAVAILABLE
    assert (world.vector.documents, world.graph.episodes, await rows(world)) == ({}, {}, 0)


async def test_a_call_that_times_out_leaves_no_visible_memory(world: World, stub: Any) -> None:
    world.vector.script.acts["BatchUpsertDocuments"] = hang
    request = memories_pb2.CreateMemoryRequest(content="A note.")
    late = reason_of(stub.CreateMemory(request, metadata=ALICE, timeout=0.5))
    assert await late == errors_pb2.ERROR_REASON_DEADLINE
    del world.vector.script.acts["BatchUpsertDocuments"]
    assert await listed(stub) == []


async def test_the_next_inference_removes_an_incomplete_memory(world: World, stub: Any) -> None:
    memory = await create(stub)
    connection = await asyncpg.connect(world.database.dsn("braid_agent"))
    await connection.execute(
        "update memory set ready = false, create_time = now() - interval '1 day'"
    )
    await connection.close()
    assert (
        await reason_of(
            stub.GetMemory(memories_pb2.GetMemoryRequest(memory_id=memory.id), metadata=ALICE)
        )
        == errors_pb2.ERROR_REASON_NOT_FOUND
    )
    await stub.RunMemoryInference(memories_pb2.RunMemoryInferenceRequest(), metadata=ALICE)
    assert (world.vector.documents, world.graph.episodes, await rows(world)) == ({}, {}, 0)


async def test_an_unavailable_graph_leaves_the_results_unexpanded_and_is_reported(
    world: World, stub: Any
) -> None:
    memory = await create(stub)
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit(memory.id, 0.8)], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
    )
    world.graph.script.acts["Expand"] = fail(UNAVAILABLE)
    request = memories_pb2.SearchMemoriesRequest(query="note", expansion=FORMULA)
    found = await stub.SearchMemories(request, metadata=ALICE)
    assert [(hit.memory.id, hit.score) for hit in found.hits] == [(memory.id, 0.8)]
    assert found.expansion.status == legs_pb2.LEG_STATUS_DEGRADED
    assert found.expansion.reason == legs_pb2.LEG_REASON_STORE_UNAVAILABLE
    assert found.status == legs_pb2.LEG_STATUS_OK


async def test_a_hung_graph_costs_only_part_of_the_deadline(world: World, stub: Any) -> None:
    memory = await create(stub)
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit(memory.id, 0.8)], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
    )
    world.graph.script.acts["Expand"] = hang
    request = memories_pb2.SearchMemoriesRequest(query="note", expansion=FORMULA)
    async with asyncio.timeout(4):
        found = await stub.SearchMemories(request, metadata=ALICE, timeout=4)
    assert [hit.memory.id for hit in found.hits] == [memory.id]
    assert found.expansion.status == legs_pb2.LEG_STATUS_DEGRADED


async def test_hits_without_a_stored_memory_are_omitted(world: World, stub: Any) -> None:
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit("7f1d6a52-0000-4000-8000-000000000001", 0.8)],
        leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
    )
    request = memories_pb2.SearchMemoriesRequest(query="note", expansion=FORMULA)
    found = await stub.SearchMemories(request, metadata=ALICE)
    assert list(found.hits) == []
    assert found.status == legs_pb2.LEG_STATUS_NO_MATCH


async def test_without_a_service_key_memories_are_disabled(world: World) -> None:
    runtime = RuntimeSettings(drain_seconds=0)
    async with open_app(world.agent, runtime, Embedders(world.embedder, world.embedder)) as app:
        server = await start_server(
            settings=runtime, listen="127.0.0.1:0", services=app.services, probes=app.probes
        )
        async with open_channel(f"127.0.0.1:{server.port}", retry=False) as channel:
            keyless = memories_pb2_grpc.MemoryServiceStub(channel)
            asked = keyless.CreateMemory(memories_pb2.CreateMemoryRequest(content="A note."))
            assert await reason_of(asked) == errors_pb2.ERROR_REASON_WRONG_STATE
        await server.stop()


async def test_the_memories_of_a_session_form_one_chain_across_replicas(
    world: World, stub: Any
) -> None:
    embedders = Embedders(world.embedder, world.embedder)
    async with open_app(world.agent, world.runtime, embedders) as app:
        server = await start_server(
            settings=world.runtime, listen="127.0.0.1:0", services=app.services, probes=app.probes
        )
        async with open_channel(f"127.0.0.1:{server.port}", retry=False) as channel:
            other = memories_pb2_grpc.MemoryServiceStub(channel)
            texts = [f"Note {number}." for number in range(6)]
            both = [stub, other] * 3
            made = await asyncio.gather(
                *(
                    create(one, text, session_id="inc-1")
                    for one, text in zip(both, texts, strict=True)
                )
            )
        await server.stop()
    puts = world.graph.script.requests["PutRelations"]
    pairs = [(one.source_id, one.target_id) for put in puts for one in put.relations]
    followed = [target for _, target in pairs]
    assert len(pairs) == len(set(followed)) == 5
    assert {memory.id for memory in made} >= {*followed, *(source for source, _ in pairs)}


def fixing(target: str, **more: Any) -> memories_pb2.MemoryRelationInput:
    values: dict[str, Any] = {"relation_type": relations_pb2.CHUNK_RELATION_TYPE_FIXES, **more}
    return memories_pb2.MemoryRelationInput(target_id=target, **values)


async def relate(stub: Any, source: str, relation: memories_pb2.MemoryRelationInput) -> None:
    request = memories_pb2.PutMemoryRelationRequest(memory_id=source, relation=relation)
    await stub.PutMemoryRelation(request, metadata=ALICE)


async def test_a_relation_must_target_another_existing_memory_of_the_same_user(
    world: World, stub: Any
) -> None:
    mine, gone = (await create(stub)).id, (await create(stub, "Gone.")).id
    theirs = (await create(stub, caller=BOB)).id
    await remove(stub, gone)
    for target in (mine, mine.upper(), gone, theirs, str(uuid.uuid4())):
        assert await refused(relate(stub, mine, fixing(target))) == ["relation.target_id"]
    for target in (gone, theirs, str(uuid.uuid4())):
        adding = create(stub, relations=[fixing(mine), fixing(target)])
        assert await refused(adding) == ["relations[1].target_id"]
    assert await reason_of(relate(stub, gone, fixing(mine))) == errors_pb2.ERROR_REASON_NOT_FOUND
    assert world.graph.script.count("PutRelations") == 0
    assert await listed(stub) == [mine]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"relation_type": 99}, "relation_type"),
        ({"relation_type": 0}, "relation_type"),
        ({"strength": -0.1}, "strength"),
        ({"strength": 1.1}, "strength"),
        ({"strength": float("nan")}, "strength"),
    ],
)
async def test_an_invalid_relation_is_rejected_with_its_field(
    stub: Any, wrong: dict[str, Any], field: str
) -> None:
    source, target = (await create(stub)).id, (await create(stub, "Another.")).id
    relation = fixing(target, **wrong)
    assert await refused(relate(stub, source, relation)) == [f"relation.{field}"]
    assert await refused(create(stub, relations=[relation])) == [f"relations[0].{field}"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"max_hops": 0}, "expansion.max_hops"),
        ({"max_hops": 4}, "expansion.max_hops"),
        ({"min_strength": 1.1}, "expansion.min_strength"),
        ({"relation_types": ["MENDS"]}, "expansion.relation_types[0]"),
        ({"mode": expansion_pb2.EXPANSION_MODE_PAGERANK}, "expansion.mode"),
    ],
)
async def test_an_invalid_expansion_is_rejected_with_its_field_even_without_results(
    stub: Any, options: dict[str, Any], field: str
) -> None:
    wanted: dict[str, Any] = {"mode": expansion_pb2.EXPANSION_MODE_FORMULA, **options}
    request = memories_pb2.SearchMemoriesRequest(
        query="note", expansion=expansion_pb2.ExpansionOptions(**wanted)
    )
    assert await refused(stub.SearchMemories(request, metadata=ALICE)) == [field]


async def close(stub: Any, session_id: str = "inc-1") -> memories_pb2.CloseMemorySessionResponse:
    request = memories_pb2.CloseMemorySessionRequest(session_id=session_id)
    closed: memories_pb2.CloseMemorySessionResponse = await stub.CloseMemorySession(
        request, metadata=ALICE
    )
    return closed


async def remove(stub: Any, memory_id: str) -> None:
    await stub.DeleteMemory(memories_pb2.DeleteMemoryRequest(memory_id=memory_id), metadata=ALICE)


async def test_adding_to_a_session_while_it_closes_is_rejected(world: World, stub: Any) -> None:
    first = await create(stub, session_id="inc-1")
    late: list[asyncio.Task[errors_pb2.ErrorReason.ValueType]] = []

    async def add_another(_request: object) -> None:
        del world.graph.script.acts["PutRelations"]
        adding = reason_of(create(stub, "Too late.", session_id="inc-1"))
        late.append(asyncio.create_task(adding))
        await asyncio.sleep(0.3)

    world.graph.script.acts["PutRelations"] = add_another
    closed = await close(stub)
    assert await late[0] == errors_pb2.ERROR_REASON_WRONG_STATE
    assert closed.memory_count == 1
    assert set(await listed(stub)) == {first.id, closed.summary.id}


async def test_a_summary_that_cannot_be_linked_to_its_parts_is_not_stored(
    world: World, stub: Any
) -> None:
    part = await create(stub, session_id="inc-1")
    world.graph.script.acts["PutRelations"] = fail(UNAVAILABLE)
    assert await reason_of(close(stub)) == errors_pb2.ERROR_REASON_STORE_UNAVAILABLE
    assert await listed(stub) == [part.id]
    del world.graph.script.acts["PutRelations"]
    summary = (await close(stub)).summary
    assert await listed(stub) == [summary.id, part.id]


async def test_a_close_that_times_out_leaves_no_summary_and_can_be_repeated(
    world: World, stub: Any
) -> None:
    part = await create(stub, session_id="inc-1")
    world.graph.script.acts["PutRelations"] = hang
    request = memories_pb2.CloseMemorySessionRequest(session_id="inc-1")
    late = stub.CloseMemorySession(request, metadata=ALICE, timeout=1.5)
    assert await reason_of(late) == errors_pb2.ERROR_REASON_DEADLINE
    del world.graph.script.acts["PutRelations"]
    summary = (await close(stub)).summary
    assert await listed(stub) == [summary.id, part.id]


async def test_a_memory_deleted_while_its_session_closes_is_not_linked_to_the_summary(
    world: World, stub: Any
) -> None:
    removed, kept = [await create(stub, text, session_id="inc-1") for text in ("One.", "Two.")]
    gone = InvalidFieldError(FieldError("relations[0].source_id", "is no chunk of the space"))

    async def remove_the_first(request: object) -> None:
        del world.graph.script.acts["PutRelations"]
        await remove(stub, removed.id)
        await fail(gone)(request)

    world.graph.script.acts["PutRelations"] = remove_the_first
    summary = (await close(stub)).summary
    (joined,) = world.graph.script.requests["PutRelations"][-1].relations
    assert (joined.source_id, joined.target_id) == (kept.id, summary.id)


async def test_a_memory_whose_predecessor_is_deleted_meanwhile_is_stored(
    world: World, stub: Any
) -> None:
    first = await create(stub, "One.", session_id="inc-1")
    gone = InvalidFieldError(FieldError("relations[0].target_id", "is no chunk of the space"))

    async def remove_the_first(request: object) -> None:
        del world.graph.script.acts["PutRelations"]
        await remove(stub, first.id)
        await fail(gone)(request)

    world.graph.script.acts["PutRelations"] = remove_the_first
    second = await create(stub, "Two.", session_id="inc-1")
    assert await listed(stub) == [second.id]


async def test_any_relation_of_a_memory_with_many_relations_can_be_deleted(
    world: World, stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "MAX_RELATIONS", 2)
    hub, *others = [(await create(stub, f"Note {number}.")).id for number in range(6)]
    others.sort()
    world.graph.relations = [
        relations_pb2.ChunkRelation(
            source_id=hub,
            target_id=target,
            relation_type=relations_pb2.CHUNK_RELATION_TYPE_RELATED,
        )
        for target in others
    ]
    for target in others:
        request = memories_pb2.DeleteMemoryRelationRequest(memory_id=hub, target_id=target)
        answer = await stub.DeleteMemoryRelation(request, metadata=ALICE)
        assert answer.deleted_count == 1
    unknown = memories_pb2.DeleteMemoryRelationRequest(memory_id=hub, target_id=hub)
    refused = reason_of(stub.DeleteMemoryRelation(unknown, metadata=ALICE))
    assert await refused == errors_pb2.ERROR_REASON_NOT_FOUND


async def found_by(
    world: World, stub: Any, query: str, **more: Any
) -> memories_pb2.SearchMemoriesResponse:
    """Searches while the vector tier ranks another memory before the one whose text is the query."""
    other, exact = await create(stub, "Something else."), await create(stub, query)
    world.vector.answer = vector_pb2.HybridSearchResponse(
        hits=[chunk_hit(other.id, 0.8), chunk_hit(exact.id, 0.4)],
        leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
    )
    request = memories_pb2.SearchMemoriesRequest(query=query, **more)
    found: memories_pb2.SearchMemoriesResponse = await stub.SearchMemories(request, metadata=ALICE)
    return found


def values(found: memories_pb2.SearchMemoriesResponse) -> list[tuple[str, float]]:
    return [(hit.memory.content, hit.score) for hit in found.hits]


async def test_memories_are_reranked_by_their_best_sentence_unless_disabled(
    world: World, stub: Any
) -> None:
    query = "The pool was too small."
    found = await found_by(world, stub, query)
    assert values(found) == [(query, 0.8), ("Something else.", 0.4)]
    plain = await found_by(world, stub, query, rerank=reranking_pb2.RERANK_MODE_NONE)
    assert values(plain) == [("Something else.", 0.8), (query, 0.4)]


@pytest.mark.parametrize(
    ("rerank", "first"),
    [
        (reranking_pb2.RERANK_MODE_UNSPECIFIED, "The pool was too small."),
        (reranking_pb2.RERANK_MODE_NONE, "Something else."),
    ],
)
async def test_memories_in_a_comprehensive_search_are_reranked_as_requested(
    world: World, stub: Any, rerank: reranking_pb2.RerankMode.ValueType, first: str
) -> None:
    query = "The pool was too small."
    await found_by(world, stub, query)
    request = search_pb2.ComprehensiveSearchRequest(query=query, use_memories=True, rerank=rerank)
    answer = await world.search.ComprehensiveSearch(request, metadata=ALICE)
    memories_found = [one.content for one in answer.results if one.memory_type]
    assert memories_found[0] == first


async def test_the_first_memories_do_not_depend_on_the_limit(world: World, stub: Any) -> None:
    query = "The pool was too small."
    found = await found_by(world, stub, query, limit=1)
    assert values(found) == [(query, 0.8)]
    assert world.vector.script.requests["HybridSearch"][-1].limit == MAX_RERANKED
    plain = await found_by(world, stub, query, limit=1, rerank=reranking_pb2.RERANK_MODE_NONE)
    assert values(plain) == [("Something else.", 0.8)]
    assert world.vector.script.requests["HybridSearch"][-1].limit == 1


async def test_an_unavailable_reranker_keeps_the_order_and_degrades_the_status(
    world: World, stub: Any
) -> None:
    world.cross_encoder.away = True
    query = "The pool was too small."
    found = await found_by(world, stub, query)
    assert values(found) == [("Something else.", 0.8), (query, 0.4)]
    assert found.status == legs_pb2.LEG_STATUS_DEGRADED
    assert found.reason == legs_pb2.LEG_REASON_RERANKER_UNAVAILABLE


async def test_an_unconfigured_reranker_is_rejected(world: World, stub: Any) -> None:
    request = memories_pb2.SearchMemoriesRequest(
        query="note", rerank=reranking_pb2.RERANK_MODE_CROSS_ENCODER
    )
    refused = reason_of(stub.SearchMemories(request, metadata=ALICE))
    assert await refused == errors_pb2.ERROR_REASON_WRONG_STATE
