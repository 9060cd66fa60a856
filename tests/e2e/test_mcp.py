"""The MCP tools of the running system, over both transports, in several spaces, with the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.e2e.conftest import MCP_KEY, OTHER_KEY, System
from tests.integration.gateway.mcp.clients import failure_of, http_client, text_of, value_of

MAX_CHARACTERS = 3000
NOTE = "# Lamp room\n\nThe Lamp Room keeps the Fresnel Lens. Ida Holm polishes the Fresnel Lens every week."
FACTS = [
    {
        "subject": "Ida Holm",
        "relation": "POLISHES",
        "object": "Fresnel Lens",
        "fact": "Ida Holm has polished the Fresnel Lens since 1 March 2024.",
        "valid_at": "2024-03-01",
    },
    {
        "subject": "Fresnel Lens",
        "relation": "BELONGS_TO",
        "object": "Lamp Room",
        "fact": "The Fresnel Lens has belonged to the Lamp Room since 1 May 2020.",
        "valid_at": "2020-05-01",
    },
]
QUESTION = "Who owned the Ledger Service when it caused INC-104, and who owns it now?"

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(params=["http", "stdio"])
def connect(request: pytest.FixtureRequest, system: System) -> Connect:
    """Opens a client with a key; without a key its space is `local`."""

    @asynccontextmanager
    async def over_stdio(key: str = "") -> AsyncIterator[Client]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "gateway.cli", "mcp"],
            env={"BRAID_URL": system.url, "BRAID_API_KEY": key, "PATH": os.environ["PATH"]},
        )
        async with Client(stdio_client(server)) as client:
            yield client

    if request.param == "stdio":
        return over_stdio
    return lambda key="": http_client(system.url, key, seconds=120)


@pytest.fixture(scope="module")
def lamp_room(system: System) -> None:
    """Adds stated facts to the assistant's space."""
    with system.client(MCP_KEY) as client:
        assert client.post("/api/facts", json={"facts": FACTS}).status_code == 200


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Calls a tool, and checks that its answer is short and names its space and time."""
    result = await client.call_tool(tool, arguments)
    value = value_of(result)
    assert len(text_of(result)) <= MAX_CHARACTERS
    assert value["space"]
    assert value["as_of"]
    return value


async def test_an_ingested_text_reports_progress_and_is_found_only_in_its_space(
    connect: Connect,
) -> None:
    steps: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    async with connect(MCP_KEY) as client:
        added = value_of(
            await client.call_tool(
                "ingest_text",
                {"text": NOTE, "document_id": "lamp-room.md", "wait": "graph_ready"},
                progress_callback=note,
            )
        )
        assert (added["job"]["state"], added["job"]["graph_ready"]) == ("succeeded", 1)
        assert steps[0] == "accepted"
        found = await called(client, "search", query="Who polishes the lens?")
        assert (found["space"], found["status"]) == ("assistant", "found")
        assert "lamp-room.md" in {hit["document_id"] for hit in found["results"]}
    async with connect(OTHER_KEY) as client:
        nothing = await called(client, "search", query="Fresnel Lens polish", mode="text")
        assert (nothing["space"], nothing["status"]) == ("other", "no_match")


@pytest.mark.usefixtures("lamp_room")
async def test_the_graph_can_be_explored_now_and_as_of_a_time(connect: Connect) -> None:
    async with connect(MCP_KEY) as client:
        around = await called(client, "entity", entity="Fresnel Lens")
        assert "Lamp Room" in str(around["facts"])
        past = await called(client, "entity", entity="Fresnel Lens", as_of="2022-01-01")
        assert (past["as_of"], "Ida Holm has polished" in str(past["facts"])) == (
            "2022-01-01",
            False,
        )
        history = await called(client, "entity", view="history", entity="Fresnel Lens")
        stated = [one["fact"] for one in history["facts"] if not one.get("mention")]
        assert stated == [FACTS[1]["fact"], FACTS[0]["fact"]]
        paths = await called(client, "entity", view="paths", entity="Ida Holm", target="Lamp Room")
        assert paths["paths"][0]["nodes"][0] == "Ida Holm"
        changed = await called(client, "changes", time="2023-01-01", entity="Fresnel Lens")
        assert (changed["as_of"], changed["added_count"]) == ("2023-01-01 → now", 1)
        snapshot = await called(client, "changes", view="snapshot", time="2021-01-01")
        assert [one["fact"] for one in snapshot["facts"]] == [FACTS[1]["fact"]]
    async with connect(OTHER_KEY) as client:
        unknown = failure_of(await client.call_tool("entity", {"entity": "Fresnel Lens"}))
        assert "NOT_FOUND" in unknown


async def test_the_agent_answers_with_sources_and_reports_tool_calls_as_progress(
    connect: Connect,
) -> None:
    steps: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    async with connect() as client:
        result = await client.call_tool("ask", {"question": QUESTION}, progress_callback=note)
    answer = value_of(result)
    assert len(text_of(result)) <= MAX_CHARACTERS
    assert (answer["space"], answer["status"]) == ("local", "found")
    assert "Jonas Weber" in answer["answer"]
    assert "Noor Haddad" in answer["answer"]
    assert answer["sources"][0].startswith("[1] Document ")
    assert steps[0] is not None
    assert steps[0].startswith("calling ")


async def test_a_saved_statement_is_found_only_in_its_space(connect: Connect) -> None:
    async with connect(MCP_KEY) as client:
        saved = await called(client, "memory", view="save", text="I work with Ida Holm.")
        assert saved["memories"][0]["target"] == "Ida Holm"
        kept = await called(client, "memory", query="Who do I work with?")
        assert [one["target"] for one in kept["memories"]] == ["Ida Holm"]
    async with connect(OTHER_KEY) as client:
        nothing = await called(client, "memory", query="Who do I work with?")
        assert (nothing["space"], nothing["status"]) == ("other", "no_match")


async def test_a_cursor_continues_its_own_query_and_is_rejected_for_another(
    connect: Connect,
) -> None:
    async with connect() as client:
        first = await called(client, "search", query="Ledger Service", limit=30)
        cursor = first["next_cursor"]
        second = await called(client, "search", query="Ledger Service", limit=30, cursor=cursor)
        pages = [{hit["passage"] for hit in page["results"]} for page in (first, second)]
        assert pages[0].isdisjoint(pages[1])
        other = {"query": "Checkout", "limit": 30, "cursor": cursor}
        refused = failure_of(await client.call_tool("search", other))
        assert refused.startswith("cursor: belongs to another query")


async def test_invalid_calls_are_explained_and_the_next_call_is_served(connect: Connect) -> None:
    async with connect() as client:
        wrong = failure_of(await client.call_tool("search", {"query": "x", "limit": "many"}))
        assert wrong.startswith("limit: ")
        with pytest.raises(MCPError, match="There is no tool of this name"):
            await client.call_tool("drop_everything", {})
        served = await called(client, "search", query="Ledger Service", mode="text", limit=1)
        assert served["status"] == "found"


async def test_a_client_can_cancel_a_call_and_make_another(connect: Connect) -> None:
    under_way = asyncio.Event()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        under_way.set()

    async with connect() as client:
        ask = client.call_tool("ask", {"question": QUESTION}, progress_callback=note)
        asking = asyncio.create_task(ask)
        await under_way.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        served = await called(client, "search", query="Ledger Service", mode="text", limit=1)
        assert served["status"] == "found"
