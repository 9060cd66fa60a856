"""Each answer of the gateway, whatever it is, protects a person whose browser reaches it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.integration.gateway.conftest import (
    Served,
    client_of,
    running_gateway,
    scripted_settings,
)
from tests.integration.gateway.scripted import Script

PATHS = ("/", "/docs", "/openapi.json", "/assets/none", "/healthz", "/none")
DATA = ("/api/documents", "/v1/models", "/mcp", "/memories", "/api/none", "/api/search/text")


@pytest.mark.parametrize("path", [*PATHS, *DATA])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "HEAD"])
async def test_no_answer_may_be_framed_embedded_or_guessed(
    served: Served, guarded: Served, path: str, method: str
) -> None:
    for gateway in (served, guarded):
        async with gateway.http.stream(method, path) as answer:
            headers = answer.headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"
        assert (headers.get("cache-control") == "no-store") is (path in DATA)


@pytest.mark.parametrize("path", [*PATHS[1:], *DATA])
async def test_a_page_of_another_site_gets_nothing(
    served: Served, guarded: Served, path: str
) -> None:
    foreign = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    for gateway, more in ((served, {}), (guarded, {"authorization": "Bearer writer"})):
        answer = await gateway.http.get(path, headers=foreign | more)
        assert answer.status_code == 403
        assert "another site" in answer.text
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert gateway.script.seen == []


async def test_a_link_of_another_site_opens_the_page(served: Served) -> None:
    link = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
    }
    assert (await served.http.get("/", headers=link)).status_code == 200
    assert (await served.http.get("/docs", headers=link)).status_code == 403


@pytest.mark.parametrize("header", ["forwarded", "x-forwarded-for", "via", "x-real-ip"])
async def test_a_forwarded_request_without_a_key_is_not_local(served: Served, header: str) -> None:
    answer = await served.http.get("/api/documents", headers={header: "127.0.0.1"})
    assert (answer.status_code, answer.json()["reason"]) == (401, "INVALID_CREDENTIAL")
    assert served.script.seen == []


APP = "https://app.example"
ASKED = {"origin": APP, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}


@pytest.fixture(scope="module")
async def open_gateway() -> AsyncIterator[Served]:
    """A gateway that pages of one other origin may call."""
    async with AsyncExitStack() as exits:
        script = Script()
        settings = await scripted_settings(exits, script, cors_origins=(APP,))
        url = await exits.enter_async_context(running_gateway(settings))
        yield await exits.enter_async_context(client_of(url, script))


@pytest.mark.parametrize("path", ["/api/search/text", "/v1/chat/completions", "/mcp"])
async def test_a_page_of_an_allowed_origin_may_ask(open_gateway: Served, path: str) -> None:
    asks = {"access-control-request-method": "POST"}
    wanted = {"access-control-request-headers": "authorization, content-type, idempotency-key"}
    before = await open_gateway.http.options(path, headers=ASKED | asks | wanted)
    assert before.status_code == 200
    assert before.headers["access-control-allow-origin"] == APP
    assert "idempotency-key" in before.headers["access-control-allow-headers"]
    answer = await open_gateway.http.post(path, headers=ASKED, json={})
    assert answer.status_code != 403
    assert answer.headers["access-control-allow-origin"] == APP


async def test_a_page_of_any_other_origin_still_gets_nothing(
    open_gateway: Served, served: Served
) -> None:
    other = ASKED | {"origin": "https://other.example"}
    for gateway, headers in ((open_gateway, other), (served, ASKED)):
        answer = await gateway.http.get("/api/documents", headers=headers)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
