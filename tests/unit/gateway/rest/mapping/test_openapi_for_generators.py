"""What generators of typed clients need of the OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from gateway.clients import Clients
from gateway.rest.app import create_app
from gateway.settings import GatewaySettings
from services.runtime.identity import Authenticator


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document; no tier has to run for it."""
    settings = GatewaySettings(_env_file=None)
    no_clients = cast("Clients", None)
    return create_app(no_clients, settings, Authenticator(None, allow_local=True)).openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def shapes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            yield node
        for child in node.values():
            yield from shapes(child)
    elif isinstance(node, list):
        for child in node:
            yield from shapes(child)


def test_each_operation_has_a_name_of_its_own_that_reads(document: dict[str, Any]) -> None:
    names = {(m, p): operation["operationId"] for m, p, operation in operations(document)}
    assert len(set(names.values())) == len(names)
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)+", name) for name in names.values())
    assert names["post", "/api/chat"] == "askQuestion"
    assert names["post", "/api/memories"] == "createMemory"
    assert names["post", "/memories"] == "createMemoryAtRoot"


def test_a_property_with_a_default_may_be_left_out(document: dict[str, Any]) -> None:
    properties = [one for shape in shapes(document) for one in shape["properties"].values()]
    assert not [one for one in properties if "default" in one]
    search = document["components"]["schemas"]["VectorSearchRequest"]["properties"]
    assert search["limit"]["description"].endswith("Default 10.")


def test_no_parameter_has_an_empty_default(document: dict[str, Any]) -> None:
    given = [
        parameter["schema"].get("default")
        for _, _, operation in operations(document)
        for parameter in operation.get("parameters", ())
    ]
    assert "" not in given
    assert "name" in given


def test_each_schema_has_a_name_of_its_own(document: dict[str, Any]) -> None:
    assert not [name for name in document["components"]["schemas"] if "__" in name]


def test_the_document_says_where_the_gateway_is(document: dict[str, Any]) -> None:
    assert [one["url"] for one in document["servers"]] == ["/", "http://127.0.0.1:8080"]
