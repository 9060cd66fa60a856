"""Each call of the Python client sends the expected request to its service, with and without `await`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from braid.agent.v1 import ingest_pb2, jobs_pb2
from braid.common.v1.retrieval_pb2 import QueryEmbedding
from braid.graph.v1.ingest_pb2 import EntityInput, FactInput
from braid.vector.v1 import chunks_pb2, documents_pb2, documents_pb2_grpc, search_pb2
from braid_client import (
    AsyncBraid,
    Braid,
    BraidCallError,
    call_metadata,
    channel_options,
    document_input,
    failure_of,
)
from braid_protocol.idempotency import keyed_part, method_of, takes_key
from services.runtime.errors import StoreUnavailableError
from services.runtime.server import RunningServer
from tests.integration.gateway.samples import JOB_ID
from tests.integration.gateway.scripted import AGENT, LOOPBACK, VECTOR, Script, start_scripted

DOCUMENT = document_input("notes/1", ["One.", "Two."], space="local", title="Notes")
FACT = FactInput(
    subject=EntityInput(name="Ann"), relation_type="OWNS", object=EntityInput(name="Ledger")
)
PREFIX = chunks_pb2.TEXT_MATCH_PREFIX
EMBEDDING = QueryEmbedding(embedding_model="compass", values=[1.0, 0.0])


@dataclass(frozen=True)
class Case:
    """A client call, its RPC, the scripted response and the expected request."""

    call: Callable[[Any], Any]
    rpc: str
    answer: Message
    request: Message


CASES = {
    "vector_search": Case(
        lambda braid: braid.vector_search(
            "who?", limit=3, min_score=-0.5, query_embedding=EMBEDDING, timeout=3
        ),
        "braid.vector.v1.VectorSearchService/VectorSearch",
        search_pb2.VectorSearchResponse(space_revision=1),
        search_pb2.VectorSearchRequest(
            query="who?", limit=3, min_score=-0.5, query_embedding=EMBEDDING
        ),
    ),
    "text_search": Case(
        lambda braid: braid.text_search("led", match=PREFIX, min_score=0, timeout=3),
        "braid.vector.v1.VectorSearchService/TextSearch",
        search_pb2.TextSearchResponse(space_revision=1),
        search_pb2.TextSearchRequest(query="led", match=PREFIX, min_score=0),
    ),
    "upsert_document": Case(
        lambda braid: braid.upsert_document(DOCUMENT, embedding_model="compass", timeout=3),
        "braid.vector.v1.DocumentService/UpsertDocument",
        documents_pb2.UpsertDocumentResponse(
            outcome=documents_pb2.UpsertOutcome(document_id="notes/1")
        ),
        documents_pb2.UpsertDocumentRequest(document=DOCUMENT, embedding_model="compass"),
    ),
    "batch_upsert_documents": Case(
        lambda braid: braid.batch_upsert_documents(iter([DOCUMENT]), timeout=3),
        "braid.vector.v1.DocumentService/BatchUpsertDocuments",
        documents_pb2.BatchUpsertDocumentsResponse(space_revision=1),
        documents_pb2.BatchUpsertDocumentsRequest(documents=[DOCUMENT]),
    ),
    "get_document": Case(
        lambda braid: braid.get_document("notes/1", timeout=3),
        "braid.vector.v1.DocumentService/GetDocument",
        documents_pb2.GetDocumentResponse(chunk_ids=["a"]),
        documents_pb2.GetDocumentRequest(document_id="notes/1"),
    ),
    "delete_document": Case(
        lambda braid: braid.delete_document("notes/1", timeout=3),
        "braid.agent.v1.IngestService/DeleteDocument",
        ingest_pb2.DeleteDocumentResponse(
            removed=[
                jobs_pb2.RemovedRows(
                    store=jobs_pb2.STORE_NEO4J, kind=jobs_pb2.ROW_KIND_EPISODES, count=2
                )
            ]
        ),
        ingest_pb2.DeleteDocumentRequest(document_id="notes/1"),
    ),
    "ingest_facts": Case(
        lambda braid: braid.ingest_facts([FACT], embedding_model="compass", timeout=3),
        "braid.agent.v1.IngestService/IngestFacts",
        ingest_pb2.IngestFactsResponse(added_count=1),
        ingest_pb2.IngestFactsRequest(facts=[FACT], embedding_model="compass"),
    ),
    "get_text_language": Case(
        lambda braid: braid.get_text_language(timeout=3),
        "braid.vector.v1.DocumentService/GetTextLanguage",
        documents_pb2.GetTextLanguageResponse(language="german"),
        documents_pb2.GetTextLanguageRequest(),
    ),
}
SETTERS = {
    "set_text_language": Case(
        lambda braid: braid.set_text_language("german", timeout=3),
        "braid.vector.v1.DocumentService/SetTextLanguage",
        documents_pb2.SetTextLanguageResponse(),
        documents_pb2.SetTextLanguageRequest(language="german"),
    ),
}
ALL = CASES | SETTERS
READS = ("vector_search", "text_search", "get_document", "get_text_language")
WRITES = ("upsert_document", "batch_upsert_documents", "delete_document", "ingest_facts")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def server(script: Script) -> AsyncIterator[RunningServer]:
    running = await start_scripted((*AGENT, *VECTOR), script)
    yield running
    await running.stop()


def targets(server: RunningServer) -> dict[str, Any]:
    address = f"{LOOPBACK}:{server.port}"
    return {"target": address, "vector_target": address}


async def with_await(server: RunningServer, call: Callable[[Any], Any]) -> Any:
    async with AsyncBraid(**targets(server)) as braid:
        return await call(braid)


async def without_await(server: RunningServer, call: Callable[[Any], Any]) -> Any:
    def run() -> Any:
        with Braid(**targets(server)) as braid:
            return call(braid)

    return await asyncio.to_thread(run)


CLIENTS = pytest.mark.parametrize("made", [with_await, without_await])


@CLIENTS
@pytest.mark.parametrize("case", ALL.values(), ids=ALL)
async def test_a_call_reaches_its_service_with_the_given_deadline(
    server: RunningServer, script: Script, case: Case, made: Callable[..., Any]
) -> None:
    script.answer(case.rpc.rpartition("/")[2], case.answer)
    answer = await made(server, case.call)
    assert answer == (case.answer if case in CASES.values() else None)
    [seen] = script.seen
    if takes_key(method_of(seen.method)):
        keyed: Any = keyed_part(seen.message)
        assert keyed.idempotency_key
        keyed.ClearField("idempotency_key")
    assert (seen.method, seen.message) == (f"/{case.rpc}", case.request)
    assert 0 < seen.time_left <= 3.1


@CLIENTS
async def test_documents_are_listed_over_all_pages(
    server: RunningServer, script: Script, made: Callable[..., Any]
) -> None:
    pages = [
        documents_pb2.ListDocumentsResponse(
            documents=[documents_pb2.Document(document_id=name)], next_page_token=token
        )
        for name, token in (("a", "on"), ("b", ""))
    ]
    script.answer_in_turn("ListDocuments", *pages)

    async def listed(braid: AsyncBraid) -> list[str]:
        return [each.document_id async for each in braid.list_documents(page_size=1)]

    def listed_without_await(braid: Braid) -> list[str]:
        return [each.document_id for each in braid.list_documents(page_size=1)]

    work = listed if made is with_await else listed_without_await
    assert await made(server, work) == ["a", "b"]
    assert [seen.message.page_token for seen in script.seen] == ["", "on"]


@pytest.mark.parametrize("name", READS)
async def test_a_read_is_retried_while_the_store_is_unavailable(
    server: RunningServer, script: Script, name: str
) -> None:
    script.fail(CASES[name].rpc.rpartition("/")[2], StoreUnavailableError("postgresql"))
    with pytest.raises(BraidCallError, match="STORE_UNAVAILABLE"):
        await with_await(server, CASES[name].call)
    assert len(script.seen) == 3


@pytest.mark.parametrize("name", WRITES)
async def test_a_write_is_not_retried(server: RunningServer, script: Script, name: str) -> None:
    script.fail(CASES[name].rpc.rpartition("/")[2], StoreUnavailableError("postgresql"))
    with pytest.raises(BraidCallError, match="STORE_UNAVAILABLE"):
        await with_await(server, CASES[name].call)
    assert len(script.seen) == 1


async def test_many_facts_are_sent_in_messages_of_a_thousand(
    server: RunningServer, script: Script
) -> None:
    script.answer("IngestFacts", ingest_pb2.IngestFactsResponse(added_count=2_500))
    await with_await(server, lambda braid: braid.ingest_facts(FACT for _ in range(2_500)))
    [seen] = script.seen
    assert [len(message.facts) for message in seen.messages] == [1_000, 1_000, 500]


async def test_facts_with_vectors_are_sent_in_messages_within_the_size_limit(
    server: RunningServer, script: Script
) -> None:
    script.answer("IngestFacts", ingest_pb2.IngestFactsResponse(added_count=900))
    large = FactInput(
        subject=FACT.subject, relation_type="OWNS", object=FACT.object, embedding=[0.5] * 8_192
    )
    await with_await(server, lambda braid: braid.ingest_facts([large] * 900))
    [seen] = script.seen
    assert sum(len(message.facts) for message in seen.messages) == 900
    assert max(message.ByteSize() for message in seen.messages) <= 2**20 + 64


async def test_a_raw_stub_with_the_clients_options_retries_and_has_a_typed_failure(
    server: RunningServer, script: Script
) -> None:
    script.fail("GetVectorStats", StoreUnavailableError("postgresql"))
    target = targets(server)["vector_target"]
    async with grpc.aio.insecure_channel(target, options=channel_options()) as channel:
        stub = documents_pb2_grpc.DocumentServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stub.GetVectorStats(
                documents_pb2.GetVectorStatsRequest(),
                timeout=5,
                metadata=call_metadata(None, None, None),
            )
    assert failure_of(failed.value).reason == "STORE_UNAVAILABLE"
    assert len(script.seen) == 3


JOB = jobs_pb2.Job(id=JOB_ID, state=jobs_pb2.JOB_STATE_RUNNING)


@CLIENTS
@pytest.mark.parametrize(
    ("call", "rpc", "answer"),
    [
        (lambda braid: braid.get_job(JOB_ID), "GetJob", jobs_pb2.GetJobResponse(job=JOB)),
        (lambda braid: braid.cancel_job(JOB_ID), "CancelJob", jobs_pb2.CancelJobResponse(job=JOB)),
        (lambda braid: braid.retry_job(JOB_ID), "RetryJob", jobs_pb2.RetryJobResponse(job=JOB)),
    ],
)
async def test_a_job_is_fetched_canceled_and_retried(  # noqa: PLR0917 - all of them are needed
    server: RunningServer, script: Script, made: Any, call: Any, rpc: str, answer: Any
) -> None:
    script.answer(rpc, answer)
    assert await made(server, call) == JOB
    assert script.seen[-1].message.job_id == JOB_ID


async def collect(found: Any) -> list[Any]:
    return [one async for one in found]


LISTS: list[tuple[str, Callable[[Any], Any], list[Any], Any]] = [
    (
        "ListJobs",
        lambda braid: braid.list_jobs(states=[jobs_pb2.JOB_STATE_RUNNING], page_size=1),
        [
            jobs_pb2.ListJobsResponse(jobs=[JOB], next_page_token="n"),
            jobs_pb2.ListJobsResponse(jobs=[JOB]),
        ],
        jobs_pb2.ListJobsRequest(states=[jobs_pb2.JOB_STATE_RUNNING], page_size=1, page_token="n"),
    ),
    (
        "ListDeadDocuments",
        lambda braid: braid.list_dead_documents(page_size=1),
        [
            jobs_pb2.ListDeadDocumentsResponse(
                documents=[jobs_pb2.DeadDocument(job_id=JOB_ID)], next_page_token="n"
            ),
            jobs_pb2.ListDeadDocumentsResponse(documents=[jobs_pb2.DeadDocument()]),
        ],
        jobs_pb2.ListDeadDocumentsRequest(page_size=1, page_token="n"),
    ),
    (
        "ListDocumentVersions",
        lambda braid: braid.list_document_versions("d.md", page_size=1),
        [
            documents_pb2.ListDocumentVersionsResponse(
                versions=[documents_pb2.DocumentVersion(version=2)], next_page_token="n"
            ),
            documents_pb2.ListDocumentVersionsResponse(
                versions=[documents_pb2.DocumentVersion(version=1)]
            ),
        ],
        documents_pb2.ListDocumentVersionsRequest(document_id="d.md", page_size=1, page_token="n"),
    ),
]


@CLIENTS
@pytest.mark.parametrize(("rpc", "call", "pages", "last"), LISTS, ids=[one[0] for one in LISTS])
async def test_a_list_is_read_over_all_pages(  # noqa: PLR0917 - all of them are needed
    server: RunningServer, script: Script, made: Any, rpc: str, call: Any, pages: Any, last: Any
) -> None:
    script.answer_in_turn(rpc, *pages)
    if made is with_await:
        found = await made(server, lambda braid: collect(call(braid)))
    else:
        found = await made(server, lambda braid: list(call(braid)))
    assert len(found) == 2
    assert script.seen[-1].message == last
