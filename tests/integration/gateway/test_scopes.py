"""What a caller may do: checked before a request is read, and passed to the services with each call."""

from __future__ import annotations

import pytest

from braid.agent.v1 import agent_pb2
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.mcp.clients import http_client
from tests.unit.gateway.rest.http.test_route_scopes import PROBES, routes

READER = {"authorization": "Bearer reader"}
CHANGING = sorted(
    {
        (
            method,
            "/api" + route.path if route.path.startswith(("/memories", "/inf")) else route.path,
        )
        for route in routes()
        if route.path not in PROBES
        for method in route.methods
        if route.scope != "read"
    }
)


@pytest.mark.parametrize(("method", "path"), CHANGING)
async def test_a_key_that_may_only_read_is_refused_before_its_request_is_read(
    guarded: Served, method: str, path: str
) -> None:
    for body in (b"", b"{", b'{"unknown": 1}'):
        answer = await guarded.http.request(
            method,
            path.replace("{", "").replace("}", "").replace(":any_text", ""),
            content=body,
            headers=READER | {"content-type": "application/json"},
        )
        assert (answer.status_code, answer.json()["reason"]) == (403, "MISSING_SCOPE")
    assert guarded.script.seen == []


@pytest.mark.parametrize(("key", "scopes"), [("reader", {"read"}), ("writer", {"read", "write"})])
async def test_the_services_receive_the_scopes_of_the_caller_not_those_of_the_gateway(
    guarded: Served, key: str, scopes: set[str]
) -> None:
    guarded.script.answer("Ask", agent_pb2.AskResponse())
    headers = {"authorization": f"Bearer {key}"}
    await guarded.http.post("/api/chat", json={"question": "q"}, headers=headers)
    assert guarded.script.seen[0].call.scopes == scopes


@pytest.mark.parametrize(
    ("key", "query", "scopes"),
    [
        ("reader", "", {"read"}),
        ("writer", "?read_only=true", {"read"}),
        ("writer", "", {"read", "write"}),
    ],
)
async def test_a_question_over_mcp_has_the_scopes_of_its_connection(
    guarded: Served, key: str, query: str, scopes: set[str]
) -> None:
    guarded.script.answer("Ask", agent_pb2.AskResponse())
    async with http_client(guarded.url, key, query=query) as client:
        await client.call_tool("ask", {"question": "q"})
    assert guarded.script.seen[0].call.scopes == scopes


async def test_a_caller_may_narrow_its_scopes(guarded: Served) -> None:
    guarded.script.answer("Ask", agent_pb2.AskResponse())
    headers = {"authorization": "Bearer writer", "braid-scopes": "read"}
    await guarded.http.post("/api/chat", json={"question": "q"}, headers=headers)
    assert guarded.script.seen[0].call.scopes == {"read"}
    refused = await guarded.http.post("/api/conversations", json={}, headers=headers)
    assert refused.status_code == 403
    unknown = await guarded.http.post(
        "/api/conversations", json={}, headers=headers | {"braid-scopes": "x"}
    )
    assert unknown.json()["fields"][0]["field"] == "braid-scopes"
