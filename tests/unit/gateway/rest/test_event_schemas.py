"""The OpenAPI document describes the events of streams, and the events conform to it."""

from __future__ import annotations

import functools
import json
import re
from typing import Any, cast

import pytest
from pydantic import TypeAdapter

from braid.agent.v1 import search_pb2
from gateway.clients import Clients
from gateway.rest.app import create_app
from gateway.rest.http.errors import error_body
from gateway.rest.jobs import WatchEvent
from gateway.rest.mapping.message_json import to_json
from gateway.rest.search.responses import SearchEvent, comprehensive
from gateway.settings import GatewaySettings
from services.runtime.identity import Authenticator
from tests.integration.gateway.samples import CHUNK_HIT, COMPREHENSIVE, FACT_HIT, JOB, report

ERROR = error_body("The deadline passed.", "DEADLINE", "r-1")
STREAMS = [
    ("/api/search/comprehensive", "post", {"LegEvent", "FinalEvent", "ErrorEvent"}),
    ("/api/search/comprehensive/stream", "post", {"LegEvent", "FinalEvent", "ErrorEvent"}),
    ("/api/jobs/{job_id}/events", "get", {"JobEvent", "ErrorEvent"}),
]


def document() -> dict[str, Any]:
    """Returns a new OpenAPI document; no tier has to run for it."""
    settings = GatewaySettings(_env_file=None)
    no_clients = cast("Clients", None)
    return create_app(no_clients, settings, Authenticator(None, allow_local=True)).openapi()


# Generating a document takes seconds.
first_document = functools.cache(document)


@pytest.mark.parametrize(("path", "method", "shapes"), STREAMS)
def test_a_stream_is_documented_as_one_of_its_events(
    path: str, method: str, shapes: set[str]
) -> None:
    described = first_document()
    content = described["paths"][path][method]["responses"]["200"]["content"]
    schema = content["text/event-stream"]["schema"]
    names = {one["$ref"].rpartition("/")[2] for one in schema["oneOf"]}
    assert names == shapes
    for name in names:
        properties = described["components"]["schemas"][name]["properties"]
        assert properties["data"]["$ref"].startswith("#/components/schemas/")


def test_every_generated_document_contains_all_referenced_schemas() -> None:
    for described in (first_document(), document()):
        names = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(described)))
        assert names <= described["components"]["schemas"].keys()
        assert "$defs" not in json.dumps(described)


@pytest.mark.parametrize(
    ("shape", "name", "data"),
    [
        (SearchEvent, "final", comprehensive(COMPREHENSIVE)),
        (SearchEvent, "final", comprehensive(COMPREHENSIVE, ["results"])),
        (SearchEvent, "error", ERROR),
        (WatchEvent, "job", to_json(JOB)),
        (WatchEvent, "error", ERROR),
    ],
)
def test_an_event_conforms_to_its_documented_schema(shape: Any, name: str, data: Any) -> None:
    TypeAdapter(shape).validate_python({"event": name, "data": data})


def test_a_leg_event_conforms_to_its_documented_schema() -> None:
    results = search_pb2.LegResults(
        report=report("graph", "OK"), vector_results=[CHUNK_HIT], graph_results=[FACT_HIT]
    )
    event = {"event": "leg", "data": to_json(results)}
    TypeAdapter(SearchEvent).validate_python(event)
