"""The OpenAPI document states the bounds of the contracts."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from buf.validate import validate_pb2
from google.protobuf.message import Message

from braid.agent.v1 import consistency_pb2, jobs_pb2
from braid.agent.v1 import search_pb2 as agent
from braid.common.v1 import rules_pb2
from braid.graph.v1 import findings_pb2, history_pb2, ontology_pb2, query_pb2, structure_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2
from braid.vector.v1 import search_pb2 as vector
from gateway.clients import Clients
from gateway.rest.app import create_app
from gateway.rest.mapping.openapi import GUARDED
from gateway.settings import GatewaySettings
from services.runtime.identity import Authenticator

BODIES: list[tuple[str, type[Message], str]] = [
    *(
        (body, message, field)
        for body, message in (
            ("VectorSearchRequest", vector.VectorSearchRequest),
            ("TextSearchRequest", vector.TextSearchRequest),
            ("HybridSearchRequest", vector.HybridSearchRequest),
            ("SearchFactsRequest", query_pb2.SearchFactsRequest),
            ("ComprehensiveSearchRequest", agent.ComprehensiveSearchRequest),
        )
        for field in ("query", "limit")
    ),
    ("VectorSearchRequest", vector.VectorSearchRequest, "min_score"),
    ("TextSearchRequest", vector.TextSearchRequest, "min_score"),
    ("HybridSearchRequest", vector.HybridSearchRequest, "min_score"),
    ("HybridSearchRequest", vector.HybridSearchRequest, "text_weight"),
    ("ComprehensiveSearchRequest", agent.ComprehensiveSearchRequest, "text_weight"),
    ("SearchFactsRequest", query_pb2.SearchFactsRequest, "entity_name"),
    ("SearchFactsRequest", query_pb2.SearchFactsRequest, "relation_type"),
    ("ChunkFilter", chunks_pb2.ChunkFilter, "document_ids"),
    ("AddFindingsRequest", findings_pb2.AddFindingsRequest, "findings"),
    ("FindingInput", findings_pb2.FindingInput, "about_entities"),
    ("FindingDetails", findings_pb2.FindingDetails, "key_insight"),
    ("FindingDetails", findings_pb2.FindingDetails, "confidence"),
    ("FindingFilter", findings_pb2.FindingFilter, "ids"),
    ("SearchFindingsRequest", findings_pb2.SearchFindingsRequest, "query"),
    ("PutOntologyRequest", ontology_pb2.Ontology, "entity_types"),
    ("RelationType", ontology_pb2.RelationType, "name"),
]
PARAMETERS: list[tuple[str, str, type[Message], str]] = [
    ("get /api/documents", "limit", documents_pb2.ListDocumentsRequest, "page_size"),
    ("get /api/graph/entities", "limit", query_pb2.ListEntitiesRequest, "page_size"),
    ("get /api/graph/neighborhood/{entity}", "limit", query_pb2.GetNeighborhoodRequest, "limit"),
    (
        "get /api/graph/history/{entity}",
        "limit",
        history_pb2.GetEntityHistoryRequest,
        "page_size",
    ),
    (
        "get /api/graph/history/{entity}",
        "relation",
        history_pb2.GetEntityHistoryRequest,
        "relation_type",
    ),
    ("get /api/graph/snapshot", "limit", history_pb2.GetSnapshotRequest, "page_size"),
    ("get /api/graph/diff", "limit", history_pb2.DiffGraphRequest, "limit"),
    ("get /api/graph/paths", "limit", structure_pb2.FindPathsRequest, "limit"),
    ("get /api/graph/paths", "max_hops", structure_pb2.FindPathsRequest, "max_hops"),
    ("get /api/facts", "limit", structure_pb2.ListFactsRequest, "page_size"),
    ("get /api/findings", "limit", findings_pb2.SearchFindingsRequest, "page_size"),
    ("get /api/findings", "owner", findings_pb2.FindingFilter, "owner"),
    ("get /api/jobs", "limit", jobs_pb2.ListJobsRequest, "page_size"),
    ("get /api/jobs", "state", jobs_pb2.ListJobsRequest, "states"),
    ("get /api/jobs/dead", "limit", jobs_pb2.ListDeadDocumentsRequest, "page_size"),
    ("get /api/consistency", "limit", consistency_pb2.CheckConsistencyRequest, "max_listed"),
    ("post /api/consistency", "limit", consistency_pb2.RepairConsistencyRequest, "max_listed"),
]
DELEGATED = [
    ("braid-space", False, "^[A-Za-z0-9_-]{1,64}$"),
    ("braid-user", False, "^[!-~]{1,128}$"),
]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document; no tier has to run for it."""
    settings = GatewaySettings(_env_file=None)
    no_clients = cast("Clients", None)
    return create_app(no_clients, settings, Authenticator(None, allow_local=True)).openapi()


