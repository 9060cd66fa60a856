"""Caller identity: the credential alone determines space, user and scopes, and the services receive them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from braid.vector.v1 import documents_pb2, search_pb2
from gateway.http_server import StartError, gateway_server
from gateway.settings import GatewaySettings
from services.runtime.errors import InvalidCredentialError
from services.runtime.listen import ListenError
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.scripted import AGENT, VECTOR, Script, start_scripted

SEARCH = "/api/search/text"


def bearer(key: str) -> dict[str, str]:
    """Returns the header with a key."""
    return {"authorization": f"Bearer {key}"}


async def test_the_services_see_the_space_and_user_of_the_callers_key(guarded: Served) -> None:
    guarded.script.answer("TextSearch", search_pb2.TextSearchResponse())
    headers = bearer("reader") | {"x-request-id": "r-1"}
    response = await guarded.http.post(SEARCH, json={"query": "q"}, headers=headers)
    call = guarded.script.seen[0].call
    assert response.status_code == 200
    assert (call.space, call.user, call.request_id) == ("team-a", "ann", "r-1")


async def test_without_keys_a_caller_on_loopback_is_local(served: Served) -> None:
    served.script.answer("TextSearch", search_pb2.TextSearchResponse())
    await served.http.post(SEARCH, json={"query": "q"})
    assert (served.script.seen[0].call.space, served.script.seen[0].call.user) == ("local", "local")


@pytest.mark.parametrize("headers", [{}, bearer("nobody"), {"authorization": "Basic reader"}])
async def test_a_caller_without_a_known_key_is_401(
    guarded: Served, headers: dict[str, str]
) -> None:
    response = await guarded.http.post(SEARCH, json={"query": "q"}, headers=headers)
    assert (response.status_code, response.json()["reason"]) == (401, "INVALID_CREDENTIAL")
    assert response.headers["www-authenticate"] == "Bearer"
    assert "header `Authorization: Bearer <key>`" in response.json()["detail"]
    assert "metadata" not in response.text
    assert guarded.script.seen == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Authorization", ["Bearer reader", "Bearer writer"]),
        ("Authorization", ["Bearer reader", "Bearer reader"]),
        ("Authorization", ["Bearer reader", ""]),
        ("braid-space", ["team-a", "team-b"]),
        ("braid-user", ["ann", "bob"]),
    ],
)
async def test_a_repeated_identity_header_is_refused(
    guarded: Served, name: str, values: list[str]
) -> None:
    headers = [(name, value) for value in values]
    if name != "Authorization":
        headers.append(("authorization", "Bearer gateway"))
    response = await guarded.http.post(SEARCH, json={"query": "q"}, headers=headers)
    assert response.status_code == 401
    assert response.json()["detail"] == (
        f"The header `{name}` is there more than once: send it once."
    )
    assert guarded.script.seen == []


@pytest.mark.parametrize(
    ("headers", "field"), [({}, "braid-space"), ({"braid-space": "a b"}, "braid-space")]
)
async def test_an_invalid_header_is_named_in_the_error(
    guarded: Served, headers: dict[str, str], field: str
) -> None:
    response = await guarded.http.get("/api/documents", headers=bearer("gateway") | headers)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == [field]
    assert "metadata" not in response.text


async def test_a_refusal_of_the_gateways_own_key_is_not_attributed_to_the_caller(
    served: Served,
) -> None:
    served.script.fail("TextSearch", InvalidCredentialError())
    response = await served.http.post(SEARCH, json={"query": "q"})
    assert response.status_code == 401
    assert "the gateway's own API key" in response.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/documents", {"text": "a"}),
        ("POST", "/api/facts", {"facts": []}),
        ("DELETE", "/api/documents/a", None),
    ],
)
async def test_a_read_only_key_cannot_write(
    guarded: Served, method: str, path: str, body: Any
) -> None:
    response = await guarded.http.request(method, path, json=body, headers=bearer("reader"))
    assert (response.status_code, response.json()["reason"]) == (403, "MISSING_SCOPE")
    assert guarded.script.seen == []


@pytest.mark.parametrize("field", ["space", "user", "group_id"])
async def test_a_space_is_not_accepted_in_a_body(guarded: Served, field: str) -> None:
    body = {"query": "q", field: "team-b"}
    response = await guarded.http.post(SEARCH, json=body, headers=bearer("reader"))
    assert response.status_code == 422
    assert guarded.script.seen == []


async def test_a_space_is_not_accepted_in_a_query_string(guarded: Served) -> None:
    response = await guarded.http.get("/api/documents?space=team-b", headers=bearer("reader"))
    assert response.status_code == 422
    assert guarded.script.seen == []


async def test_a_key_without_delegation_may_not_name_a_space(guarded: Served) -> None:
    headers = bearer("reader") | {"braid-space": "team-b"}
    response = await guarded.http.get("/api/documents", headers=headers)
    assert (response.status_code, response.json()["reason"]) == (403, "MISSING_SCOPE")


async def test_a_trusted_backend_may_name_a_space(guarded: Served) -> None:
    guarded.script.answer("ListDocuments", documents_pb2.ListDocumentsResponse())
    headers = bearer("gateway") | {"braid-space": "team-c", "braid-user": "eve"}
    await guarded.http.get("/api/documents", headers=headers)
    call = guarded.script.seen[0].call
    assert (call.space, call.user) == ("team-c", "eve")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://example.org"},
        {"host": "example.org"},
        {"origin": "null"},
        {"origin": "http://["},
        {"host": "[::1"},
    ],
)
async def test_a_page_of_another_site_cannot_use_the_local_identity(
    served: Served, headers: dict[str, str]
) -> None:
    response = await served.http.get("/api/documents", headers=headers)
    assert response.status_code == 401
    assert "of another site" in response.json()["detail"]


async def test_probes_and_the_api_description_need_no_key(guarded: Served) -> None:
    for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
        assert (await guarded.http.get(path)).status_code == 200


async def test_the_gateway_is_ready_when_every_service_serves(served: Served) -> None:
    response = await served.http.get("/readyz")
    services = dict.fromkeys(("agent_orchestrator", "vector_search", "graph_query"), "SERVING")
    assert response.json() == {"status": "ready", "services": services}


async def test_probes_accept_head(guarded: Served) -> None:
    for path in ("/healthz", "/readyz"):
        response = await guarded.http.head(path)
        assert (response.status_code, response.content) == (200, b"")


async def test_the_gateway_takes_requests_while_a_service_is_unavailable_and_names_it(
    script: Script,
) -> None:
    servers = [await start_scripted(names, script) for names in (AGENT, VECTOR)]
    stopped = await start_scripted(VECTOR, script)
    await stopped.stop()
    agent, vector, graph = (f"127.0.0.1:{server.port}" for server in (*servers, stopped))
    settings = GatewaySettings(
        _env_file=None,
        gateway_listen="127.0.0.1:0",
        agent_target=agent,
        vector_target=vector,
        graph_target=graph,
    )
    async with serve_gateway(settings, script) as running:
        response = await running.http.get("/readyz")
        head = await running.http.head("/readyz")
        alive = await running.http.get("/healthz")
    for server in servers:
        await server.stop()
    assert (response.status_code, head.status_code, alive.status_code) == (200, 200, 200)
    assert response.json()["status"] == "degraded"
    assert response.json()["detail"] == "graph_query is UNREACHABLE."
    assert response.json()["services"]["vector_search"] == "SERVING"


async def test_the_gateway_refuses_to_listen_beyond_loopback_without_keys() -> None:
    settings = GatewaySettings(_env_file=None, gateway_listen="0.0.0.0:0")
    with pytest.raises(ListenError):
        async with gateway_server(settings):
            pass


async def test_the_gateway_refuses_to_start_with_keys_but_without_a_key_of_its_own(
    key_file: Path,
) -> None:
    settings = GatewaySettings(_env_file=None, api_keys_file=key_file, service_key=None)
    with pytest.raises(StartError):
        async with gateway_server(settings):
            pass
