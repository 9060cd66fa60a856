"""Each graph call of the Python client sends the expected request, and works against the real tier."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from braid.common.v1.retrieval_pb2 import QueryEmbedding, TimeRange, TimeSelector
from braid.graph.v1 import (
    facts_pb2,
    findings_pb2,
    history_pb2,
    ingest_pb2,
    ontology_pb2,
    structure_pb2,
)
from braid.graph.v1.entities_pb2 import EntitySelector
from braid_client import AsyncBraid, Braid, BraidCallError
from deploy.local.stores import LocalStores
from services.runtime.errors import StoreUnavailableError
from services.runtime.server import RunningServer
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import settings_of
from tests.integration.gateway.graph_tier import OURS, SECONDS, Company, served_company
from tests.integration.gateway.scripted import GRAPH, LOOPBACK, Script, start_scripted

__all__ = ["settings_of"]

QUERY, INGEST = (f"{name}/" for name in GRAPH)
DAY, LATER = datetime(2024, 4, 18, tzinfo=UTC), datetime(2024, 6, 10, tzinfo=UTC)
SPAN = TimeRange(start_time=to_timestamp(DAY), end_time=to_timestamp(LATER))
UUID = "00000000-0000-4000-8000-000000000001"
LEDGER = EntitySelector(name="Ledger")
BY_UUID = EntitySelector(id=UUID)
AT_DAY, IN_SPAN = TimeSelector(instant=to_timestamp(DAY)), TimeSelector(range=SPAN)
FINDING = findings_pb2.FindingInput(finding=findings_pb2.FindingDetails(key_insight="It fails"))
ONLY = findings_pb2.FindingFilter(kinds=[findings_pb2.FINDING_KIND_FINDING])
EMBEDDING = QueryEmbedding(embedding_model="compass", values=[1.0, 0.0])
ONTOLOGY = ontology_pb2.Ontology(entity_types=[ontology_pb2.EntityType(name="Service")])
FACT = facts_pb2.Fact(id=UUID)


@dataclass(frozen=True)
class Case:
    """A client call, its RPC, the scripted response, the expected request and the returned value."""

    call: Callable[[Any], Any]
    rpc: str
    answer: Message
    request: Message
    returned: Any = None


CASES = {
    "get_entity_history": Case(
        lambda braid: braid.get_entity_history(
            "Ledger",
            relation_type="OWNS",
            since_time=DAY,
            as_of=LATER,
            known_time=DAY,
            page_size=3,
            page_token="on",
            timeout=3,
        ),
        QUERY + "GetEntityHistory",
        history_pb2.GetEntityHistoryResponse(facts=[FACT]),
        history_pb2.GetEntityHistoryRequest(
            entity=LEDGER,
            relation_type="OWNS",
            since_time=to_timestamp(DAY),
            as_of=to_timestamp(LATER),
            known_time=to_timestamp(DAY),
            page_size=3,
            page_token="on",
        ),
    ),
    "get_graph_snapshot": Case(
        lambda braid: braid.get_graph_snapshot(
            SPAN, entity=BY_UUID, known_time=DAY, page_size=3, timeout=3
        ),
        QUERY + "GetSnapshot",
        history_pb2.GetSnapshotResponse(facts=[FACT]),
        history_pb2.GetSnapshotRequest(
            as_of=IN_SPAN, entity=BY_UUID, known_time=to_timestamp(DAY), page_size=3
        ),
    ),
    "diff_graph": Case(
        lambda braid: braid.diff_graph(DAY, after=SPAN, entity="Ledger", limit=3, timeout=3),
        QUERY + "DiffGraph",
        history_pb2.DiffGraphResponse(diff=history_pb2.GraphDiff(added=[FACT])),
        history_pb2.DiffGraphRequest(before=AT_DAY, after=IN_SPAN, entity=LEDGER, limit=3),
        history_pb2.GraphDiff(added=[FACT]),
    ),
    "find_paths": Case(
        lambda braid: braid.find_paths(
            "Ledger", BY_UUID, max_hops=2, limit=1, as_of=DAY, include_local=True, timeout=3
        ),
        QUERY + "FindPaths",
        structure_pb2.FindPathsResponse(truncated=True),
        structure_pb2.FindPathsRequest(
            source=LEDGER, target=BY_UUID, max_hops=2, limit=1, as_of=AT_DAY, include_local=True
        ),
    ),
    "get_fact": Case(
        lambda braid: braid.get_fact(UUID, timeout=3),
        QUERY + "GetFact",
        structure_pb2.GetFactResponse(fact=FACT),
        structure_pb2.GetFactRequest(fact_id=UUID),
    ),
    "end_fact": Case(
        lambda braid: braid.end_fact(UUID, LATER, timeout=3),
        INGEST + "EndFact",
        ingest_pb2.EndFactResponse(changed=True),
        ingest_pb2.EndFactRequest(fact_id=UUID, invalid_time=to_timestamp(LATER)),
    ),
    "add_findings": Case(
        lambda braid: braid.add_findings(iter([FINDING]), embedding_model="compass", timeout=3),
        INGEST + "AddFindings",
        findings_pb2.AddFindingsResponse(added_count=1),
        findings_pb2.AddFindingsRequest(findings=[FINDING], embedding_model="compass"),
    ),
    "search_findings": Case(
        lambda braid: braid.search_findings(
            "why?", filter=ONLY, page_size=3, query_embedding=EMBEDDING, timeout=3
        ),
        QUERY + "SearchFindings",
        findings_pb2.SearchFindingsResponse(space_revision=2),
        findings_pb2.SearchFindingsRequest(
            query="why?", filter=ONLY, page_size=3, query_embedding=EMBEDDING
        ),
    ),
    "get_ontology": Case(
        lambda braid: braid.get_ontology(timeout=3),
        QUERY + "GetOntology",
        ontology_pb2.GetOntologyResponse(version=2),
        ontology_pb2.GetOntologyRequest(),
    ),
    "put_ontology": Case(
        lambda braid: braid.put_ontology(
            entity_types=ONTOLOGY.entity_types, expected_version=0, timeout=3
        ),
        INGEST + "PutOntology",
        ontology_pb2.PutOntologyResponse(version=3),
        ontology_pb2.PutOntologyRequest(ontology=ONTOLOGY, expected_version=0),
    ),
}
READS = (
    *("get_entity_history", "get_graph_snapshot", "diff_graph", "find_paths", "get_fact"),
    "search_findings",
)
WRITES = ("end_fact", "put_ontology")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def server(script: Script) -> AsyncIterator[RunningServer]:
    running = await start_scripted(GRAPH, script)
    yield running
    await running.stop()


async def with_await(server: RunningServer, call: Callable[[Any], Any]) -> Any:
    async with AsyncBraid(graph_target=f"{LOOPBACK}:{server.port}") as braid:
        return await call(braid)


async def without_await(server: RunningServer, call: Callable[[Any], Any]) -> Any:
    def run() -> Any:
        with Braid(graph_target=f"{LOOPBACK}:{server.port}") as braid:
            return call(braid)

    return await asyncio.to_thread(run)


@pytest.mark.parametrize("made", [with_await, without_await])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_a_call_reaches_the_tier_with_the_given_deadline(
    server: RunningServer, script: Script, case: Case, made: Callable[..., Any]
) -> None:
    script.answer(case.rpc.rpartition("/")[2], case.answer)
    answer = await made(server, case.call)
    assert answer == (case.answer if case.returned is None else case.returned)
    [seen] = script.seen
    assert (seen.method, without_key(seen.message)) == (f"/{case.rpc}", case.request)
    assert 0 < seen.time_left <= 3.1


def without_key(message: Any) -> Any:
    """Returns a message without the key with which it may be repeated."""
    if "idempotency_key" in message.DESCRIPTOR.fields_by_name:
        assert message.idempotency_key
        message.ClearField("idempotency_key")
    return message


@pytest.mark.parametrize("name", READS)
async def test_a_read_is_retried_while_the_store_is_unavailable(
    server: RunningServer, script: Script, name: str
) -> None:
    script.fail(CASES[name].rpc.rpartition("/")[2], StoreUnavailableError("neo4j"))
    with pytest.raises(BraidCallError, match="STORE_UNAVAILABLE"):
        await with_await(server, CASES[name].call)
    assert len(script.seen) == 3


@pytest.mark.parametrize("name", WRITES)
async def test_a_write_is_not_retried(server: RunningServer, script: Script, name: str) -> None:
    script.fail(CASES[name].rpc.rpartition("/")[2], StoreUnavailableError("neo4j"))
    with pytest.raises(BraidCallError, match="STORE_UNAVAILABLE"):
        await with_await(server, CASES[name].call)
    assert len(script.seen) == 1


async def test_a_write_with_a_key_is_retried_with_the_same_key(
    server: RunningServer, script: Script
) -> None:
    script.fail("AddFindings", StoreUnavailableError("neo4j"))
    with pytest.raises(BraidCallError, match="STORE_UNAVAILABLE"):
        await with_await(server, CASES["add_findings"].call)
    assert len(script.seen) == 3
    assert len({one.message.idempotency_key for one in script.seen}) == 1


async def test_facts_and_findings_are_listed_over_all_pages(
    server: RunningServer, script: Script
) -> None:
    pages = [
        structure_pb2.ListFactsResponse(facts=[facts_pb2.Fact(id=name)], next_page_token=token)
        for name, token in (("a", "on"), ("b", ""))
    ]
    hits = [
        findings_pb2.SearchFindingsResponse(
            hits=[findings_pb2.FindingHit(finding=findings_pb2.Finding(id=name))],
            next_page_token=token,
        )
        for name, token in (("c", "on"), ("d", ""))
    ]
    script.answer_in_turn("ListFacts", *pages)
    script.answer_in_turn("SearchFindings", *hits)
    async with AsyncBraid(graph_target=f"{LOOPBACK}:{server.port}") as braid:
        facts = braid.list_facts(subject="Ledger", object=BY_UUID, as_of=SPAN, page_size=1)
        assert [one.id async for one in facts] == ["a", "b"]
        findings = braid.list_findings(filter=ONLY, page_size=1)
        assert [one.id async for one in findings] == ["c", "d"]
    first, second, *listed = (seen.message for seen in script.seen)
    assert (first.subject, first.object, first.as_of) == (LEDGER, BY_UUID, IN_SPAN)
    assert (first.page_token, second.page_token) == ("", "on")
    assert [one.page_token for one in listed] == ["", "on"]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda braid: braid.get_entity_history(5), TypeError),
        (lambda braid: braid.get_graph_snapshot("2024-04-18"), TypeError),
        (lambda braid: braid.diff_graph(datetime(2024, 4, 18)), ValueError),  # noqa: DTZ001 - refused
        (lambda braid: braid.add_findings(["It fails"]), TypeError),
    ],
)
async def test_invalid_arguments_raise_before_anything_is_sent(
    server: RunningServer, script: Script, call: Callable[[Any], Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await with_await(server, call)
    assert script.seen == []


@pytest.fixture
async def company(
    graph_stores: LocalStores, settings_of: Any, script: Script, tmp_path: Path
) -> AsyncIterator[Company]:
    async with served_company(graph_stores, settings_of, script, tmp_path) as running:
        yield running


async def test_the_real_tier_returns_history_changes_and_paths_and_ends_a_fact(
    company: Company,
) -> None:
    async with AsyncBraid(graph_target=company.target, api_key=OURS, timeout=SECONDS) as braid:
        history = await braid.get_entity_history("payments")
        assert (history.summary.fact_count, history.summary.never_changed) == (4, False)
        changes = (await braid.get_graph_snapshot(datetime(2019, 6, 1, tzinfo=UTC))).changes
        assert changes.added_count == 2
        owners = [one async for one in braid.list_facts(object="Payments", as_of=TimeRange())]
        assert [one.subject.name for one in owners] == [
            "Anna Bell",
            "Karl Otto",
            "Mira Okafor",
        ]
        ended = await braid.end_fact(owners[-1].id, datetime(2023, 1, 1, tzinfo=UTC))
        assert ended.changed
        assert len((await braid.get_fact(owners[-1].id)).versions) == 2
        path = await braid.find_paths("Payments", "PostgreSQL")
        assert [node.name for node in path.paths[0].nodes] == ["Payments", "Ledger", "PostgreSQL"]
