"""The OpenAPI document describes messages as they are written."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, cast

import pytest
from google.protobuf import descriptor_pool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, meta

from braid.agent.v1 import agent_pb2, memories_pb2, search_pb2
from braid.graph.v1 import history_pb2
from gateway.clients import Clients
from gateway.rest.app import create_app
from gateway.rest.mapping.message_json import to_json
from gateway.rest.mapping.message_schema import add_schemas, event_schema, shown
from gateway.settings import GatewaySettings
from services.runtime.identity import Authenticator
from tests.messages import messages
from tests.unit.gateway.rest.mapping.test_message_json import RECORDED


def described(*schemas: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {"schemas": list(schemas)}
    add_schemas(document)
    return document


def schema_of(message: Any) -> dict[str, Any]:
    [response] = shown(message).values()
    schema: dict[str, Any] = response["content"]["application/json"]["schema"]
    return schema


@cache
def validator_of(name: str) -> Draft202012Validator:
    document = described({"x-braid-message": name})
    return Draft202012Validator(document["schemas"][0] | {"components": document["components"]})


def component(document: dict[str, Any], name: str) -> dict[str, Any]:
    schema: dict[str, Any] = document["components"]["schemas"][name]
    return schema


def message_class(name: str) -> Any:
    return descriptor_pool.Default().FindMessageTypeByName(name)


@pytest.mark.parametrize("name", RECORDED)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_message_conforms_to_its_schema(name: str, data: st.DataObject) -> None:
    shape = message_class(name)
    message = data.draw(messages(shape))
    validator_of(name).validate(json.loads(json.dumps(to_json(message))))


def test_descriptions_are_the_comments_of_the_contract_with_the_names_of_the_json() -> None:
    document = described(schema_of(history_pb2.GetEntityHistoryResponse))
    change = component(document, "FactChange")
    assert change["description"].startswith("Why a state of a fact is no longer known")
    kinds = change["properties"]["kind"]
    assert kinds["enum"] == ["unspecified", "withdrawn", "corrected"]
    assert "`" not in change["properties"]["user"]["description"]


def test_a_shape_without_some_fields_has_a_name_of_its_own() -> None:
    document = described(schema_of(search_pb2.ComprehensiveSearchResponse))
    assert "attributes" not in component(document, "Fact")["properties"]
    document = described(schema_of(history_pb2.GetEntityHistoryResponse))
    assert "attributes" in component(document, "StatedFact")["properties"]


def test_each_event_of_a_run_is_described_with_its_time() -> None:
    document = described(event_schema(agent_pb2.RunEvent))
    [schema] = document["schemas"]
    assert len(schema["oneOf"]) == len(agent_pb2.RunEvent.DESCRIPTOR.oneofs_by_name["event"].fields)
    started = component(document, "RunStartedEvent")["properties"]
    assert started["event"]["const"] == "started"
    assert "created_at" in component(document, "RunStartedData")["required"]


def test_two_shapes_of_one_name_are_refused() -> None:
    document = {"schemas": [schema_of(memories_pb2.Memory)]} | {
        "components": {"schemas": {"ListedMemory": {"type": "string"}}}
    }
    with pytest.raises(ValueError, match="ListedMemory"):
        add_schemas(document)


def test_every_message_of_a_route_is_described() -> None:
    gateway = GatewaySettings(_env_file=None)
    app = create_app(cast("Clients", None), gateway, Authenticator(None, allow_local=True))
    text = json.dumps(app.openapi())
    assert "x-braid" not in text
    assert meta.is_valid(json.loads(text)["components"]["schemas"]["History"])
