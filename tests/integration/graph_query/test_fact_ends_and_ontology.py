"""Ending facts, and ontologies, over gRPC."""

from __future__ import annotations

import uuid

import grpc
import pytest

from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2, ontology_pb2, query_pb2
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import fact, stamp, stream


async def add_fact(tier: Tier) -> str:
    """Adds a fact that is valid since 2020. Returns its uuid."""
    result = fact("Anna Bell", "LEADS", "Guild", valid_time=stamp("2020-01-01"))
    await tier.ingest.AddFacts(stream(result), metadata=tier.ours)
    found = await tier.query.GetNeighborhood(
        query_pb2.GetNeighborhoodRequest(entity_name="Guild"), metadata=tier.ours
    )
    return found.edges[0].id


def end_request(fact_uuid: str, day: str = "2022-01-01") -> ingest_pb2.EndFactRequest:
    return ingest_pb2.EndFactRequest(fact_id=fact_uuid, invalid_time=stamp(day))


async def test_a_fact_is_ended_once(tier: Tier) -> None:
    result = end_request((await add_fact(tier)).upper())
    first = await tier.ingest.EndFact(result, metadata=tier.ours)
    again = await tier.ingest.EndFact(result, metadata=tier.ours)
    assert (first.changed, again.changed) == (True, False)
    assert first.fact.invalid_time == stamp("2022-01-01")
    assert again.space_revision == first.space_revision


@pytest.mark.parametrize("day", ["2020-01-01", "2019-06-01"])
async def test_an_end_that_is_not_after_the_start_is_refused_naming_the_field(
    tier: Tier, day: str
) -> None:
    known = await add_fact(tier)
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.ingest.EndFact(end_request(known, day), metadata=tier.ours)
    error = error_from_rpc(failed.value)
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert [wrong.field for wrong in error.fields] == ["invalid_time"]


async def test_ending_an_unknown_fact_or_one_of_another_space_fails_with_not_found(
    tier: Tier,
) -> None:
    known = await add_fact(tier)
    for value, credential in ((known, tier.theirs), (str(uuid.uuid4()), tier.ours)):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await tier.ingest.EndFact(end_request(value), metadata=credential)
        assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_NOT_FOUND


@pytest.mark.parametrize(
    "request_",
    [
        ingest_pb2.EndFactRequest(fact_id="nonsense", invalid_time=stamp("2022-01-01")),
        ingest_pb2.EndFactRequest(fact_id=str(uuid.uuid4())),
    ],
)
async def test_an_end_with_an_invalid_fact_id_or_without_a_time_is_refused(
    tier: Tier, request_: ingest_pb2.EndFactRequest
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.ingest.EndFact(request_, metadata=tier.ours)
    assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_INVALID_FIELD


def ontology(**more: object) -> ontology_pb2.Ontology:
    owns = ontology_pb2.RelationType(
        name="OWNS",
        endpoints=[ontology_pb2.RelationEndpoints(subject_type="Person", object_type="Service")],
    )
    kinds = [ontology_pb2.EntityType(name=name) for name in ("Person", "Service")]
    return ontology_pb2.Ontology(entity_types=kinds, relation_types=[owns], **more)  # type: ignore[arg-type]


async def test_an_ontology_belongs_to_its_space_and_is_versioned(tier: Tier) -> None:
    put = ontology_pb2.PutOntologyRequest(ontology=ontology(), expected_version=0)
    assert (await tier.ingest.PutOntology(put, metadata=tier.ours)).version == 1
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        changed = ontology_pb2.PutOntologyRequest(
            ontology=ontology(strict=True), expected_version=0
        )
        await tier.ingest.PutOntology(changed, metadata=tier.ours)
    assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_WRONG_STATE
    asked = ontology_pb2.GetOntologyRequest()
    stored = await tier.query.GetOntology(asked, metadata=tier.ours)
    assert (stored.ontology, stored.version) == (ontology(), 1)
    assert (await tier.query.GetOntology(asked, metadata=tier.theirs)).version == 0


async def test_a_strict_ontology_refuses_undeclared_facts_individually(tier: Tier) -> None:
    put = ontology_pb2.PutOntologyRequest(ontology=ontology(strict=True))
    await tier.ingest.PutOntology(put, metadata=tier.ours)
    ends = {"subject_type": "Person", "object_type": "Service"}
    answer = await tier.ingest.AddFacts(
        stream(
            fact("Anna Bell", "OWNS", "Ledger", **ends),
            fact("Ledger", "OWNS", "Anna Bell", subject_type="Service", object_type="Person"),
            fact("Anna Bell", "ADMIRES", "Ledger", **ends),
        ),
        metadata=tier.ours,
    )
    assert (answer.added_count, [one.index for one in answer.refused]) == (1, [1, 2])


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (ontology_pb2.EntityType(name="Entity"), "ontology.entity_types[0].name"),
        (ontology_pb2.EntityType(name="Person\n"), "ontology.entity_types[0].name"),
        (ontology_pb2.EntityType(name="x" * 65), "ontology.entity_types[0].name"),
        (ontology_pb2.EntityType(name='a"b'), "ontology.entity_types[0].name"),
        (
            ontology_pb2.EntityType(name="Person", description="x" * 10_000),
            "ontology.entity_types[0].description",
        ),
        (
            ontology_pb2.EntityType(
                name="Person", attributes=[ontology_pb2.AttributeType(name="age")]
            ),
            "ontology.entity_types[0].attributes[0].kind",
        ),
    ],
)
async def test_an_invalid_ontology_is_refused_naming_the_field_and_changes_nothing(
    tier: Tier, wrong: ontology_pb2.EntityType, field: str
) -> None:
    put = ontology_pb2.PutOntologyRequest(ontology=ontology_pb2.Ontology(entity_types=[wrong]))
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.ingest.PutOntology(put, metadata=tier.ours)
    error = error_from_rpc(failed.value)
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert [one.field for one in error.fields] == [field]
    stored = await tier.query.GetOntology(ontology_pb2.GetOntologyRequest(), metadata=tier.ours)
    assert stored.version == 0
