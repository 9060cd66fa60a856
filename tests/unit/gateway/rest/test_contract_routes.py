"""The routes that the contract declares take the fields of their requests, and name them in errors as callers do."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.routing import APIRoute

from braid.agent.v1 import consistency_pb2, entity_memory_pb2, jobs_pb2
from braid.common.v1 import json_pb2
from gateway.rest.contract_routes import contract_router

ROUTES = [one for one in contract_router().routes if isinstance(one, APIRoute)]


def route(method: str, path: str) -> APIRoute:
    [found] = [one for one in ROUTES if one.path == path and method in (one.methods or ())]
    return found


def query(one: APIRoute) -> set[str]:
    return {parameter.alias for parameter in one.dependant.query_params}


def test_every_method_with_a_route_is_called_by_it() -> None:
    services = [
        service
        for file in (consistency_pb2, entity_memory_pb2, jobs_pb2)
        for service in file.DESCRIPTOR.services_by_name.values()
    ]
    declared = {
        getattr(option, verb)
        for service in services
        for method in service.methods
        for option in [method.GetOptions().Extensions[json_pb2.rest]]
        if (verb := option.WhichOneof("route"))
    }
    assert len(declared) > 15
    assert declared <= {one.path for one in ROUTES}


def test_fields_are_parameters_of_get_and_delete_and_parts_of_the_body_otherwise() -> None:
    listed = route("GET", "/api/memory/entities")
    assert query(listed) == {"query", "type", "limit", "cursor"}
    assert listed.body_field is None
    saved = route("POST", "/api/memory/entities")
    assert query(saved) == set()
    assert saved.body_field is not None


def test_a_post_may_take_its_fields_from_the_query() -> None:
    repaired = route("POST", "/api/consistency")
    assert query(repaired) == {"limit", "apply"}
    assert repaired.body_field is None


def test_a_body_is_optional_where_nothing_in_it_is_required_but_not_to_replace_something() -> None:
    body: Any = route("POST", "/api/conversations").body_field
    assert not body.field_info.is_required()
    body = route("PUT", "/api/ontology").body_field
    assert body.field_info.is_required()


def test_an_entity_is_given_by_name_type_or_uuid() -> None:
    taken = query(route("GET", "/api/facts"))
    assert {"subject", "subject_type", "subject_uuid"} <= taken


def test_paths_without_parameters_come_before_those_with_one() -> None:
    paths = [one.path for one in ROUTES]
    assert paths.index("/api/jobs/dead") < paths.index("/api/jobs/{job_id}")


def test_a_path_may_also_stand_at_the_root() -> None:
    assert route("GET", "/memories/{id}").operation_id is None
    assert route("GET", "/api/memories/{id}").endpoint is route("GET", "/memories/{id}").endpoint


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "/api/quarantines", "admin"),
        ("POST", "/api/memory/query", "read"),
        ("PUT", "/api/ontology", "write"),
    ],
)
def test_a_route_needs_the_scope_of_its_method(method: str, path: str, scope: str) -> None:
    assert getattr(route(method, path), "scope", None) == scope


def test_the_routes_are_described_by_the_comments_of_the_contract() -> None:
    assert [one.path for one in ROUTES if not one.description] == []
