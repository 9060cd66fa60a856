"""Withdrawing and correcting facts, and settling sources, over gRPC."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from braid.common.v1 import errors_pb2, retrieval_pb2
from braid.graph.v1 import (
    corrections_pb2,
    entities_pb2,
    facts_pb2,
    history_pb2,
    ingest_pb2,
    ontology_pb2,
    structure_pb2,
)
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import fact, stamp, stream
from tests.integration.graph_query.test_fact_ends_and_ontology import add_fact, ontology

Correction = corrections_pb2.FactCorrection
GONE = corrections_pb2.WITHDRAWAL_OUTCOME_WITHDRAWN
GONE_BEFORE = corrections_pb2.WITHDRAWAL_OUTCOME_ALREADY_WITHDRAWN
UNKNOWN = corrections_pb2.WITHDRAWAL_OUTCOME_NOT_FOUND
CHUNK = "00000000-0000-4000-8000-000000000007"


def withdrawal(*fact_ids: str, **more: Any) -> corrections_pb2.WithdrawFactsRequest:
    return corrections_pb2.WithdrawFactsRequest(fact_ids=fact_ids, **more)


def correction(fact_id: str, *paths: str, **values: Any) -> corrections_pb2.CorrectFactRequest:
    return corrections_pb2.CorrectFactRequest(
        fact_id=fact_id,
        correction=Correction(**values),
        update_mask=FieldMask(paths=paths or list(values)),
        reason=" misread ",
        chunk_id=CHUNK.upper(),
    )


def end(name: str, kind: str = "") -> corrections_pb2.EntityCorrection:
    return corrections_pb2.EntityCorrection(name=name, type=kind)


async def get(tier: Tier, fact_id: str) -> structure_pb2.GetFactResponse:
    request = structure_pb2.GetFactRequest(fact_id=fact_id)
    return await tier.query.GetFact(request, metadata=tier.ours)


async def refusal(call: Any) -> Any:
    """Returns the error of a call."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return error_from_rpc(failed.value)


async def test_each_withdrawn_fact_has_its_outcome(tier: Tier) -> None:
    known, unknown = await add_fact(tier), str(uuid.uuid4())
    asked = withdrawal(known.upper(), unknown, known, reason=" never true ", chunk_id=CHUNK)
    first = await tier.ingest.WithdrawFacts(asked, metadata=tier.ours)
    assert [(one.fact_id, one.outcome) for one in first.withdrawals] == [
        (known, GONE),
        (unknown, UNKNOWN),
    ]
    again = await tier.ingest.WithdrawFacts(asked, metadata=tier.ours)
    assert [one.outcome for one in again.withdrawals] == [GONE_BEFORE, UNKNOWN]
    assert again.space_revision == first.space_revision
    found = await get(tier, known)
    assert not found.HasField("fact")
    change = found.versions[-1].change
    assert change.kind == facts_pb2.FACT_CHANGE_KIND_WITHDRAWN
    assert (change.reason, change.chunk_id) == ("never true", CHUNK)


async def test_facts_of_another_space_are_neither_withdrawn_nor_corrected(tier: Tier) -> None:
    known = await add_fact(tier)
    answer = await tier.ingest.WithdrawFacts(withdrawal(known), metadata=tier.theirs)
    assert [one.outcome for one in answer.withdrawals] == [UNKNOWN]
    error = await refusal(
        tier.ingest.CorrectFact(correction(known, statement="x"), metadata=tier.theirs)
    )
    assert error.reason == errors_pb2.ERROR_REASON_NOT_FOUND
    assert (await get(tier, known)).HasField("fact")


