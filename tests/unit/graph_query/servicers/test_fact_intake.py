"""Which given facts are accepted."""

from __future__ import annotations

import re

import pytest

from braid.graph.v1 import ingest_pb2
from services.graph_query.core.names import RESERVED_TYPES
from services.graph_query.embeddings.space_models import SpaceModels
from services.graph_query.neo4j.queries import load_schema
from services.graph_query.servicers.ingest import FactIntake
from services.runtime.errors import InvalidFieldError, StoreUnavailableError
from tests.oracles.graph.store import FakeGraphStore
from tests.stubs.embedders import StubEmbedder


def intake_into(store: FakeGraphStore) -> FactIntake:
    """Returns an intake of the space `s`."""
    return FactIntake(store, "s", SpaceModels(store.embeddings, StubEmbedder()))


def typed(kind: str) -> ingest_pb2.AddFactsRequest:
    fact = ingest_pb2.FactInput(
        subject=ingest_pb2.EntityInput(name="Mira Okafor", type=kind),
        relation_type="OWNS",
        object=ingest_pb2.EntityInput(name="Payments Service"),
    )
    return ingest_pb2.AddFactsRequest(facts=[fact])


@pytest.mark.parametrize("kind", sorted(RESERVED_TYPES))
async def test_an_entity_type_that_is_a_reserved_label_is_rejected(kind: str) -> None:
    async with intake_into(FakeGraphStore()) as intake:
        await intake.take(typed(kind))
    answer = intake.response()
    assert (answer.added_count, answer.refused_count) == (0, 1)
    assert kind in answer.refused[0].reason


async def test_any_other_entity_type_is_accepted() -> None:
    async with intake_into(FakeGraphStore()) as intake:
        await intake.take(typed("Person"))
    assert (intake.response().added_count, intake.response().refused_count) == (1, 0)


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2003\u2028", " \u00a0 "])
async def test_a_name_of_unicode_whitespace_is_rejected_with_its_field(blank: str) -> None:
    subject, target = typed("Person"), typed("Person")
    subject.facts[0].subject.name = blank
    target.facts[0].object.name = blank
    async with intake_into(FakeGraphStore()) as intake:
        await intake.take(subject)
        await intake.take(target)
    reasons = [one.reason for one in intake.response().refused]
    assert reasons == [
        "the subject's name must not be blank",
        "the object's name must not be blank",
    ]
    assert intake.response().added_count == 0


@pytest.mark.parametrize("key", ["", " ", "\u00a0", "a\0b", "k" * 201])
async def test_an_invalid_attribute_name_rejects_only_its_fact(
    key: str,
) -> None:
    request = typed("Person")
    request.facts.append(typed("Person").facts[0])
    request.facts[0].attributes[key] = 1.0
    request.facts[1].attributes["k" * 200] = 1.0
    async with intake_into(FakeGraphStore()) as intake:
        await intake.take(request)
    answer = intake.response()
    assert (answer.added_count, [one.index for one in answer.refused]) == (1, [0])
    assert answer.refused[0].reason.startswith("attributes: a name must")


async def test_a_failed_write_is_raised_at_the_next_message_or_at_the_end() -> None:
    store = FakeGraphStore()
    store.failure = StoreUnavailableError("neo4j")
    with pytest.raises(StoreUnavailableError):
        async with intake_into(store) as intake:
            await intake.take(typed("Person"))
    with pytest.raises(StoreUnavailableError):
        async with intake_into(store) as intake:
            await intake.take(typed("Person"))
            await intake.take(typed("Person"))
            pytest.fail("the second message was taken")


async def test_facts_before_an_invalid_message_are_kept() -> None:
    store = FakeGraphStore()
    wrong = typed("Person")
    wrong.facts[0].embedding.append(1.0)
    with pytest.raises(InvalidFieldError):
        async with intake_into(store) as intake:
            await intake.take(typed("Person"))
            await intake.take(wrong)
    assert (await store.stats("s")).facts == 1


def test_every_label_of_the_schema_is_reserved() -> None:
    text = "".join(load_schema().statements)
    labels = set(re.findall(r"\(\w*:([A-Z][A-Za-z]+)", text))
    assert labels
    assert labels <= RESERVED_TYPES