def contract_bounds(message: type[Message], name: str) -> tuple[object, object]:
    """Returns the contract's minimum and maximum of a field's value, length or number of items."""
    rules = message.DESCRIPTOR.fields_by_name[name].GetOptions().Extensions[validate_pb2.field]
    kind = rules.WhichOneof("type") or ""
    bounds: Any = getattr(rules, kind)
    words = {"string": ("min_len", "max_len"), "repeated": ("min_items", "max_items")}
    least, most = (
        getattr(bounds, word) if bounds.HasField(word) else None
        for word in words.get(kind, ("gte", "lte"))
    )
    not_blank = rules.string.Extensions[rules_pb2.not_blank]
    return 1 if not_blank else least, most


def documented_bounds(schema: dict[str, Any]) -> tuple[object, object]:
    """Returns the documented minimum and maximum of values that are not null."""
    (arm,) = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    words = {"string": "Length", "array": "Items"}.get(arm["type"], "imum")
    return arm.get(f"min{words}"), arm.get(f"max{words}")


@pytest.mark.parametrize(("body", "message", "name"), BODIES)
def test_a_body_field_is_documented_with_the_bounds_of_its_contract(
    document: dict[str, Any], body: str, message: type[Message], name: str
) -> None:
    field = document["components"]["schemas"][body]["properties"][name]
    assert documented_bounds(field) == contract_bounds(message, name)
    assert documented_bounds(field) != (None, None)


@pytest.mark.parametrize(("operation", "name", "message", "field"), PARAMETERS)
def test_a_parameter_is_documented_with_the_bounds_of_its_contract(
    document: dict[str, Any], operation: str, name: str, message: type[Message], field: str
) -> None:
    method, path = operation.split()
    parameters = document["paths"][path][method]["parameters"]
    (schema,) = [one["schema"] for one in parameters if one["name"] == name]
    assert documented_bounds(schema) == contract_bounds(message, field)
    assert documented_bounds(schema) != (None, None)


def test_no_number_is_documented_with_the_int32_maximum(document: dict[str, Any]) -> None:
    assert str(2**31 - 1) not in json.dumps(document)


GRAPH_PATHS = ("/api/graph/", "/api/facts", "/api/findings", "/api/ontology")
GRAPH_BODIES = (
    *("EndFactRequest", "AddFindingsRequest", "FindingInput", "FindingDetails", "IntentDetails"),
    *("OutcomeDetails", "Metric", "FindingSubject", "SearchFindingsRequest", "FindingFilter"),
    *("MetricFilter", "NumberRange", "PutOntologyRequest", "EntityType", "RelationType"),
    *("AttributeType", "RelationEndpoints"),
)


def test_every_parameter_and_field_of_the_graph_routes_has_a_description(
    document: dict[str, Any],
) -> None:
    parameters = [
        (path, parameter["name"])
        for path, operations in document["paths"].items()
        if path.startswith(GRAPH_PATHS)
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ]
    schemas = document["components"]["schemas"]
    undescribed = [
        (body, name)
        for body in GRAPH_BODIES
        for name, field in schemas[body]["properties"].items()
        if not field.get("description")
    ]
    assert (parameters, undescribed) == ([], [])


def test_the_delegation_headers_are_documented_on_every_guarded_route() -> None:
    no_clients = cast("Clients", None)
    settings = GatewaySettings(_env_file=None)
    app = create_app(no_clients, settings, Authenticator(None, allow_local=True))
    app.openapi()  # a second call must not change the document
    for path, operations in app.openapi()["paths"].items():
        for operation in operations.values():
            headers = [
                (one["name"], one["required"], one["schema"]["pattern"])
                for one in operation.get("parameters", ())
                if one["name"].startswith("braid-")
            ]
            assert headers == (DELEGATED if path.startswith(GUARDED) else []), path


def test_the_status_405_is_documented_for_every_operation(
    document: dict[str, Any],
) -> None:
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    assert all("405" in operation["responses"] for operation in operations)
