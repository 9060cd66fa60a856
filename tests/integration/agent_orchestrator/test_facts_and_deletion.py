"""Facts are ingested as triples, and documents are deleted from both tiers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import grpc
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from braid.agent.v1 import ingest_pb2
from braid.graph.internal.v1 import embeddings_pb2
from braid.graph.v1 import corrections_pb2, facts_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.runtime.errors import (
    BraidError,
    FieldError,
    InvalidFieldError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)
from services.runtime.status import error_from_rpc
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World
from tests.integration.agent_orchestrator.uploads import data, document, ingest, removed_counts
from tests.stubs.embedders import StubEmbedder
from tests.stubs.script import fail

Entity = graph_pb2.EntityInput
Embeddings = embeddings_pb2.GetGraphEmbeddingsResponse


def fact(**values: object) -> graph_pb2.FactInput:
    return graph_pb2.FactInput(
        subject=Entity(name="Mira"),
        relation_type="LEADS_TEAM",
        object=Entity(name="Payments"),
        **values,  # type: ignore[arg-type] # any field of the message
    )


async def send(
    world: World, *messages: list[graph_pb2.FactInput], model: str = ""
) -> ingest_pb2.IngestFactsResponse:
    async def parts() -> AsyncIterator[ingest_pb2.IngestFactsRequest]:
        for facts in messages:
            yield ingest_pb2.IngestFactsRequest(facts=facts, embedding_model=model)

    return await world.ingest.IngestFacts(parts(), metadata=ALICE, timeout=10)


async def test_facts_are_stored_with_the_vectors_of_their_statements(world: World) -> None:
    answer = await send(world, [fact(statement="Mira leads."), fact()], [fact(statement="Later.")])
    assert world.embedder.texts == ["Mira leads.", "Mira leads team Payments", "Later."]
    assert {r.embedding_model for r in world.graph.script.requests["AddFacts"]} == {"stub"}
    assert all(len(one.embedding) == 4 for one in world.graph.facts)
    assert (answer.added_count, answer.unchanged_count, answer.refused_count) == (3, 0, 0)


async def test_many_facts_are_sent_in_batches_and_reported_as_one_stream(world: World) -> None:
    facts = [fact(statement=f"Fact {n}.") for n in range(1200)]
    for late in (3, 700, 1199):
        facts[late].valid_time.seconds = facts[late].invalid_time.seconds = 1
    answer = await send(world, facts[:900], facts[900:], [facts[0]])
    assert [len(r.facts) for r in world.graph.script.requests["AddFacts"]] == [500, 500, 201]
    assert (answer.added_count, answer.unchanged_count, answer.refused_count) == (1197, 1, 3)
    assert [one.index for one in answer.refused] == [3, 700, 1199]
    assert [one.statement for one in world.graph.facts][-1] == "Fact 1198."


async def send_of_source(
    world: World, *facts: graph_pb2.FactInput, **stated: object
) -> ingest_pb2.IngestFactsResponse:
    async def parts() -> AsyncIterator[ingest_pb2.IngestFactsRequest]:
        yield ingest_pb2.IngestFactsRequest(facts=facts, **stated)  # type: ignore[arg-type] # any

    return await world.ingest.IngestFacts(parts(), metadata=ALICE, timeout=10)


async def test_a_complete_source_is_compared_with_what_it_stated_before(world: World) -> None:
    missing = facts_pb2.Fact(statement="Mira leads.")
    world.graph.settled = corrections_pb2.SettleFactSourceResponse(
        missing=[missing], missing_count=1, withdrawn_count=1
    )
    answer = await send_of_source(world, fact(), source="roles.jsonl", replace=True)
    assert list(answer.missing) == [missing]
    assert (answer.missing_count, answer.withdrawn_count) == (1, 1)
    [added] = world.graph.script.requests["AddFacts"]
    [settled] = world.graph.script.requests["SettleFactSource"]
    assert added.source == "roles.jsonl"
    assert (settled.source, settled.withdraw) == ("roles.jsonl", True)
    assert settled.first_revision == answer.first_revision == 1


async def test_a_source_is_compared_once_its_last_part_is_there(world: World) -> None:
    first = await send_of_source(world, fact(), source="roles.jsonl", more_follows=True)
    assert "SettleFactSource" not in world.graph.script.requests
    await send_of_source(
        world,
        fact(statement="Later."),
        source="roles.jsonl",
        first_revision=first.first_revision,
    )
    [settled] = world.graph.script.requests["SettleFactSource"]
    assert (settled.first_revision, settled.withdraw) == (first.first_revision, False)


async def test_nothing_is_withdrawn_if_a_fact_is_refused(world: World) -> None:
    late = fact()
    late.valid_time.seconds = late.invalid_time.seconds = 1
    await send_of_source(world, fact(), late, source="roles.jsonl", replace=True)
    [settled] = world.graph.script.requests["SettleFactSource"]
    assert not settled.withdraw


async def test_a_source_that_states_nothing_any_more_is_compared_too(world: World) -> None:
    await send_of_source(world, source="roles.jsonl", replace=True)
    [settled] = world.graph.script.requests["SettleFactSource"]
    assert (settled.first_revision, settled.withdraw) == (0, True)


async def test_a_replacement_without_a_source_is_refused_and_nothing_added(world: World) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await send_of_source(world, fact(), replace=True)
    assert [one.field for one in error_from_rpc(failed.value).fields] == ["source"]
    assert world.graph.facts == []


async def test_given_vectors_are_stored_unchanged(world: World) -> None:
    await send(world, [fact(embedding=[0.0, 1.0, 0.0, 0.0])])
    assert world.embedder.texts == []
    assert list(world.graph.facts[0].embedding) == [0.0, 1.0, 0.0, 0.0]


async def test_without_an_embedder_facts_are_stored_without_vectors_after_one_attempt(
    world: World,
) -> None:
    world.embedder.failures = 1
    await send(world, [fact(statement=f"Fact {n}.") for n in range(900)])
    assert not any(one.embedding for one in world.graph.facts)
    assert len(world.graph.facts) == 900
    assert {r.embedding_model for r in world.graph.script.requests["AddFacts"]} == {""}
    assert world.embedder.texts == []


GIVEN = [0.0, 1.0, 0.0]
FORMER = StubEmbedder("former", 3)


def models_of(world: World) -> list[str]:
    """The models of the vectors in each call to the graph tier."""
    return [request.embedding_model for request in world.graph.script.requests["AddFacts"]]


def warnings(logs: Sequence[EventDict]) -> list[str]:
    """The logged reasons why facts were not embedded."""
    return [str(one["reason"]) for one in logs if one["event"] == "facts not embedded"]


def lengths(world: World) -> list[int]:
    """The vector length of each fact in the graph tier."""
    return [len(one.embedding) for one in world.graph.facts]


@pytest.mark.parametrize(
    ("graph", "passages", "used"),
    [
        ("", "", "stub"),
        ("former", "", "former"),
        ("", "former", "former"),
        ("former", "x", "former"),
    ],
)
async def test_facts_are_embedded_with_the_graphs_model_or_else_the_passages_model(
    world: World, graph: str, passages: str, used: str
) -> None:
    world.embedder.others = [FORMER]
    world.graph.embeddings.embedding_model, world.vector.model = graph, passages
    facts = [fact(statement=f"Fact {n}.") for n in range(1200)]
    await send(world, facts[:600], facts[600:])
    assert models_of(world) == [used] * 3
    assert set(lengths(world)) == {3 if used == "former" else 4}
    assert world.graph.script.count("GetGraphEmbeddings") == 1


@pytest.mark.parametrize(
    "state",
    [
        Embeddings(embedding_model="unknown", dimension=4),
        Embeddings(next_embedding_model="stub"),
        Embeddings(embedding_model="stub", dimension=5),
    ],
)
async def test_facts_are_sent_without_vectors_that_the_graph_would_reject(
    world: World, state: Embeddings
) -> None:
    world.graph.embeddings = state
    answer = await send(world, [fact(statement=f"Fact {n}.") for n in range(600)])
    assert (answer.added_count, answer.refused_count) == (600, 0)
    assert set(lengths(world)) == {0}
    assert models_of(world) == ["", ""]
    assert world.graph.script.count("GetGraphEmbeddings") == 1


@pytest.mark.parametrize("method", ["GetGraphEmbeddings", "GetVectorStats"])
async def test_facts_are_sent_without_vectors_while_the_spaces_model_is_unknown(
    world: World, method: str
) -> None:
    script = (world.graph if method == "GetGraphEmbeddings" else world.vector).script
    script.acts[method] = fail(StoreUnavailableError("store"))
    await send(world, [fact(statement="Mira leads.")])
    assert (lengths(world), world.embedder.texts) == ([0], [])


@pytest.mark.parametrize("error", [WrongStateError("another model"), OverloadedError(1.0)])
async def test_facts_are_sent_without_vectors_when_the_graph_changes_models_midway(
    world: World, error: BraidError
) -> None:
    async def changing(request: graph_pb2.AddFactsRequest) -> None:
        if request.embedding_model:
            world.graph.embeddings = Embeddings(next_embedding_model="former")
            raise error

    world.graph.script.acts["AddFacts"] = changing
    facts = [fact(statement=f"Fact {n}.") for n in range(1600)]
    answer = await send(world, facts[:800], facts[800:])
    assert (answer.added_count, set(lengths(world))) == (1600, {0})
    assert models_of(world) == ["stub", "", "", "", ""]


async def test_facts_are_not_resent_without_vectors_to_an_overloaded_graph(world: World) -> None:
    world.graph.script.acts["AddFacts"] = fail(OverloadedError(1.0))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await send(world, [fact()])
    assert error_from_rpc(caught.value).reason == OverloadedError(1.0).reason
    assert world.graph.script.count("AddFacts") == 1


@pytest.mark.parametrize("tier", ["graph", "passages"])
async def test_given_vectors_keep_their_model_and_other_facts_are_embedded_with_it(
    world: World, tier: str
) -> None:
    world.embedder.others = [FORMER]
    if tier == "graph":
        world.graph.embeddings.embedding_model = "former"
    else:
        world.vector.model = "former"
    await send(world, [fact(embedding=GIVEN), fact(statement="Bare.")], model="former")
    assert (models_of(world), lengths(world)) == (["former"], [3, 3])
    assert list(world.graph.facts[0].embedding) == GIVEN


@pytest.mark.parametrize("graph", ["", "former"])
async def test_facts_are_not_embedded_with_a_model_that_only_the_caller_names(
    world: World, graph: str
) -> None:
    theirs = StubEmbedder("theirs", 3)
    world.embedder.others = [FORMER, theirs]
    world.graph.embeddings.embedding_model = graph
    await send(world, [fact(embedding=GIVEN), fact(statement="Bare.")], model="theirs")
    assert (models_of(world), lengths(world), theirs.texts) == (["theirs"], [3, 0], [])


async def test_facts_are_not_embedded_when_given_vectors_have_another_length(world: World) -> None:
    with capture_logs() as logs:
        await send(world, [fact(embedding=GIVEN), fact(statement="Bare.")], model="stub")
    assert (lengths(world), world.embedder.texts) == ([3, 0], [])
    assert warnings(logs) == ["the model's vectors have another length than those that are there"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (Embeddings(embedding_model="unknown", dimension=4), "the space's model is not to be had"),
        (Embeddings(next_embedding_model="stub"), "the graph changes over to another model"),
        (
            Embeddings(embedding_model="stub", dimension=5),
            "the model's vectors have another length than those that are there",
        ),
    ],
)
async def test_a_stream_without_vectors_logs_one_warning_with_the_reason(
    world: World, state: Embeddings, reason: str
) -> None:
    world.graph.embeddings = state
    with capture_logs() as logs:
        await send(world, *[[fact(statement=f"Fact {n}.") for n in range(500)]] * 3)
    assert warnings(logs) == [reason]
    assert world.embedder.texts == []


@pytest.mark.parametrize("method", ["GetGraphEmbeddings", "GetVectorStats"])
async def test_a_long_stream_asks_again_for_an_unknown_model(world: World, method: str) -> None:
    script = (world.graph if method == "GetGraphEmbeddings" else world.vector).script

    async def unavailable_at_first(_request: object) -> None:
        if not world.graph.script.count("AddFacts"):
            raise StoreUnavailableError("store")

    script.acts[method] = unavailable_at_first
    await send(world, *([fact(statement=f"Fact {m}/{n}.") for n in range(500)] for m in range(11)))
    assert models_of(world) == [*[""] * 10, "stub"]
    assert lengths(world)[-1] == 4


async def test_messages_with_different_models_are_sent_separately_and_in_order(
    world: World,
) -> None:
    async def parts() -> AsyncIterator[ingest_pb2.IngestFactsRequest]:
        for n, model in enumerate(("theirs", "theirs", "others", "")):
            embedding = [*GIVEN, 1.0] if not model else GIVEN
            late = fact(statement=f"Late {n}.")
            late.valid_time.seconds = late.invalid_time.seconds = 1
            batch = [fact(statement=f"Fact {n}.", embedding=embedding), late]
            yield ingest_pb2.IngestFactsRequest(facts=batch, embedding_model=model)

    answer = await world.ingest.IngestFacts(parts(), metadata=ALICE, timeout=10)
    assert models_of(world) == ["theirs", "others", "stub"]
    assert [one.index for one in answer.refused] == [1, 3, 5, 7]
    assert [one.statement for one in world.graph.facts] == [f"Fact {n}." for n in range(4)]


@pytest.mark.parametrize("error", [WrongStateError("another model"), OverloadedError(1.0)])
async def test_given_vectors_that_the_graph_rejects_fail_the_call(
    world: World, error: BraidError
) -> None:
    world.graph.embeddings = Embeddings(next_embedding_model="former")
    world.graph.script.acts["AddFacts"] = fail(error)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await send(world, [fact(embedding=[*GIVEN, 0.0]), fact(statement="Bare.")])
    assert error_from_rpc(caught.value).reason == error.reason
    assert world.graph.script.count("AddFacts") == 1


async def test_a_field_error_of_the_graph_tier_is_returned_to_the_caller(world: World) -> None:
    error = InvalidFieldError(FieldError("facts[0].embedding", "must have 4 values"))
    world.graph.script.acts["AddFacts"] = fail(error)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await send(world, *([fact()] * 500 for _ in range(10)))
    assert error_from_rpc(caught.value).fields == error.fields


async def test_a_malformed_fact_fails_the_stream_and_names_its_fields(world: World) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await send(world, [fact()], [graph_pb2.FactInput(relation_type="OWNS")])
    fields = {field.field for field in error_from_rpc(caught.value).fields}
    assert fields == {"facts[0].subject", "facts[0].object"}


async def delete(
    world: World, document_id: str, caller: Metadata = ALICE
) -> dict[tuple[str, str], int]:
    request = ingest_pb2.DeleteDocumentRequest(document_id=document_id)
    answer = await world.ingest.DeleteDocument(request, metadata=caller, timeout=10)
    return removed_counts(answer.removed)


async def not_found(world: World, document_id: str, caller: Metadata = ALICE) -> bool:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await delete(world, document_id, caller)
    return caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_deleted_document_is_removed_from_both_stores_with_a_receipt(world: World) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    await ingest(world, document(document_id="kept"), data("text"))
    assert await delete(world, "d") == {
        ("postgresql", "versions"): 1,
        ("postgresql", "chunks"): 1,
        ("neo4j", "episodes"): 1,
        ("neo4j", "facts"): 0,
        ("neo4j", "local_facts"): 0,
        ("neo4j", "mentions"): 2,
        ("neo4j", "entities"): 1,
        ("neo4j", "findings"): 0,
        ("neo4j", "fact_versions"): 0,
    }
    assert {key for _, key in world.vector.documents} == {"kept"}
    assert {one.document_id for one in world.graph.episodes.values()} == {"kept"}
    assert await not_found(world, "d")


async def test_chunks_of_former_versions_are_deleted_too(world: World) -> None:
    await ingest(world, document(document_id="d"), data("first"))
    await ingest(world, document(document_id="d"), data("second"))
    removed = await delete(world, "d")
    assert removed["postgresql", "versions"] == 2
    assert removed["postgresql", "chunks"] == removed["neo4j", "episodes"] == 2
    assert world.graph.episodes == {}


async def test_a_document_of_another_space_is_not_found_and_not_deleted(world: World) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    assert await not_found(world, "d", BOB)
    assert await not_found(world, "unknown")
    assert len(world.graph.episodes) == len(world.vector.documents) == 1
