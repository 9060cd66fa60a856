"""MCP at `/mcp`: the SDK's client over a socket, both generations of the protocol, two spaces."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from braid.agent.v1 import (
    agent_pb2,
    ingest_pb2,
    jobs_pb2,
    search_pb2,
)
from braid.common.v1 import expansion_pb2, legs_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.runtime.errors import NotFoundError
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.mcp.clients import Era, failure_of, http_client, text_of, value_of
from tests.integration.gateway.samples import CHUNK_HIT, FACT, JOB_ID

ERAS: list[Era] = ["auto", "legacy"]
FOUND = vector_pb2.HybridSearchResponse(
    hits=[CHUNK_HIT], leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
)
QUERY = {"query": "who caused INC-104?", "mode": "hybrid"}


@pytest.mark.parametrize("era", ERAS)
async def test_a_search_returns_the_searched_legs_and_the_results(served: Served, era: Era) -> None:
    served.script.answer("HybridSearch", FOUND)
    async with http_client(served.url, era=era) as client:
        found = value_of(await client.call_tool("search", QUERY | {"as_of": "2024-04-18"}))
    assert found["space"] == "local"
    assert found["as_of"] == "2024-04-18"
    assert found["status"] == "found"
    assert found["searched"] == {"hybrid": "OK"}
    (hit,) = found["results"]
    assert hit["passage"] == "The Ledger Service caused INC-104."
    assert hit["document_id"] == "inc-104.md"
    assert served.script.seen[-1].message.query == "who caused INC-104?"


@pytest.mark.parametrize(
    ("mode", "rpc", "answer"),
    [
        ("hybrid", "ExpandedHybridSearch", search_pb2.ExpandedHybridSearchResponse),
        ("comprehensive", "ComprehensiveSearch", search_pb2.ComprehensiveSearchResponse),
    ],
)
async def test_a_search_that_could_not_be_expanded_is_incomplete(
    served: Served, mode: str, rpc: str, answer: Any
) -> None:
    report = expansion_pb2.ExpansionReport(
        status=legs_pb2.LEG_STATUS_DEGRADED, reason=legs_pb2.LEG_REASON_STORE_UNAVAILABLE
    )
    served.script.answer(rpc, answer(expansion=report))
    arguments = {"query": "who?", "mode": mode, "expansion": "pagerank"}
    async with http_client(served.url) as client:
        found = value_of(await client.call_tool("search", arguments))
    asked = served.script.seen[-1].message.expansion
    assert asked.mode == expansion_pb2.EXPANSION_MODE_PAGERANK
    assert found["status"] == "incomplete"
    assert found["searched"]["expansion"] == "DEGRADED (STORE_UNAVAILABLE)"


@pytest.mark.parametrize("era", ERAS)
async def test_each_key_reads_its_own_space(guarded: Served, era: Era) -> None:
    guarded.script.answer("HybridSearch", FOUND)
    for key, space in (("reader", "team-a"), ("writer", "team-b")):
        async with http_client(guarded.url, key, era) as client:
            found = value_of(await client.call_tool("search", QUERY))
        assert found["space"] == space
        assert guarded.script.seen[-1].call.space == space


async def test_a_request_without_a_key_is_refused(guarded: Served) -> None:
    answer = await guarded.http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert answer.status_code == 401
    assert answer.json()["reason"] == "INVALID_CREDENTIAL"
    assert not guarded.script.seen


async def test_the_default_profile_has_at_most_eight_tools(served: Served) -> None:
    async with http_client(served.url) as client:
        tools = (await client.list_tools()).tools
    assert len(tools) <= 8
    assert {"search", "facts", "entity", "changes", "ask", "ingest_text"} <= {t.name for t in tools}
    assert all(tool.output_schema and tool.description for tool in tools)


async def test_the_profile_all_has_each_tool_separately(served: Served) -> None:
    async with http_client(served.url, query="?profile=all") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"neighborhood", "history", "snapshot", "diff", "paths", "job_state"} <= names
    assert "entity" not in names


@pytest.mark.parametrize(("key", "query"), [("reader", ""), ("writer", "?read_only=true")])
async def test_a_read_only_caller_is_offered_no_tool_that_writes(
    guarded: Served, key: str, query: str
) -> None:
    async with http_client(guarded.url, key, query=query) as client:
        tools = (await client.list_tools()).tools
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        with pytest.raises(MCPError, match="may only read"):
            await client.call_tool("ingest_text", {"text": "x"})
    assert not guarded.script.seen


async def test_unknown_query_parameters_are_named(served: Served) -> None:
    answer = await served.http.post("/mcp?porfile=all&read_only=1", json={})
    assert answer.status_code == 422
    assert {one["field"] for one in answer.json()["fields"]} == {"porfile", "read_only"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "query"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "mode": "guess"}, "mode"),
        ({"query": "x", "as_of": "yesterday"}, "as_of"),
        ({"query": "x", "colour": "red"}, "colour"),
        ({"query": "x", "mode": "text", "expansion": "formula"}, "expansion"),
        ({"query": "x", "expansion": "sideways"}, "expansion"),
        ({"query": {"a": 1}}, "query"),
    ],
)
async def test_invalid_arguments_are_refused_naming_the_field(
    served: Served, arguments: dict[str, object], field: str
) -> None:
    async with http_client(served.url) as client:
        failure = failure_of(await client.call_tool("search", arguments))
    assert failure.startswith(f"{field}: ")
    assert "INVALID_FIELD" in failure
    assert not served.script.seen


async def test_an_unknown_tool_is_refused_with_the_names_of_the_available_ones(
    served: Served,
) -> None:
    async with http_client(served.url) as client:
        with pytest.raises(MCPError, match="There is no tool of this name; there are: search"):
            await client.call_tool("drop_everything", {})


async def test_a_cursor_is_valid_only_for_its_query_and_space(guarded: Served) -> None:
    long = [_hit(number, "word " * 300) for number in range(4)]
    guarded.script.answer(
        "HybridSearch",
        vector_pb2.HybridSearchResponse(
            hits=long, leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
        ),
    )
    async with http_client(guarded.url, "reader") as client:
        first = await client.call_tool("search", QUERY)
        page = value_of(first)
        assert len(text_of(first)) <= 3000
        assert "showing 1–1" in page["message"]
        again = QUERY | {"cursor": page["next_cursor"]}
        second = value_of(await client.call_tool("search", again))
        assert [hit["document_id"] for hit in second["results"]] == ["doc-1"]
        other = QUERY | {"cursor": page["next_cursor"], "query": "another"}
        refused = failure_of(await client.call_tool("search", other))
        forged = failure_of(await client.call_tool("search", QUERY | {"cursor": "abc"}))
    assert refused.startswith("cursor: belongs to another query")
    assert forged.startswith("cursor: ")
    async with http_client(guarded.url, "writer") as client:
        foreign = failure_of(await client.call_tool("search", again))
    assert foreign.startswith("cursor: ")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (legs_pb2.LEG_STATUS_NO_MATCH, "no_match"),
        (legs_pb2.LEG_STATUS_DEGRADED, "incomplete"),
        (legs_pb2.LEG_STATUS_UNAVAILABLE, "could_not_search"),
    ],
)
async def test_no_match_is_distinguished_from_a_failed_search(
    served: Served, status: legs_pb2.LegStatus.ValueType, expected: str
) -> None:
    served.script.answer(
        "SearchFacts", query_pb2.SearchFactsResponse(leg=legs_pb2.LegReport(status=status))
    )
    async with http_client(served.url) as client:
        answer = value_of(await client.call_tool("facts", {"query": "who?"}))
    assert answer["status"] == expected
    assert ("not known" in answer["message"]) == (expected == "could_not_search")


async def test_an_error_of_a_service_is_returned_with_its_reason(served: Served) -> None:
    served.script.fail("GetNeighborhood", NotFoundError("entity"))
    async with http_client(served.url) as client:
        failure = failure_of(await client.call_tool("entity", {"entity": "Nobody"}))
    assert failure.startswith("There is no such entity in this space.")
    assert "NOT_FOUND" in failure


async def test_an_argument_of_another_view_is_refused_by_name(served: Served) -> None:
    async with http_client(served.url) as client:
        arguments = {"view": "neighborhood", "entity": "X", "target": "Y"}
        failure = failure_of(await client.call_tool("entity", arguments))
    assert failure.startswith("target: does not go with view neighborhood")


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cancels_a_call_cancels_the_rpc_behind_it(
    served: Served, era: Era
) -> None:
    served.script.hang("HybridSearch")
    async with http_client(served.url, era=era) as client:
        asking = asyncio.create_task(client.call_tool("search", QUERY))
        await served.script.reached.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        if era == "auto":
            async with asyncio.timeout(5):
                await served.script.cancelled.wait()
    async with asyncio.timeout(5):
        await served.script.cancelled.wait()


@pytest.mark.parametrize("era", ERAS)
async def test_an_upload_reports_its_progress(served: Served, era: Era) -> None:
    accepted = jobs_pb2.Job(id=JOB_ID, state=jobs_pb2.JOB_STATE_RUNNING, unit_count=1)
    searchable = jobs_pb2.Job(searchable_count=1)
    searchable.MergeFrom(accepted)
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=accepted))
    served.script.answer(
        "WatchJob",
        jobs_pb2.WatchJobResponse(job=accepted),
        jobs_pb2.WatchJobResponse(job=searchable),
    )
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with http_client(served.url, era=era) as client:
        arguments = {"text": "The Ledger Service failed.", "title": "Note"}
        result = await client.call_tool("ingest_text", arguments, progress_callback=note)
    answer = value_of(result)
    assert answer["job"]["job_id"] == JOB_ID
    assert answer["job"]["searchable"] == 1
    assert seen == [(1, 3, "accepted"), (2, 3, "searchable")]
    (sent,) = [one for one in served.script.seen if one.method.endswith("IngestDocument")]
    assert sent.messages[0].metadata.title == "Note"
    assert sent.messages[1].data == b"The Ledger Service failed."


async def test_documents_are_resources(served: Served) -> None:
    document = documents_pb2.Document(document_id="a/b c.md", title="A", version=1)
    served.script.answer(
        "ListDocuments",
        documents_pb2.ListDocumentsResponse(documents=[document], next_page_token="t"),
    )
    served.script.answer(
        "GetDocument",
        documents_pb2.GetDocumentResponse(document=document, chunk_ids=[CHUNK_HIT.chunk.id]),
    )
    served.script.answer("GetChunks", vector_pb2.GetChunksResponse(chunks=[CHUNK_HIT.chunk]))
    async with http_client(served.url) as client:
        listed = await client.list_resources()
        (resource,) = listed.resources
        read = await client.read_resource(str(resource.uri))
        templates = (await client.list_resource_templates()).resource_templates
        with pytest.raises(MCPError, match="uri: must begin with"):
            await client.read_resource("file:///etc/passwd")
    assert listed.next_cursor == "t"
    assert served.script.seen[-2].message.document_id == "a/b c.md"
    assert getattr(read.contents[0], "text", "") == "The Ledger Service caused INC-104."
    assert {one.uri_template for one in templates} == {
        "braid://documents/{document_id}",
        "braid://entities/{name}",
    }


async def test_prompts_are_listed_and_name_a_missing_argument(served: Served) -> None:
    async with http_client(served.url) as client:
        names = [one.name for one in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("what_changed", {"entity": "A", "since": "2024-01-01"})
        with pytest.raises(MCPError, match="since: is required"):
            await client.get_prompt("what_changed", {"entity": "A"})
    assert names == ["answer_with_sources", "what_changed", "brief_on_entity"]
    assert "between 2024-01-01 and now" in str(prompt.messages[0].content)


async def test_twenty_concurrent_clients_are_all_answered(served: Served) -> None:
    served.script.answer("HybridSearch", FOUND)

    async def one() -> str:
        async with http_client(served.url) as client:
            return str(value_of(await client.call_tool("search", QUERY))["status"])

    assert await asyncio.gather(*(one() for _ in range(20))) == ["found"] * 20


async def test_a_comprehensive_search_names_the_unavailable_leg(served: Served) -> None:
    answer = search_pb2.ComprehensiveSearchResponse(
        results=[search_pb2.SearchResult(id="c", title="T", content="C", facts=[FACT])],
        legs=[
            legs_pb2.LegReport(leg=legs_pb2.LEG_VECTOR, status=legs_pb2.LEG_STATUS_OK),
            legs_pb2.LegReport(leg=legs_pb2.LEG_GRAPH, status=legs_pb2.LEG_STATUS_UNAVAILABLE),
        ],
    )
    served.script.answer("ComprehensiveSearch", answer)
    async with http_client(served.url) as client:
        found = value_of(await client.call_tool("search", {"query": "who?"}))
    assert found["status"] == "incomplete"
    assert "graph: UNAVAILABLE" in found["message"]
    assert found["results"][0]["facts"] == [
        "Jonas Weber owned the Ledger Service. (since 2024-04-18)"
    ]


def _hit(number: int, content: str) -> chunks_pb2.ChunkHit:
    hit = chunks_pb2.ChunkHit()
    hit.CopyFrom(CHUNK_HIT)
    hit.chunk.document_id = f"doc-{number}"
    hit.chunk.content = content
    return hit


async def test_an_entity_alone_is_what_facts_are_searched_about(served: Served) -> None:
    served.script.answer("SearchFacts", query_pb2.SearchFactsResponse())
    async with http_client(served.url) as client:
        await client.call_tool("facts", {"entity": "Ledger Service"})
        wrong = failure_of(await client.call_tool("facts", {"entity": "A", "subject": "B"}))
    sent = served.script.seen[-1].message
    assert (sent.query, sent.entity_name) == ("Ledger Service", "Ledger Service")
    assert wrong.startswith("subject: goes without")


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_has_its_sources_and_reports_tool_calls_as_progress(
    served: Served, era: Era
) -> None:
    events = [
        agent_pb2.RunEvent(started=agent_pb2.RunStarted(run_id=JOB_ID)),
        agent_pb2.RunEvent(tool_call=agent_pb2.ToolCalled(call_id="1", tool="hybrid_search")),
        agent_pb2.RunEvent(
            citation=agent_pb2.AnswerCitation(
                number=1, document_id="inc-104.md", document_title="INC-104", quote="It failed."
            )
        ),
        agent_pb2.RunEvent(done=agent_pb2.RunDone(answer="It failed. [1]", model="m")),
    ]
    served.script.answer("Ask", *(agent_pb2.AskResponse(event=event) for event in events))
    seen: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message)

    async with http_client(served.url, era=era) as client:
        result = await client.call_tool("ask", {"question": "What?"}, progress_callback=note)
    answer = value_of(result)
    assert answer["answer"] == "It failed. [1]"
    assert answer["sources"][0].startswith("[1] Document INC-104 · Source inc-104.md · Chunk")
    assert seen == ["calling hybrid_search"]
    assert served.script.seen[-1].message.cancel_on_disconnect


async def test_a_long_answer_is_continued_in_the_same_run(served: Served) -> None:
    text = " ".join(f"Sentence {number} says something." for number in range(200))
    events = [
        agent_pb2.RunEvent(started=agent_pb2.RunStarted(run_id=JOB_ID)),
        agent_pb2.RunEvent(done=agent_pb2.RunDone(answer=text, model="m")),
    ]
    served.script.answer("Ask", *(agent_pb2.AskResponse(event=event) for event in events))
    served.script.answer(
        "StreamRunEvents", *(agent_pb2.StreamRunEventsResponse(event=event) for event in events)
    )
    arguments = {"question": "What?"}
    whole = ""
    async with http_client(served.url) as client:
        while True:
            result = await client.call_tool("ask", arguments)
            assert len(text_of(result)) <= 3000
            page = value_of(result)
            whole += page["answer"]
            if "next_cursor" not in page:
                break
            arguments["cursor"] = page["next_cursor"]
    assert whole == text
    methods = [one.method.rpartition("/")[2] for one in served.script.seen]
    assert methods[0] == "Ask"
    assert set(methods[1:]) == {"StreamRunEvents"}
