"""Rules that every contract follows, checked on the generated descriptors."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import protovalidate
import pytest
from buf.validate import validate_pb2
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from braid.common.v1 import options_pb2, rules_pb2
from braid.graph.v1 import query_pb2
from braid_protocol.channel import CONTRACTS, methods, service_config
from services.runtime.interceptors.authentication import required_scope
from services.runtime.interceptors.violation_messages import PATTERNS
from services.runtime.paging import encode_token

# It caches the compiled rules of messages.
_VALIDATOR = protovalidate.Validator()
BLANKS = ["", " ", "\t\r\n\v\f", "\x85", "\u00a0", "\u2003\u2028\u2029", " \u3000 "]


def test_whatever_has_side_effects_needs_more_than_the_scope_read() -> None:
    reading = options_pb2.SCOPE_READ
    harmless = descriptor_pb2.MethodOptions.NO_SIDE_EFFECTS
    found = {
        method.full_name
        for method in methods()
        if method.GetOptions().Extensions[options_pb2.required_scope] == reading
        and method.GetOptions().idempotency_level != harmless
    }
    # Without the scope `write` Ask saves nothing, CancelRun ends only runs that save nothing, and no access is counted.
    assert found == {
        "braid.agent.v1.AgentService.Ask",
        "braid.agent.v1.AgentService.CancelRun",
        "braid.agent.v1.MemoryService.GetMemory",
        "braid.agent.v1.MemoryService.SearchMemories",
        "braid.agent.v1.ProfileService.GetContext",
    }


@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_every_method_declares_a_scope(method: MethodDescriptor) -> None:
    path = f"/{method.containing_service.full_name}/{method.name}"
    # What belongs to all users of a space needs a key that may act for any of them.
    of_all = method.containing_service.full_name == "braid.agent.v1.SpaceTransferService"
    # What is of no space needs one for the installation.
    of_none = method.name in {"ListSpaces", "ListVectorSpaces", "ListGraphSpaces"}
    expected = {"delegate"} if of_all else {"operator"} if of_none else {"read", "write", "admin"}
    assert required_scope(path) in expected


@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_no_request_names_a_space_or_a_user(method: MethodDescriptor) -> None:
    names = {field.name for field in method.input_type.fields}
    assert not names & {"space", "user", "group_id", "tenant", "user_id"}


def test_exactly_the_unary_reads_and_calls_with_a_key_are_retried() -> None:
    config = service_config(retry=True)
    for method in methods():
        named = f'{{"service": "{method.containing_service.full_name}", "method": "{method.name}"}}'
        counted = method.GetOptions().Extensions[options_pb2.repetition]
        read = _is_harmless(method) or counted == options_pb2.REPETITION_COUNT
        unary = not method.client_streaming and not method.server_streaming
        repeatable = read or method.name in _KEYED
        assert (named in config) == (repeatable and unary), method.full_name


_KEYED = {
    "AddFacts",
    "AddFindings",
    "Ask",
    "CloseMemorySession",
    "CreateConversation",
    "CreateMemory",
    "UpdateMemory",
    "IngestDocument",
    "IngestFacts",
    "MergeEntities",
    "PutMemoryRelation",
    "RetryDeadDocuments",
    "RetryJob",
    "SaveEntity",
    "SaveRelationship",
    "StartMemoryInference",
    "StartReembedding",
    "StartReextraction",
}


@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_every_method_that_changes_something_may_be_repeated(method: MethodDescriptor) -> None:
    repetition = method.GetOptions().Extensions[options_pb2.repetition]
    assert (repetition == options_pb2.REPETITION_UNSPECIFIED) == _is_harmless(method)
    assert (repetition == options_pb2.REPETITION_KEY) == (method.name in _KEYED)
    assert (repetition == options_pb2.REPETITION_KEY) == _takes_a_key(method.input_type)


def _is_harmless(method: MethodDescriptor) -> bool:
    options = method.GetOptions()
    return bool(options.idempotency_level == options.NO_SIDE_EFFECTS)


def _takes_a_key(request: Descriptor) -> bool:
    names = set(request.fields_by_name)
    for field in request.fields:
        if field.containing_oneof is not None and field.message_type is not None:
            names.update(field.message_type.fields_by_name)
    return "idempotency_key" in names


def test_every_contract_with_a_service_is_listed() -> None:
    protos = Path(__file__).parents[3] / "protos"
    with_service = {
        path.relative_to(protos).as_posix()
        for path in (protos / "braid").rglob("*.proto")
        if "\nservice " in path.read_text()
    }
    assert {file.name for file in CONTRACTS} == with_service


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_fields_that_must_not_be_blank_reject_text_of_only_whitespace(blank: str) -> None:
    fields = list(_never_blank())
    assert "braid.agent.v1.ComprehensiveSearchRequest.query" in {
        field.full_name for field in fields
    }
    for field in fields:
        optional = _rules(field).ignore == validate_pb2.IGNORE_IF_ZERO_VALUE
        if blank or not optional:
            assert "string.not_blank" in _violated_rules(field, blank), field.full_name
        refused_for = set() if _accepts(field, blank) else {"string.no_control"}
        assert _violated_rules(field, f"{blank}\u00e9{blank}") == refused_for, field.full_name


def test_the_content_of_a_chunk_must_not_be_blank() -> None:
    names = {field.full_name for field in _never_blank()}
    assert "braid.vector.v1.ChunkInput.content" in names


def test_an_entity_type_must_not_contain_nul() -> None:
    field = query_pb2.GetNeighborhoodRequest.DESCRIPTOR.fields_by_name["entity_type"]
    assert _violated_rules(field, "a\x00b") == {"string.not_contains"}


def test_the_longest_possible_page_token_is_accepted() -> None:
    """The longest position is a name of 1,000 characters, each of up to six bytes, and an id."""
    longest = len(encode_token(("query",), ["\x01" * 1_000, "0" * 36, 0]))
    tokens = [
        field
        for method in methods()
        for field in method.input_type.fields
        if field.name == "page_token"
    ]
    assert len(tokens) > 5
    for field in tokens:
        assert _rules(field).string.max_len >= longest, field.full_name


def test_a_model_name_must_not_contain_nul() -> None:
    messages: dict[str, Descriptor] = {}
    for method in methods():
        _gather(method.input_type, messages)
    fields = [
        field
        for message in messages.values()
        for field in message.fields
        if field.name == "embedding_model"
    ]
    assert len(fields) > 3
    for field in fields:
        assert _violated_rules(field, "a\x00b") == {"string.not_contains"}, field.full_name


def test_exactly_the_patterns_of_the_contracts_have_readable_messages() -> None:
    patterns = {rules.pattern for _, rules in _string_rules() if rules.pattern}
    assert patterns == PATTERNS.keys()


@pytest.mark.parametrize("name", ["types", "tags"])
def test_filters_of_memories_must_not_contain_nul(name: str) -> None:
    messages: dict[str, Descriptor] = {}
    for method in methods():
        _gather(method.input_type, messages)
    fields = [
        message.fields_by_name[name]
        for full_name, message in messages.items()
        if full_name.endswith(("ListMemoriesRequest", "SearchMemoriesRequest"))
        and name in message.fields_by_name
    ]
    assert fields
    for field in fields:
        assert _rules(field).repeated.items.string.not_contains == "\x00", field.full_name


def test_nul_is_the_only_text_that_not_contains_rules_forbid() -> None:
    for field, rules in _string_rules():
        assert rules.not_contains in {"", "\x00"}, field.full_name


def _never_blank() -> Iterator[FieldDescriptor]:
    messages: dict[str, Descriptor] = {}
    for method in methods():
        _gather(method.input_type, messages)
    for message in messages.values():
        for field in message.fields:
            if _rules(field).string.Extensions[rules_pb2.not_blank]:
                yield field


def _rules(field: FieldDescriptor) -> validate_pb2.FieldRules:
    rules: validate_pb2.FieldRules = field.GetOptions().Extensions[validate_pb2.field]
    return rules


def _accepts(field: FieldDescriptor, blank: str) -> bool:
    """Returns whether the field accepts these characters within a text; a few fields reject control characters."""
    refuses = any(rule.id == "string.no_control" for rule in _rules(field).cel)
    return not (refuses and any(unicodedata.category(char) == "Cc" for char in blank))


def _gather(message: Descriptor, into: dict[str, Descriptor]) -> None:
    if message.full_name in into:
        return
    into[message.full_name] = message
    for field in message.fields:
        if field.message_type is not None:
            _gather(field.message_type, into)


def _violated_rules(field: FieldDescriptor, value: str) -> set[str]:
    """Returns the rules that the field violates with the value."""
    assert field.containing_type is not None
    message = GetMessageClass(field.containing_type)(**{field.name: value})
    found = (broken.proto for broken in _VALIDATOR.collect_violations(message))
    return {
        broken.rule_id
        for broken in found
        if broken.field and [one.field_name for one in broken.field.elements] == [field.name]
    }


def _string_rules() -> Iterator[tuple[FieldDescriptor, validate_pb2.StringRules]]:
    """Yields every field with the rules of its text, and with those of the texts in its list."""
    messages: dict[str, Descriptor] = {}
    for method in methods():
        _gather(method.input_type, messages)
    for field in (field for message in messages.values() for field in message.fields):
        yield field, _rules(field).string
        yield field, _rules(field).repeated.items.string