async def test_a_history_shows_withdrawn_facts_only_when_asked(tier: Tier) -> None:
    known = await add_fact(tier)
    await tier.ingest.WithdrawFacts(withdrawal(known), metadata=tier.ours)
    request = history_pb2.GetEntityHistoryRequest(
        entity=entities_pb2.EntitySelector(name="guild"), include_withdrawn=True
    )
    shown = await tier.query.GetEntityHistory(request, metadata=tier.ours)
    assert [one.fact.id for one in shown.withdrawn] == [known]
    assert (shown.entity.name, list(shown.facts), shown.summary.fact_count) == ("Guild", [], 0)
    request.include_withdrawn = False
    error = await refusal(tier.query.GetEntityHistory(request, metadata=tier.ours))
    assert error.reason == errors_pb2.ERROR_REASON_NOT_FOUND


async def test_a_corrected_fact_keeps_its_id_and_says_who_corrected_it(tier: Tier) -> None:
    known = await add_fact(tier)
    asked = correction(known.upper(), valid_time=stamp("2019-01-01"), statement="Anna led it.")
    answer = await tier.ingest.CorrectFact(asked, metadata=tier.ours)
    assert (answer.fact.id, answer.changed, answer.replaced_fact_id) == (known, True, "")
    assert (answer.fact.valid_time, answer.fact.statement) == (stamp("2019-01-01"), "Anna led it.")
    former, latest = (await get(tier, known)).versions
    assert former.fact.valid_time == stamp("2020-01-01")
    assert (former.change.kind, former.change.reason, former.change.chunk_id) == (
        facts_pb2.FACT_CHANGE_KIND_CORRECTED,
        "misread",
        CHUNK,
    )
    assert not latest.HasField("change")
    again = await tier.ingest.CorrectFact(asked, metadata=tier.ours)
    assert (again.changed, again.space_revision) == (False, answer.space_revision)


async def test_a_value_that_is_named_and_not_given_is_emptied(tier: Tier) -> None:
    known = await add_fact(tier)
    asked = correction(known, "valid_time", "statement")
    answer = await tier.ingest.CorrectFact(asked, metadata=tier.ours)
    assert not answer.fact.HasField("valid_time")
    assert answer.fact.statement == "Anna Bell leads Guild"


async def test_the_former_id_of_a_fact_names_what_replaced_it(tier: Tier) -> None:
    known = await add_fact(tier)
    asked = correction(known, subject=end("Anna Ball", "Person"))
    answer = await tier.ingest.CorrectFact(asked, metadata=tier.ours)
    assert answer.replaced_fact_id == known
    former = await get(tier, known)
    assert not former.HasField("fact")
    assert former.versions[-1].change.replacement_fact_id == answer.fact.id
    assert (await get(tier, answer.fact.id)).versions[0].corrected_fact_id == known


@pytest.mark.parametrize(
    ("paths", "values", "field"),
    [
        (["invalid_time"], {"invalid_time": stamp("2020-01-01")}, "correction.invalid_time"),
        (["subject"], {"subject": end(" ")}, "correction.subject.name"),
        (["subject"], {}, "correction.subject"),
        (["object"], {"object": end("Guild", "Episodic")}, "correction.object"),
        (["relation_type"], {}, "correction.relation_type"),
        (["relation_type"], {"relation_type": "1"}, "correction.relation_type"),
        (["statement"], {"statement": "a" * 8193}, "correction.statement"),
        (["fact"], {}, "update_mask"),
        ([], {}, "update_mask"),
    ],
)
async def test_an_impossible_correction_names_its_field_and_changes_nothing(
    tier: Tier, paths: list[str], values: dict[str, Any], field: str
) -> None:
    known = await add_fact(tier)
    asked = corrections_pb2.CorrectFactRequest(
        fact_id=known, correction=Correction(**values), update_mask=FieldMask(paths=paths)
    )
    error = await refusal(tier.ingest.CorrectFact(asked, metadata=tier.ours))
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert [wrong.field for wrong in error.fields] == [field]
    assert len((await get(tier, known)).versions) == 1


