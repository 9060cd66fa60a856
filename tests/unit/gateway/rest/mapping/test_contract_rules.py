"""The OpenAPI document states every rule of the contracts for REST's input: neither can change alone."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest
from buf.validate import validate_pb2
from fastapi.params import Path, Query
from fastapi.routing import iter_route_contexts
from google.protobuf.descriptor import FieldDescriptor

from braid.agent.v1 import jobs_pb2, search_pb2
from braid.common.v1 import retrieval_pb2
from braid.graph.internal.v1 import embeddings_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest
from braid.graph.v1 import ontology_pb2
from gateway.clients import Clients
from gateway.rest.app import create_app
from gateway.rest.facts.requests import FactsBody
from gateway.rest.mapping.contract_rules import (
    Bounds,
    ContractModel,
    field_at,
    schema_of,
    sentences_of,
)
from gateway.rest.mapping.field_types import Body
from gateway.settings import GatewaySettings
from services.runtime.identity import Authenticator

# Bodies of REST alone: their fields have no contract, or are documented differently.
OWN_BODIES = {ContractModel, FactsBody}
# Types that define their values: the contract has no further rules for them.
CLOSED = {"boolean", "date-time", "uuid"}
# Times in a query string, whose syntax is described in text.
TIMES = {"as_of", "from", "to"}
BLANK = " \u00a0\u3000\n"


def application() -> Any:
    """Returns the application; no tier has to run for it."""
    settings = GatewaySettings(_env_file=None)
    return create_app(cast("Clients", None), settings, Authenticator(None, allow_local=True))


def bodies(of: type[Body] = Body) -> Iterator[type[Body]]:
    """Yields every body, and every part of a body, that a route reads."""
    for body in of.__subclasses__():
        if body.__module__.startswith("gateway.rest."):
            yield body
            yield from bodies(body)


def parameters() -> Iterator[tuple[str, Any]]:
    """Yields every path and query parameter: its location, and the framework's description of it."""

    def declared(dependant: Any) -> Iterator[Any]:
        yield from (*dependant.path_params, *dependant.query_params)
        for inner in dependant.dependencies:
            yield from declared(inner)

    for route in iter_route_contexts(application().routes):
        if not getattr(route.original_route, "include_in_schema", True):
            continue  # the files of the explorer page
        dependant = getattr(route.original_route, "dependant", None)
        for parameter in declared(dependant) if dependant is not None else ():
            [method] = route.methods or [""]
            yield f"{method} {route.path_format} {parameter.alias}", parameter


APP = application()
DOCUMENT: dict[str, Any] = APP.openapi()
BODIES = [body for body in dict.fromkeys(bodies()) if body not in OWN_BODIES]
FIELDS = [
    (body, name, path)
    for body in BODIES
    if issubclass(body, ContractModel) and "contract" in dir(body)
    for name in body.model_fields
    for path in [body.names.get(name, name)]
    if field_at(body.contract, path) is not None
]
PARAMETERS = dict(parameters())


def rules_of(field: FieldDescriptor) -> Any:
    """Returns the rules of a contract's field."""
    return field.GetOptions().Extensions[validate_pb2.field]


@dataclass
class DocumentedRules:
    """The rules that a JSON schema states. Parsed independently of the code that generates the document."""

    keywords: dict[str, Any]
    description: str

    @classmethod
    def of(cls, schema: dict[str, Any]) -> DocumentedRules:
        """Returns the rules of a schema for values that are not null."""
        keywords = {word: value for word, value in schema.items() if word != "anyOf"}
        for arm in schema.get("anyOf", ()):
            if arm.get("type") != "null":
                keywords = arm | keywords
        return cls(keywords, schema.get("description", ""))

    def rejects(self, text: str) -> bool:
        """Returns whether a pattern does not match a text."""
        patterns = [
            self.keywords.get("pattern"),
            *(p["pattern"] for p in self.keywords.get("allOf", ())),
        ]
        return any(pattern and not re.search(pattern, text) for pattern in patterns)

    def states(self, rule: str, value: Any) -> bool:
        """Returns whether the schema states a rule of the contract."""
        if rule in LIMITS:
            return bool(self.keywords.get(LIMITS[rule]) == value)
        check = CHECKS.get(rule)
        return check is not None and check(self, value)


