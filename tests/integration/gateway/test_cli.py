"""The `braid` command, run as a program against a gateway over scripted services."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from braid.agent.v1 import agent_pb2, jobs_pb2, search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2, reranking_pb2
from braid.graph.v1 import facts_pb2, query_pb2
from braid.vector.v1 import documents_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from gateway.cli.discovery import StartedStacks
from gateway.cli.jobs import JOB_COLUMNS
from gateway.cli.local_stack import UpOptions, greet
from gateway.cli.session import Session
from services.runtime.times import to_timestamp
from tests.integration.gateway.command import DONE, braid
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.samples import (
    COMPREHENSIVE,
    COMPREHENSIVE_JSON,
    DOCUMENT,
    ENTITY,
    FACT,
    JOB,
    JOB_ID,
)
from tests.integration.gateway.scripted import Script


async def test_a_search_shows_results_facts_and_legs(served: Served) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    ended = await braid(served, "search", "who owned it?", "--limit", "3", "--as-of", "2024-04-18")
    request = served.script.seen[0].message
    assert ended.code == 4
    assert "  1  0.9000  INC-104  inc-104.md\n" in ended.out
    assert (
        "Jonas Weber owned the Ledger Service.  (2024-04-18 → now)  given  ← INC-104" in ended.out
    )
    assert "graph UNAVAILABLE STORE_UNAVAILABLE 1.5 ms" in ended.out
    assert (request.query, request.limit) == ("who owned it?", 3)
    assert request.as_of.ToJsonString() == "2024-04-18T00:00:00Z"
    assert request.include == [
        search_pb2.ANSWER_PART_RESULTS,
        search_pb2.ANSWER_PART_GRAPH_RESULTS,
        search_pb2.ANSWER_PART_LEGS,
    ]


async def test_a_search_as_json_equals_the_rest_response(served: Served) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    ended = await braid(served, "search", "who", "--json")
    assert ended.json() == COMPREHENSIVE_JSON
    assert served.script.seen[0].message.include == []


@pytest.mark.parametrize(
    ("mode", "rpc", "answer"),
    [
        ("vector", "VectorSearch", vector_pb2.VectorSearchResponse()),
        ("text", "TextSearch", vector_pb2.TextSearchResponse()),
        ("hybrid", "HybridSearch", vector_pb2.HybridSearchResponse()),
        ("graph", "SearchFacts", query_pb2.SearchFactsResponse()),
    ],
)
async def test_each_search_mode_calls_its_rpc(
    served: Served, mode: str, rpc: str, answer: Any
) -> None:
    answer.leg.leg = legs_pb2.Leg.Value(f"LEG_{mode.upper()}")
    answer.leg.status = legs_pb2.LEG_STATUS_NO_MATCH
    served.script.answer(rpc, answer)
    ended = await braid(served, "search", "who", "--mode", mode)
    assert (ended.code, len(served.script.seen)) == (0, 1)
    assert f"{mode} NO_MATCH" in ended.out


@pytest.mark.parametrize(
    ("mode", "rpc", "answer"),
    [
        ("hybrid", "ExpandedHybridSearch", search_pb2.ExpandedHybridSearchResponse),
        ("comprehensive", "ComprehensiveSearch", search_pb2.ComprehensiveSearchResponse),
    ],
)
async def test_a_search_that_could_not_be_expanded_reports_it_and_exits_as_partial(
    served: Served, mode: str, rpc: str, answer: Any
) -> None:
    report = expansion_pb2.ExpansionReport(
        mode=expansion_pb2.EXPANSION_MODE_FORMULA,
        status=legs_pb2.LEG_STATUS_DEGRADED,
        reason=legs_pb2.LEG_REASON_STORE_UNAVAILABLE,
    )
    served.script.answer(rpc, answer(expansion=report))
    steps = ("--expansion", "formula", "--hops", "2", "--rerank", "local")
    ended = await braid(served, "search", "who", "--mode", mode, *steps)
    asked = served.script.seen[0].message
    assert (ended.code, "expansion formula DEGRADED STORE_UNAVAILABLE" in ended.out) == (4, True)
    assert (asked.expansion.mode, asked.expansion.max_hops) == (report.mode, 2)
    assert asked.rerank == reranking_pb2.RERANK_MODE_LOCAL


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("--hops", "0"), "expansion.hops"),
        (("--hops", "4"), "expansion.hops"),
        (("--expansion", "sideways"), "--expansion"),
        (("--rerank", "magic"), "--rerank"),
        (("--mode", "text", "--expansion", "formula"), "--expansion"),
    ],
)
async def test_an_invalid_expansion_is_reported_with_its_option_or_field(
    served: Served, options: tuple[str, ...], shown: str
) -> None:
    ended = await braid(served, "search", "who", *options)
    assert (ended.code, shown in ended.err) == (2, True)
    assert served.script.seen == []


async def test_an_error_is_one_line_with_its_reason_and_request_id(served: Served) -> None:
    ended = await braid(served, "search", "who", "--limit", "51")
    (line,) = ended.err.splitlines()
    assert ended.code == 2
    assert line.startswith("braid: limit: ")
    assert "INVALID_FIELD, request " in line


async def test_without_a_running_stack_the_error_says_what_to_do(
    served: Served, tmp_path: Path
) -> None:
    ended = await braid(served, "search", "who", BRAID_URL="", BRAID_DATA=str(tmp_path))
    assert ended.code == 5
    assert "`braid up`" in ended.err


async def test_the_running_stack_is_found_by_its_data_folder(
    served: Served, tmp_path: Path
) -> None:
    address = served.url.removeprefix("http://")
    (tmp_path / "run.json").write_text(json.dumps({"addresses": {"gateway": address}}))
    served.script.answer("ListEntities", query_pb2.ListEntitiesResponse(entities=[ENTITY]))
    ended = await braid(served, "graph", "entities", BRAID_URL="", BRAID_DATA=str(tmp_path))
    assert "Jonas Weber" in ended.out


async def test_an_unreachable_gateway_is_reported_in_one_line(served: Served) -> None:
    ended = await braid(served, "status", BRAID_URL="http://127.0.0.1:1")
    assert (ended.code, len(ended.err.splitlines())) == (5, 1)
    assert "cannot be reached" in ended.err


async def test_an_entity_is_looked_up_by_any_name(served: Served) -> None:
    answer = query_pb2.GetNeighborhoodResponse(
        center=ENTITY, nodes=[ENTITY], edges=[FACT], neighbor_count=2, truncated=True
    )
    served.script.answer("GetNeighborhood", answer)
    ended = await braid(served, "graph", "neighborhood", "') MATCH (n) // ../x")
    assert served.script.seen[0].message.entity_name == "') MATCH (n) // ../x"
    assert "1 of 2 neighbors" in ended.out


async def test_the_status_shows_services_and_counts(served: Served) -> None:
    served.script.answer("GetGraphStats", query_pb2.GetGraphStatsResponse(entity_count=7))
    ended = await braid(served, "status")
    assert f"gateway: {served.url} (named by BRAID_URL)\n" in ended.out
    assert "vector_search: SERVING" in ended.out
    assert "graph entities: 7" in ended.out
    assert "graph last ingest: never\n" in ended.out


async def test_the_status_summarizes_indexes_and_shows_types_as_a_table(served: Served) -> None:
    stats = query_pb2.GetGraphStatsResponse(
        entity_counts_by_type={"Person": 2, "": 40, "Service": 2},
        index_states={f"index_{n}": query_pb2.INDEX_STATE_ONLINE for n in range(45)}
        | {"late": query_pb2.INDEX_STATE_POPULATING, "broken": query_pb2.INDEX_STATE_FAILED},
    )
    served.script.answer("GetGraphStats", stats)
    ended = await braid(served, "status")
    shown = ended.out.splitlines()
    assert "graph indexes: 45 indexes online; broken FAILED; late POPULATING" in shown
    assert [line.split() for line in shown[-4:]] == [
        ["type", "entities"],
        ["(no", "type)", "40"],
        ["Person", "2"],
        ["Service", "2"],
    ]
    assert "{" not in ended.out


async def test_the_status_as_json_is_complete(served: Served) -> None:
    stats = query_pb2.GetGraphStatsResponse(
        entity_count=7, index_states={"a": query_pb2.INDEX_STATE_ONLINE}
    )
    served.script.answer("GetGraphStats", stats)
    shown = (await braid(served, "status", "--json")).json()
    assert (shown["url"], shown["found_by"], shown["status"]) == (served.url, "BRAID_URL", "ready")
    assert shown["graph"]["indexes"] == {"a": "ONLINE"}
    assert shown["graph"]["entities_by_type"] == {}
    assert set(shown["services"].values()) == {"SERVING"}


async def test_from_another_folder_the_last_started_stack_is_found_and_named(
    served: Served, tmp_path: Path
) -> None:
    state, data = tmp_path / "state", tmp_path / "data"
    data.mkdir()
    address = served.url.removeprefix("http://")
    (data / "run.json").write_text(json.dumps({"addresses": {"gateway": address}}))
    StartedStacks({"XDG_STATE_HOME": str(state)}).add(data)
    served.script.answer("GetGraphStats", query_pb2.GetGraphStatsResponse())
    served.script.answer("CancelJob", jobs_pb2.CancelJobResponse(job=DONE))
    environment = {"BRAID_URL": "", "XDG_STATE_HOME": str(state)}
    status = await braid(served, "status", cwd=tmp_path, **environment)
    named = f"{served.url} (the last started stack, under {data})"
    assert f"gateway: {named}\n" in status.out
    assert status.err == ""
    changed = await braid(served, "jobs", "cancel", JOB_ID, cwd=tmp_path, **environment)
    assert (changed.code, changed.err) == (0, f"braid: using {named}\n")


async def test_the_status_is_complete_while_a_service_is_unavailable(
    settings_of: Any, script: Script
) -> None:
    settings = (await settings_of()).model_copy(update={"graph_target": "127.0.0.1:9"})
    async with serve_gateway(settings, script) as running:
        ended = await braid(running, "status")
    assert ended.code == 4
    assert "vector_search: SERVING" in ended.out
    assert "graph_query: UNREACHABLE" in ended.out
    assert "graph reason: STORE_UNAVAILABLE" in ended.out


async def test_a_year_alone_is_not_a_valid_time(served: Served) -> None:
    searched = await braid(served, "search", "who", "--as-of", "2024")
    walked = await braid(served, "graph", "neighborhood", "A", "--as-of", "2024")
    for ended in (searched, walked):
        assert ended.code == 2
        assert "as_of: must be a date or a time of RFC 3339, such as 2024-04-18" in ended.err
    assert served.script.seen == []


async def test_the_api_key_is_sent(guarded: Served) -> None:
    guarded.script.answer("ListEntities", query_pb2.ListEntitiesResponse())
    refused = await braid(guarded, "graph", "entities")
    accepted = await braid(guarded, "graph", "entities", BRAID_API_KEY="reader")
    assert (refused.code, accepted.code) == (6, 0)
    assert "INVALID_CREDENTIAL" in refused.err
    assert guarded.script.seen[0].call.space == "team-a"


async def test_a_started_stack_with_a_question_prints_one_json_document(
    served: Served, tmp_path: Path
) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    out = StringIO()
    session = Session({}, Console(file=out), Console(file=StringIO()))
    up_options = UpOptions(sample=False, ask=True, free_ports=True, as_json=True)
    addresses = {"gateway": served.url.removeprefix("http://")}
    await greet(session, tmp_path, addresses, up_options)
    shown = {"url": served.url, "addresses": addresses, "answer": COMPREHENSIVE_JSON}
    assert json.loads(out.getvalue()) == shown


async def test_a_started_stack_prints_the_address_of_the_page_last(
    served: Served, tmp_path: Path
) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    out = StringIO()
    session = Session({}, Console(file=out, width=100), Console(file=StringIO()))
    up_options = UpOptions(sample=False, ask=True, free_ports=True, as_json=False)
    addresses = {"gateway": served.url.removeprefix("http://"), "agent_orchestrator": "h:1"}
    await greet(session, tmp_path, addresses, up_options)
    shown = out.getvalue().splitlines()
    assert shown[-1] == f"Open {served.url}"
    assert f"MCP: {served.url}/mcp" in shown
    assert any("braid ingest FOLDER" in line for line in shown)


async def test_entities_are_listed_most_mentioned_first_with_titles_marked(served: Served) -> None:
    title = facts_pb2.Entity(id="e-2", name="Harbour Note", mention_count=9, document_title=True)
    answer = query_pb2.ListEntitiesResponse(entities=[title, ENTITY], next_page_token="n")
    served.script.answer("ListEntities", answer)
    ended = await braid(served, "graph", "entities", "--limit", "2")
    (request,) = (seen.message for seen in served.script.seen)
    assert request.order_by == query_pb2.ENTITY_ORDER_MENTIONS
    assert [line.split() for line in ended.out.splitlines()] == [
        ["name", "type", "mentions"],
        ["Harbour", "Note", "9", "document", "title"],
        ["Jonas", "Weber", "Person", "3"],
        ["More:", "--cursor", "n"],
    ]


async def test_a_filtered_list_is_continued_until_its_page_is_full(served: Served) -> None:
    short = query_pb2.ListEntitiesResponse(entities=[ENTITY], next_page_token="n")
    served.script.answer("ListEntities", short)
    options = ("--titles", "exclude", "--order", "name", "--limit", "3", "--json")
    listed = (await braid(served, "graph", "entities", *options)).json()
    asked = [(seen.message.page_size, seen.message.page_token) for seen in served.script.seen]
    assert asked == [(3, ""), (2, "n"), (1, "n")]
    assert (len(listed["entities"]), listed["next_cursor"]) == (3, "n")
    request = served.script.seen[0].message
    assert request.document_titles == query_pb2.DOCUMENT_TITLES_EXCLUDE
    assert request.order_by == query_pb2.ENTITY_ORDER_NAME


async def test_the_list_of_jobs_shows_kind_file_times_and_reason(served: Served) -> None:
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[JOB]))
    ended = await braid(served, "jobs", "list", "--kind", "upload")
    assert list(served.script.seen[0].message.kinds) == [jobs_pb2.JOB_KIND_UPLOAD]
    head, row = ended.out.splitlines()
    assert head.split() == list(JOB_COLUMNS)
    assert row.split()[:4] == [JOB_ID, "upload", "RUNNING", "Notes"]
    assert "2: 1 searchable, 0 graph-ready, 1 failed" in row
    assert "2024-04-18 00:00:00Z (" in row
    assert row.endswith("waits: neo4j cannot be reached now.")


async def test_object_values_are_shown_as_json_and_not_as_python(served: Served) -> None:
    answer = documents_pb2.GetDocumentResponse(document=DOCUMENT)
    served.script.answer("GetDocument", answer)
    removed = [
        jobs_pb2.RemovedRows(store=jobs_pb2.STORE_NEO4J, kind=jobs_pb2.ROW_KIND_FACTS, count=2)
    ]
    job = jobs_pb2.Job(id=JOB_ID, kind=jobs_pb2.JOB_KIND_DELETE, removed=removed)
    served.script.answer("GetJob", jobs_pb2.GetJobResponse(job=job))
    document = await braid(served, "documents", "get", "notes/a.md")
    assert 'metadata: {"kind": "note"}\n' in document.out
    shown = (await braid(served, "jobs", "get", JOB_ID)).out
    assert [line.split() for line in shown.splitlines()[-2:]] == [
        ["store", "removed", "count"],
        ["neo4j", "facts", "2"],
    ]
    assert "{" not in shown


async def test_jobs_are_listed_and_dead_documents_have_reasons(served: Served) -> None:
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[DONE]))
    failure = jobs_pb2.JobFailure(
        document_id="a.md", reason="is empty", stage=jobs_pb2.JOB_STAGE_SEARCH
    )
    dead = jobs_pb2.DeadDocument(job_id=JOB_ID, failure=failure)
    served.script.answer("ListDeadDocuments", jobs_pb2.ListDeadDocumentsResponse(documents=[dead]))
    listed = await braid(served, "jobs", "list", "--state", "succeeded")
    assert (listed.code, JOB_ID in listed.out) == (0, True)
    assert list(served.script.seen[0].message.states) == [jobs_pb2.JOB_STATE_SUCCEEDED]
    assert "is empty" in (await braid(served, "jobs", "dead")).out


async def test_all_dead_documents_are_retried_and_counted(served: Served) -> None:
    answer = jobs_pb2.RetryDeadDocumentsResponse(document_count=3, job_count=2, remaining_count=1)
    served.script.answer("RetryDeadDocuments", answer)
    retried = await braid(served, "jobs", "retry", "--dead", "--since", "2024-05-01")
    assert retried.out == "3 documents of 2 jobs are tried again; 1 remain dead.\n"
    assert served.script.seen[0].message.HasField("since_time")


@pytest.mark.parametrize("words", [[], [JOB_ID, "--dead"], [JOB_ID, "--since", "2024-05-01"]])
async def test_what_to_retry_is_either_a_job_or_all_dead_documents(
    served: Served, words: list[str]
) -> None:
    refused = await braid(served, "jobs", "retry", *words)
    assert refused.code == 2
    assert "--dead" in refused.err


async def test_a_job_is_canceled_by_its_id(served: Served) -> None:
    served.script.answer("CancelJob", jobs_pb2.CancelJobResponse(job=DONE))
    ended = await braid(served, "jobs", "cancel", JOB_ID, "--json")
    assert (ended.code, ended.json()["id"]) == (0, JOB_ID)
    assert served.script.seen[0].message.job_id == JOB_ID


async def test_without_a_terminal_tables_are_not_truncated_and_empty_values_are_empty(
    served: Served,
) -> None:
    reason = "is " + "very " * 50 + "odd"
    failure = jobs_pb2.JobFailure(
        document_id="a.md", reason=reason, stage=jobs_pb2.JOB_STAGE_SEARCH
    )
    dead = jobs_pb2.DeadDocument(job_id=JOB_ID, failure=failure)
    served.script.answer("ListDeadDocuments", jobs_pb2.ListDeadDocumentsResponse(documents=[dead]))
    waits = jobs_pb2.Job(id=JOB_ID, waiting_for="a graph tier that is away " * 5)
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[waits, DONE]))
    served.script.answer("GetJob", jobs_pb2.GetJobResponse(job=DONE))
    (_, row) = (await braid(served, "jobs", "dead")).out.splitlines()
    assert row.split() == ["a.md", "search", *reason.split(), JOB_ID]
    listed = await braid(served, "jobs", "list")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["id", JOB_ID, JOB_ID]
    assert "None" not in listed.out
    assert "waiting_for: \n" in (await braid(served, "jobs", "get", JOB_ID)).out


async def test_messages_of_conversations_are_found_by_their_words(served: Served) -> None:
    message = agent_pb2.Message(
        number=3,
        role=agent_pb2.MESSAGE_ROLE_USER,
        text="My pumps are red.",
        create_time=to_timestamp(datetime(2024, 5, 1, 10, tzinfo=UTC)),
    )
    found = agent_pb2.FoundMessage(
        conversation_id=JOB_ID, conversation_title="Pumps", message=message
    )
    served.script.answer("SearchMessages", agent_pb2.SearchMessagesResponse(messages=[found]))
    shown = await braid(served, "conversations", "search", "red pump", "--mine", "--limit", "3")
    asked = served.script.seen[-1].message
    assert (asked.query, asked.limit) == ("red pump", 3)
    assert asked.role == agent_pb2.MESSAGE_ROLE_USER
    assert shown.out == f"\nuser  2024-05-01 10:00:00Z  Pumps  {JOB_ID}\nMy pumps are red.\n"
    answered = (await braid(served, "conversations", "search", "red", "--json")).json()
    assert answered["messages"][0]["conversation_title"] == "Pumps"
    served.script.answer("SearchMessages", agent_pb2.SearchMessagesResponse())
    assert (await braid(served, "conversations", "search", "blue")).out == "No messages.\n"
    refused = await braid(served, "conversations", "search", " ")
    assert (refused.code, "query: " in refused.err) == (2, True)
