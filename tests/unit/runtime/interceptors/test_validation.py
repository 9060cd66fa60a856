"""Invalid fields of a message are named, within limits that keep the event loop responsive."""

from __future__ import annotations

import pytest
from buf.validate import validate_pb2
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import ingest_pb2, query_pb2
from braid.vector.v1 import search_pb2
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.interceptors.stage import Call
from services.runtime.interceptors.validation import ValidationStage

NEVER = Timestamp(seconds=10**15)
LONG = "x" * 4_000


@pytest.fixture(scope="module")
def stage() -> ValidationStage:
    return ValidationStage()


def wrong(stage: ValidationStage, message: object) -> list[str]:
    """Returns the names of the invalid fields."""
    return [field for field, _ in errors(stage, message)]


def errors(stage: ValidationStage, message: object) -> tuple[FieldError, ...]:
    with pytest.raises(InvalidFieldError) as refused:
        stage.on_message(Call("/m", {}, None), message)  # type: ignore[arg-type] # any message
    return refused.value.fields


def fact(**fields: object) -> ingest_pb2.FactInput:
    """Returns a fact that is valid except for `fields`."""
    ends = {"subject": ingest_pb2.EntityInput(name="A"), "object": ingest_pb2.EntityInput(name="B")}
    return ingest_pb2.FactInput(**(ends | {"relation_type": "OWNS"} | fields))  # type: ignore[arg-type] # by name


def test_every_invalid_field_of_a_small_message_is_named(stage: ValidationStage) -> None:
    request = search_pb2.TextSearchRequest(query="", limit=51)
    assert wrong(stage, request) == ["query", "limit"]


def test_a_reversed_range_is_reported_without_the_names_of_its_fields(
    stage: ValidationStage,
) -> None:
    span = retrieval_pb2.TimeRange(start_time=Timestamp(seconds=2), end_time=Timestamp(seconds=1))
    request = query_pb2.SearchFactsRequest(query="x", as_of=retrieval_pb2.TimeSelector(range=span))
    assert errors(stage, request) == (FieldError("as_of.range", "the end must be after the start"),)


def test_a_list_of_too_many_invalid_items_is_only_reported_as_too_long(
    stage: ValidationStage,
) -> None:
    request = search_pb2.TextSearchRequest(query="x")
    request.filter.document_ids.extend([""] * 1_000_000)
    [(field, description)] = errors(stage, request)
    assert (field, "1000" in description) == ("filter.document_ids", True)


def test_only_the_first_invalid_text_of_a_list_in_a_large_message_is_named(
    stage: ValidationStage,
) -> None:
    request = search_pb2.TextSearchRequest(query="x")
    request.filter.document_ids.extend(["a" * 100] * 99 + [""] * 3)
    assert wrong(stage, request) == ["filter.document_ids[99]"]


def test_only_the_first_invalid_value_of_a_vector_is_named(stage: ValidationStage) -> None:
    request = search_pb2.HybridSearchRequest(query="x")
    request.query_embedding.embedding_model = "m"
    request.query_embedding.values.extend([float("nan")] * 4_000)
    assert wrong(stage, request) == ["query_embedding.values[0]"]


def test_each_invalid_item_of_a_large_message_is_named_by_its_first_invalid_field(
    stage: ValidationStage,
) -> None:
    facts = [
        fact(statement=LONG),
        fact(subject=None, relation_type=""),
        fact(),
        fact(relation_type=""),
    ]
    found = wrong(stage, ingest_pb2.AddFactsRequest(facts=facts))
    assert found == ["facts[1].subject", "facts[3].relation_type"]


def test_at_most_50_invalid_fields_are_named(stage: ValidationStage) -> None:
    facts = [fact(relation_type="")] * 1_000
    assert len(wrong(stage, ingest_pb2.AddFactsRequest(facts=facts))) == 50
    never = [fact(valid_time=NEVER)] * 1_000
    assert len(wrong(stage, ingest_pb2.AddFactsRequest(facts=never))) == 50


def test_an_invalid_timestamp_is_named_in_messages_of_any_size(stage: ValidationStage) -> None:
    small = ingest_pb2.AddFactsRequest(facts=[fact(valid_time=NEVER)])
    large = ingest_pb2.AddFactsRequest(facts=[fact(statement=LONG), fact(valid_time=NEVER)])
    assert wrong(stage, small) == ["facts[0].valid_time"]
    assert wrong(stage, large) == ["facts[1].valid_time"]


def test_a_list_of_too_many_facts_is_refused_before_its_items_are_checked(
    stage: ValidationStage,
) -> None:
    facts = [ingest_pb2.FactInput(valid_time=NEVER)] * 100_000
    assert wrong(stage, ingest_pb2.AddFactsRequest(facts=facts)) == ["facts"]


def test_a_rule_on_the_items_of_a_list_applies_in_messages_of_any_size(
    stage: ValidationStage,
) -> None:
    """Each item of the list is valid by itself."""
    text, message = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_MESSAGE
    file = FileDescriptorProto(
        name="listed.proto", package="listed", dependency=["buf/validate/validate.proto"]
    )
    file.message_type.add(name="Item").field.add(name="text", number=1, type=text, label=1)
    listed = file.message_type.add(name="Listed")
    items = listed.field.add(
        name="items", number=1, type=message, type_name=".listed.Item", label=3
    )
    rule = items.options.Extensions[validate_pb2.field].repeated.items.cel.add()
    rule.id, rule.message, rule.expression = "short", "is too long", "size(this.text) < 5"
    pool = descriptor_pool.Default()
    pool.Add(file)
    kind = GetMessageClass(pool.FindMessageTypeByName("listed.Listed"))
    for size in (10, 10_000):
        assert wrong(stage, kind(items=[{"text": "x" * size}])) == ["items[0]"]


def test_violated_patterns_are_described_without_regular_expressions(
    stage: ValidationStage,
) -> None:
    ends = {"subject": ingest_pb2.EntityInput(name="A\x00", type="9")}
    message = ingest_pb2.AddFactsRequest(facts=[fact(relation_type="-", **ends)])
    assert errors(stage, message) == (
        FieldError("facts[0].subject.name", "must not contain a NUL character"),
        FieldError(
            "facts[0].subject.type",
            "must be a letter, then letters, digits or underscores, or empty",
        ),
        FieldError(
            "facts[0].relation_type",
            "must be of letters, digits, spaces and _ - ' . , ( ), "
            "hold a letter and not begin with a space",
        ),
    )


def test_a_missing_field_is_reported_as_required(stage: ValidationStage) -> None:
    nothing = ingest_pb2.AddEpisodeRequest()
    assert errors(stage, nothing) == (FieldError("episode", "is required"),)