LIMITS = {
    "gte": "minimum",
    "lte": "maximum",
    "min_len": "minLength",
    "max_len": "maxLength",
    "min_items": "minItems",
    "max_items": "maxItems",
}
CHECKS: dict[str, Callable[[DocumentedRules, Any], bool]] = {
    "pattern": lambda described, value: (
        described.keywords.get("pattern") == value.replace("\\z", "$")
    ),
    "not_contains": lambda described, value: described.rejects(f"a{value}b"),
    "not_blank": lambda described, _: described.rejects(BLANK),
    "unique": lambda described, value: described.keywords.get("uniqueItems") is value,
    "uuid": lambda described, _: described.keywords.get("format") == "uuid",
    "in": lambda described, value: described.keywords.get("enum") == list(value),
    "items": lambda described, value: not missing(value, described.keywords["items"]),
    "defined_only": lambda described, _: "enum" in described.keywords,
    "not_in": lambda described, _: "enum" in described.keywords,
    "finite": lambda *_: True,  # JSON numbers are always finite
}


def missing(rules: Any, schema: dict[str, Any]) -> list[str]:
    """Returns the contract's rules that a schema does not state."""
    described = DocumentedRules.of(schema)
    kind = rules.WhichOneof("type")
    listed = getattr(rules, kind).ListFields() if kind else ()
    lost = [rule.name for rule, value in listed if not described.states(rule.name, value)]
    lost += [rule.id for rule in rules.cel if rule.message not in described.description]
    return lost


def is_closed(schema: dict[str, Any]) -> bool:
    """Returns whether a schema leaves no rule for the contract to add."""
    arms = [arm for arm in schema.get("anyOf", [schema]) if arm.get("type") != "null"]
    described = [arm.get("format", schema.get("format", arm.get("type"))) in CLOSED for arm in arms]
    listed = ["enum" in arm or "enum" in arm.get("items", ()) for arm in arms]
    return all(map(operator.or_, described, listed))


def test_every_body_with_open_values_has_a_contract() -> None:
    without = [
        body.__name__
        for body in BODIES
        if not issubclass(body, ContractModel)
        and not all(map(is_closed, body.model_json_schema()["properties"].values()))
    ]
    assert without == []


@pytest.mark.parametrize(("body", "name", "path"), FIELDS)
def test_a_body_field_is_documented_with_every_rule_of_its_contract(
    body: type[ContractModel], name: str, path: str
) -> None:
    field = field_at(body.contract, path)
    assert field is not None
    assert missing(rules_of(field), body.model_json_schema()["properties"][name]) == []


def test_rules_of_a_whole_message_are_stated_in_its_description() -> None:
    for body in BODIES:
        contract = getattr(body, "contract", None)
        if contract is None:
            continue
        options = contract.DESCRIPTOR.GetOptions().Extensions[validate_pb2.message]
        for rule in options.cel:
            assert rule.message in body.model_json_schema()["description"], body.__name__
    whole = DOCUMENT["components"]["schemas"]
    assert "cannot both be false" in whole["ComprehensiveSearchRequest"]["description"]
    assert "the end must be after the start" in whole["Between"]["description"]


@pytest.mark.parametrize("place", PARAMETERS)
def test_a_parameter_is_documented_with_every_rule_of_its_contract(place: str) -> None:
    method, path, name = place.split(" ")
    documented = DOCUMENT["paths"][path][method.lower()]["parameters"]
    (schema,) = [one["schema"] for one in documented if one["name"] == name]
    marks = [one for one in PARAMETERS[place].field_info.metadata if isinstance(one, Bounds)]
    if not marks:
        described = "names no field of a contract: annotate it with `Bounds`"
        assert name in TIMES or is_closed(schema), described
        return
    (mark,) = marks
    field = field_at(mark.message, mark.name)
    assert field is not None
    assert missing(rules_of(field), schema) == []