@pytest.mark.parametrize("value", [[1], {"a": 1}])
async def test_attributes_must_be_flat(tier: Tier, value: Any) -> None:
    known = await add_fact(tier)
    asked = correction(known, "attributes")
    asked.correction.attributes.update({"n": value})
    error = await refusal(tier.ingest.CorrectFact(asked, metadata=tier.ours))
    assert [wrong.field for wrong in error.fields] == ["correction.attributes"]


async def test_a_strict_ontology_applies_to_corrections(tier: Tier) -> None:
    known = await add_fact(tier)
    put = ontology_pb2.PutOntologyRequest(ontology=ontology(strict=True))
    await tier.ingest.PutOntology(put, metadata=tier.ours)
    asked = correction(known, relation_type="ADMIRES")
    error = await refusal(tier.ingest.CorrectFact(asked, metadata=tier.ours))
    assert [wrong.field for wrong in error.fields] == ["correction.relation_type"]


def stated(*facts: ingest_pb2.FactInput) -> Iterator[ingest_pb2.AddFactsRequest]:
    """Yields a message of a source for each fact."""
    for request in stream(*facts):
        request.source = "roles.jsonl"
        yield request


async def test_a_source_withdraws_what_it_no_longer_states(tier: Tier) -> None:
    first = fact("Anna Bell", "LEADS", "Guild", valid_time=stamp("2020-01-01"))
    second = fact("Karl Otto", "LEADS", "Guild")
    await tier.ingest.AddFacts(stated(first, second), metadata=tier.ours)
    again = await tier.ingest.AddFacts(stated(second), metadata=tier.ours)
    asked = corrections_pb2.SettleFactSourceRequest(
        source="roles.jsonl", first_revision=again.source_revision
    )
    kept = await tier.ingest.SettleFactSource(asked, metadata=tier.ours)
    assert [one.subject.name for one in kept.missing] == ["Anna Bell"]
    assert (kept.missing_count, kept.withdrawn_count) == (1, 0)
    asked.withdraw = True
    theirs = await tier.ingest.SettleFactSource(asked, metadata=tier.theirs)
    assert theirs.missing_count == 0
    gone = await tier.ingest.SettleFactSource(asked, metadata=tier.ours)
    assert (gone.missing_count, gone.withdrawn_count) == (1, 1)
    listed = structure_pb2.ListFactsRequest(
        as_of=retrieval_pb2.TimeSelector(range=retrieval_pb2.TimeRange())
    )
    facts = (await tier.query.ListFacts(listed, metadata=tier.ours)).facts
    assert [one.subject.name for one in facts] == ["Karl Otto"]


async def test_a_source_that_states_the_same_again_leaves_the_space_as_it_was(tier: Tier) -> None:
    facts = [fact("Anna Bell", "LEADS", "Guild"), fact("Karl Otto", "LEADS", "Guild")]
    first = await tier.ingest.AddFacts(stated(*facts), metadata=tier.ours)
    again = await tier.ingest.AddFacts(stated(*facts), metadata=tier.ours)
    assert (again.added_count, again.unchanged_count) == (0, 2)
    assert again.space_revision == first.space_revision
    assert again.source_revision > first.source_revision
    fewer = await tier.ingest.AddFacts(stated(facts[0]), metadata=tier.ours)
    asked = corrections_pb2.SettleFactSourceRequest(
        source="roles.jsonl", first_revision=fewer.source_revision
    )
    settled = await tier.ingest.SettleFactSource(asked, metadata=tier.ours)
    assert [one.subject.name for one in settled.missing] == ["Karl Otto"]


async def test_facts_that_another_source_states_too_change_the_space_once(tier: Tier) -> None:
    known = fact("Anna Bell", "LEADS", "Guild")
    first = await tier.ingest.AddFacts(stream(known), metadata=tier.ours)
    sourced = await tier.ingest.AddFacts(stated(known), metadata=tier.ours)
    assert (sourced.added_count, sourced.space_revision) == (0, first.space_revision + 1)
    again = await tier.ingest.AddFacts(stream(known), metadata=tier.ours)
    assert again.space_revision == sourced.space_revision
