"""Results fit an assistant's context: they are split between items and continued by a cursor without loss."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.types import TextContent
from starlette.requests import Request

from braid.graph.v1 import facts_pb2, query_pb2, structure_pb2
from gateway.clients import Clients
from gateway.mcp.calls import ConnectionContext, ToolCaller
from gateway.mcp.cursors import Cursor, Position
from gateway.mcp.results import MAX_CHARACTERS
from gateway.mcp.server import build_server
from gateway.rest.http.middleware import RequestState
from gateway.settings import GatewaySettings
from services.runtime.channels import OutgoingMetadata
from services.runtime.errors import InvalidFieldError
from services.runtime.identity import Identity

HOSTILE = "<script>alert(1)</script>\u202egnp.exe"
Answer = Callable[[Any], Message]


def client_of(**graph: Answer) -> Client:
    """Returns a client of an in-process server whose graph tier responds with these functions."""
    settings = GatewaySettings(_env_file=None)
    clients = cast("Clients", SimpleNamespace(graph=SimpleNamespace(**_stubs(graph))))
    caller = ToolCaller(
        Request({"type": "http"}),
        RequestState("r-1"),
        Identity("team-a", "ann", frozenset({"read"})),
        OutgoingMetadata.of(settings),
        5.0,
    )
    return Client(build_server(clients, settings, lambda _: ConnectionContext(caller, "all")))


def _stubs(answers: dict[str, Answer]) -> dict[str, Any]:
    def stub(answer: Answer) -> Any:
        async def answered(message: Message) -> Message:
            return answer(message)

        return lambda message, **_: asyncio.ensure_future(answered(message))

    return {name: stub(answer) for name, answer in answers.items()}


def fact(number: int, text: str = "") -> facts_pb2.Fact:
    """Returns a fact that contains the number."""
    return facts_pb2.Fact(
        statement=f"Statement {number} {text}",
        relation_type="OWNS",
        subject=facts_pb2.EntityRef(name=HOSTILE),
        object=facts_pb2.EntityRef(name=f"Service {number}"),
    )


def paged_facts(request: structure_pb2.ListFactsRequest) -> structure_pb2.ListFactsResponse:
    """Returns a page of ninety facts, as the graph tier does."""
    begin = int(request.page_token or 0)
    end = min(90, begin + request.page_size)
    return structure_pb2.ListFactsResponse(
        facts=[fact(number) for number in range(begin, end)],
        next_page_token=str(end) if end < 90 else "",
    )


async def test_a_long_list_is_read_completely_by_following_its_cursor() -> None:
    seen: list[str] = []
    pages = 0
    arguments: dict[str, Any] = {"limit": 40}
    async with client_of(ListFacts=paged_facts) as client:
        while True:
            result = await client.call_tool("list_facts", arguments)
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert len(content.text) <= MAX_CHARACTERS
            page = result.structured_content
            assert isinstance(page, dict)
            seen += [one["object"] for one in page["facts"]]
            pages += 1
            if "next_cursor" not in page:
                break
            assert "call again with `cursor`" in page["message"]
            arguments["cursor"] = page["next_cursor"]
    assert seen == [f"Service {number}" for number in range(90)]
    assert pages > 3
    assert page["message"].startswith("Showing the last")


async def test_a_single_item_that_is_too_long_is_cut_and_marked() -> None:
    def long(_: Any) -> structure_pb2.ListFactsResponse:
        return structure_pb2.ListFactsResponse(facts=[fact(1, '"\n' * 9000), fact(2)])

    async with client_of(ListFacts=long) as client:
        result = await client.call_tool("list_facts", {})
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert len(content.text) <= MAX_CHARACTERS
    page = result.structured_content
    assert isinstance(page, dict)
    (shown,) = page["facts"]
    assert shown["fact"].endswith("… [cut]")
    assert page["next_cursor"]


async def test_markup_and_direction_marks_are_not_changed() -> None:
    async with client_of(ListFacts=paged_facts) as client:
        page = (await client.call_tool("list_facts", {"limit": 1})).structured_content
    assert isinstance(page, dict)
    assert page["facts"][0]["subject"] == HOSTILE


async def test_an_empty_result_names_its_space_and_time() -> None:
    async with client_of(ListFacts=lambda _: structure_pb2.ListFactsResponse()) as client:
        arguments = {"as_of": "2020-01-01/..", "known_at": "2024-01-01"}
        page = (await client.call_tool("list_facts", arguments)).structured_content
    assert page == {
        "space": "team-a",
        "as_of": "2020-01-01/..",
        "known_at": "2024-01-01",
        "status": "no_match",
        "message": "Found 0 facts; this is all.",
        "facts": [],
    }


async def test_an_internal_error_is_reported_by_a_fixed_message_and_the_request_id() -> None:
    def defect(_: Any) -> Message:
        raise RuntimeError("the secret of the text")

    async with client_of(ListFacts=defect) as client:
        result = await client.call_tool("list_facts", {})
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert "secret" not in content.text
    assert "r-1" in content.text


async def test_entities_of_the_same_name_are_listed_as_choices() -> None:
    def ambiguous(_: Any) -> structure_pb2.FindPathsResponse:
        refs = [facts_pb2.EntityRef(name="Atlas", type=kind, id=kind) for kind in ("A", "B")]
        return structure_pb2.FindPathsResponse(source_homonyms=refs)

    async with client_of(FindPaths=ambiguous) as client:
        result = await client.call_tool("paths", {"entity": "Atlas", "target": "X"})
    page = result.structured_content
    assert isinstance(page, dict)
    assert page["status"] == "ambiguous"
    assert [one["type"] for one in page["source_choices"]] == ["A", "B"]


async def test_an_incomplete_path_search_has_the_status_could_not_search() -> None:
    async with client_of(
        FindPaths=lambda _: structure_pb2.FindPathsResponse(incomplete=True)
    ) as client:
        page = (await client.call_tool("paths", {"entity": "A", "target": "B"})).structured_content
    assert isinstance(page, dict)
    assert page["status"] == "could_not_search"


async def test_neighbors_beyond_the_limit_are_counted() -> None:
    def crowded(request: query_pb2.GetNeighborhoodRequest) -> query_pb2.GetNeighborhoodResponse:
        assert request.limit == 20
        return query_pb2.GetNeighborhoodResponse(
            center=facts_pb2.Entity(name="Hub"),
            nodes=[facts_pb2.Entity(name="N")],
            edges=[fact(1)],
            neighbor_count=45,
            truncated=True,
        )

    async with client_of(GetNeighborhood=crowded) as client:
        page = (await client.call_tool("neighborhood", {"entity": "Hub"})).structured_content
    assert isinstance(page, dict)
    assert page["neighbor_count"] == 45
    assert page["message"].startswith("Found 45 neighbors")


@given(token=st.text(), shown=st.integers(min_value=0, max_value=10_000))
def test_a_cursor_round_trips(token: str, shown: int) -> None:
    cursor = Cursor("query")
    assert cursor.read(cursor.write(Position(token, shown))) == Position(token, shown)


@given(cursor=st.text(min_size=1))
def test_an_invalid_cursor_is_rejected(cursor: str) -> None:
    with pytest.raises(InvalidFieldError, match="cursor: "):
        Cursor("query").read(cursor)