@pytest.mark.parametrize(
    ("operation", "name", "rule"),
    [
        ("get /api/jobs", "cursor", {"maxLength": 16384}),
        ("get /api/jobs/dead", "cursor", {"maxLength": 16384}),
        ("get /api/documents", "cursor", {"maxLength": 16384}),
        ("get /api/graph/entities", "cursor", {"maxLength": 16384}),
        ("get /api/jobs/{job_id}", "job_id", {"format": "uuid"}),
        ("post /api/jobs/{job_id}/cancel", "job_id", {"format": "uuid"}),
        ("post /api/jobs/{job_id}/retry", "job_id", {"format": "uuid"}),
        ("get /api/jobs/{job_id}/events", "job_id", {"format": "uuid"}),
        ("get /api/documents/{document_id}", "document_id", {"minLength": 1, "maxLength": 512}),
        ("delete /api/documents/{document_id}", "document_id", {"minLength": 1, "maxLength": 512}),
        ("get /api/graph/neighborhood/{entity}", "entity", {"maxLength": 1000}),
    ],
)
def test_the_most_common_rules_are_documented(
    operation: str, name: str, rule: dict[str, Any]
) -> None:
    method, path = operation.split(" ")
    parameters = DOCUMENT["paths"][path][method]["parameters"]
    (schema,) = [one["schema"] for one in parameters if one["name"] == name]
    assert schema == schema | rule


def test_uploads_are_documented_with_the_rules_of_their_contract() -> None:
    content = DOCUMENT["paths"]["/api/documents"]["post"]["requestBody"]["content"]
    document = content["application/json"]["schema"]["properties"]
    form = content["multipart/form-data"]["schema"]["properties"]
    assert document["id"]["maxLength"] == form["id"]["maxLength"] == 512
    assert "application/pdf" in form["content_type"]["enum"]
    assert "default" not in form["content_type"]
    assert document["content_type"]["description"].endswith('Default: "text/plain".')
    assert form["files"]["maxItems"] == 1000
    for fields in (document, form):
        assert "32 levels" in fields["metadata"]["description"]


@pytest.mark.parametrize(
    ("message", "path", "schema"),
    [
        (
            search_pb2.ComprehensiveSearchRequest,
            "limit",
            {"minimum": 1, "maximum": 50},
        ),
        (jobs_pb2.GetJobRequest, "job_id", {"format": "uuid"}),
        (
            search_pb2.ComprehensiveSearchRequest,
            "query",
            {
                "minLength": 1,
                "maxLength": 4096,
                "pattern": r"[^\s\u0085]",
                "allOf": [{"pattern": r"^[^\u0000]*$"}],
            },
        ),
        (
            search_pb2.ComprehensiveSearchRequest,
            "filter.document_ids",
            {"maxItems": 1000, "items": {"minLength": 1, "maxLength": 512}},
        ),
        (
            graph_ingest.FactInput,
            "subject.type",
            {"maxLength": 64, "pattern": "^([A-Za-z][A-Za-z0-9_]*)?$"},
        ),
        (
            ontology_pb2.EntityType,
            "name",
            {"minLength": 1, "maxLength": 64, "pattern": "^[A-Za-z][A-Za-z0-9_]*$"},
        ),
        (
            embeddings_pb2.ActivateGraphEmbeddingModelRequest,
            "embedding_model",
            {"minLength": 1, "maxLength": 200, "pattern": r"^[^\u0000]*$"},
        ),
        (retrieval_pb2.TimeRange, "start_time", {}),
    ],
)
def test_rules_are_translated_to_json_schema(
    message: Any, path: str, schema: dict[str, Any]
) -> None:
    field = field_at(message, path)
    assert field is not None
    assert schema_of(field) == schema


@pytest.mark.parametrize("path", ["nothing", "query.inner", "filter.nothing", "nothing.inner"])
def test_the_path_of_an_unknown_field_resolves_to_none(path: str) -> None:
    assert field_at(search_pb2.ComprehensiveSearchRequest, path) is None


def test_a_custom_rule_is_described_by_its_message() -> None:
    rules = [SimpleNamespace(id="other", message="must be other")]
    assert sentences_of(SimpleNamespace(cel=rules)) == ["must be other"]


def test_every_parameter_is_declared_as_a_query_or_path_parameter() -> None:
    assert all(isinstance(one.field_info, Query | Path) for one in PARAMETERS.values())
