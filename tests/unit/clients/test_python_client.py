"""The Python client against small tiers behind the real contracts, over real sockets."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeAlias, TypeVar

import grpc
import pytest

from braid.agent.v1 import ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc
from braid.graph.v1 import facts_pb2, query_pb2, query_pb2_grpc
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from braid.vector.v1 import search_pb2_grpc as vector_grpc
from braid_client import AsyncBraid, Braid, BraidCallError
from braid_client.options import (
    ComprehensiveOptions,
    DocumentOptions,
    FactOptions,
    HybridOptions,
)
from services.runtime.errors import DeadlineError, OverloadedError, StoreUnavailableError
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings

T = TypeVar("T")
JOB_ID = "00000000-0000-4000-8000-000000000001"
NAIVE = datetime(2024, 1, 1)  # noqa: DTZ001 - what is to be refused
Watched: TypeAlias = ingest_pb2.JobState.ValueType | Exception | grpc.StatusCode


@dataclass
class Backend:
    """What the servicers saw; `failures` are raised one after the other before they answer.

    `watched` is what the watch of a job tells: states, then a failure of Braid's or gRPC's; it ends where `stays` is
    false.
    """

    requests: list[Any] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)
    uploads: int = 0
    watched: tuple[Watched, ...] = (ingest_pb2.JOB_STATE_RUNNING, ingest_pb2.JOB_STATE_SUCCEEDED)
    stays: bool = False

    def take(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        self.requests.append(request)
        self.deadlines.append(context.time_remaining() or 0)
        if self.failures:
            raise self.failures.pop(0)


class Search(search_pb2_grpc.SearchServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def ComprehensiveSearch(
        self, request: search_pb2.ComprehensiveSearchRequest, context: Any
    ) -> search_pb2.ComprehensiveSearchResponse:
        self._backend.take(request, context)
        return search_pb2.ComprehensiveSearchResponse(total_results=3)

    async def StreamComprehensiveSearch(
        self, request: search_pb2.StreamComprehensiveSearchRequest, context: Any
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        self._backend.take(request, context)
        yield search_pb2.StreamComprehensiveSearchResponse(leg=search_pb2.LegResults())
        final = search_pb2.ComprehensiveSearchResponse(total_results=3)
        yield search_pb2.StreamComprehensiveSearchResponse(final=final)


class Ingest(ingest_pb2_grpc.IngestServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def IngestDocument(
        self, request_iterator: AsyncIterator[ingest_pb2.IngestDocumentRequest], context: Any
    ) -> ingest_pb2.IngestDocumentResponse:
        self._backend.uploads += 1
        async for request in request_iterator:
            self._backend.take(request, context)
        job = ingest_pb2.IngestJob(id=JOB_ID)
        return ingest_pb2.IngestDocumentResponse(job=job)

    async def WatchIngestJob(
        self, request: ingest_pb2.WatchIngestJobRequest, context: Any
    ) -> AsyncIterator[ingest_pb2.WatchIngestJobResponse]:
        for told in self._backend.watched:
            if isinstance(told, Exception):
                raise told
            if isinstance(told, grpc.StatusCode):
                await context.abort(told, "no more")
                return
            job = ingest_pb2.IngestJob(id=request.job_id, state=told)
            yield ingest_pb2.WatchIngestJobResponse(job=job)
        if self._backend.stays:
            await asyncio.Event().wait()


class Vector(vector_grpc.VectorSearchServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def HybridSearch(
        self, request: vector_pb2.HybridSearchRequest, context: Any
    ) -> vector_pb2.HybridSearchResponse:
        self._backend.take(request, context)
        return vector_pb2.HybridSearchResponse(space_revision=7)


class Graph(query_pb2_grpc.GraphQueryServiceServicer):
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def SearchFacts(
        self, request: query_pb2.SearchFactsRequest, context: Any
    ) -> query_pb2.SearchFactsResponse:
        self._backend.take(request, context)
        return query_pb2.SearchFactsResponse(space_revision=8)

    async def ListEntities(
        self, request: query_pb2.ListEntitiesRequest, context: Any
    ) -> query_pb2.ListEntitiesResponse:
        self._backend.take(request, context)
        if request.page_token:
            return query_pb2.ListEntitiesResponse(entities=[facts_pb2.Entity(name="B")])
        return query_pb2.ListEntitiesResponse(
            entities=[facts_pb2.Entity(name="A")], next_page_token="on"
        )


def served(backend: Backend) -> list[Service]:
    def add(server: grpc.aio.Server) -> None:
        search_pb2_grpc.add_SearchServiceServicer_to_server(Search(backend), server)
        ingest_pb2_grpc.add_IngestServiceServicer_to_server(Ingest(backend), server)  # type: ignore[abstract] # what the client calls
        vector_grpc.add_VectorSearchServiceServicer_to_server(Vector(backend), server)  # type: ignore[abstract]
        query_pb2_grpc.add_GraphQueryServiceServicer_to_server(Graph(backend), server)  # type: ignore[abstract]

    return [Service("braid.agent.v1.SearchService", add)]


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
async def server(backend: Backend) -> AsyncIterator[RunningServer]:
    settings = RuntimeSettings(_env_file=None, drain_seconds=0.2)
    running = await start_server(
        settings=settings, listen="127.0.0.1:0", services=served(backend), probes={}
    )
    yield running
    await running.stop()


def targets(server: RunningServer) -> dict[str, Any]:
    address = f"127.0.0.1:{server.port}"
    return {"target": address, "vector_target": address, "graph_target": address}


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[AsyncBraid]:
    async with AsyncBraid(**targets(server)) as braid:
        yield braid


async def without_await(server: RunningServer, work: Callable[[Braid], T]) -> T:
    def run() -> T:
        with Braid(**targets(server)) as braid:
            return work(braid)

    return await asyncio.to_thread(run)


async def test_a_question_is_asked_with_the_contracts_defaults_and_a_deadline(
    client: AsyncBraid, backend: Backend
) -> None:
    answer = await client.comprehensive_search("who?")
    assert answer.total_results == 3
    [request] = backend.requests
    assert not request.HasField("limit")
    # gRPC carries a deadline in steps of a hundredth of it, and rounds up.
    assert 5 < backend.deadlines[0] <= 10 * 1.01


async def test_every_option_of_a_question_arrives(client: AsyncBraid, backend: Backend) -> None:
    instant = datetime(2024, 3, 1, tzinfo=UTC)
    await client.comprehensive_search(
        "who?", limit=3, use_graph=False, text_weight=0.5, as_of=instant
    )
    [request] = backend.requests
    assert (request.limit, request.use_graph, request.text_weight) == (3, False, 0.5)
    assert request.as_of.ToDatetime(tzinfo=UTC) == instant


async def test_a_naive_time_is_refused_before_anything_is_sent(
    client: AsyncBraid, backend: Backend
) -> None:
    with pytest.raises(ValueError, match="zone"):
        await client.search_facts("who?", as_of=datetime(2024, 3, 1))  # noqa: DTZ001
    assert backend.requests == []


async def test_a_streamed_answer_brings_legs_and_then_the_whole(client: AsyncBraid) -> None:
    kinds = [part.WhichOneof("part") async for part in client.stream_comprehensive_search("who?")]
    assert kinds == ["leg", "final"]


async def test_the_tiers_are_asked_directly(client: AsyncBraid) -> None:
    assert (await client.hybrid_search("who?")).space_revision == 7
    assert (await client.search_facts("who?", entity_name="Mira")).space_revision == 8


async def test_entities_come_page_after_page(client: AsyncBraid) -> None:
    assert [entity.name async for entity in client.entities(page_size=1)] == ["A", "B"]


async def test_an_upload_goes_in_parts_and_its_job_is_waited_for(
    client: AsyncBraid, backend: Backend
) -> None:
    job = await client.ingest_document("x" * 600_000, title="Long", metadata={"team": "core"})
    ended = await client.wait_for_job(job.id)
    assert ended.state == ingest_pb2.JOB_STATE_SUCCEEDED
    described, *parts = backend.requests
    assert described.metadata.metadata["team"] == "core"
    assert sum(len(part.data) for part in parts) == 600_000
    assert len(parts) == 2


async def test_a_read_that_finds_the_service_away_is_tried_again(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.failures = [StoreUnavailableError("neo4j"), StoreUnavailableError("neo4j")]
    assert (await client.search_facts("who?")).space_revision == 8
    assert len(backend.requests) == 3


async def test_a_failure_carries_reason_fields_delay_and_request_id(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.failures = [OverloadedError(retry_after=0.5)]
    with pytest.raises(BraidCallError) as overloaded:
        await client.comprehensive_search("who?")
    failure = overloaded.value.failure
    assert (failure.reason, failure.retry_after) == ("OVERLOADED", 0.5)
    assert failure.metadata["request_id"]
    with pytest.raises(BraidCallError) as wrong:
        await client.comprehensive_search("", limit=51)
    assert [field.field for field in wrong.value.failure.fields] == ["query", "limit"]


async def test_no_server_is_an_error_without_a_reason() -> None:
    async with AsyncBraid("127.0.0.1:1", timeout=2) as braid:
        with pytest.raises(BraidCallError) as failure:
            await braid.comprehensive_search("who?")
    assert failure.value.failure.code is grpc.StatusCode.UNAVAILABLE
    assert failure.value.failure.reason == ""


async def test_the_same_without_await(server: RunningServer) -> None:
    def work() -> tuple[int, list[str], list[Any]]:
        with Braid(**targets(server)) as braid:
            total = braid.comprehensive_search("who?").total_results
            names = [entity.name for entity in braid.entities(page_size=1)]
            kinds = [part.WhichOneof("part") for part in braid.stream_comprehensive_search("who?")]
            return total, names, kinds

    total, names, kinds = await asyncio.to_thread(work)
    assert (total, names, kinds) == (3, ["A", "B"], ["leg", "final"])


def nested(levels: int) -> dict[str, Any]:
    outermost: dict[str, Any] = {}
    inner = outermost
    for _ in range(levels):
        inner["in"] = {}
        inner = inner["in"]
    return outermost


def within_itself() -> dict[str, Any]:
    cycle: dict[str, Any] = {}
    cycle["in"] = cycle
    return cycle


WRONG_DOCUMENTS = [
    pytest.param({"valid_time": NAIVE}, ValueError, "zone", id="naive time"),
    pytest.param({"valid_time": "2024"}, TypeError, "datetime", id="time as text"),
    pytest.param(
        {"valid_time": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))},
        ValueError,
        "9999",
        id="time after the last year",
    ),
    pytest.param({"metadata": {"d": NAIVE}}, ValueError, r"metadata\['d'\]", id="time in metadata"),
    pytest.param({"metadata": {"a": object()}}, ValueError, r"metadata\['a'\]", id="object"),
    pytest.param({"metadata": {"a": 10**400}}, ValueError, r"metadata\['a'\]", id="large number"),
    pytest.param({"metadata": {1: "x"}}, TypeError, "names in metadata", id="name"),
    pytest.param({"metadata": {"a": {1: "x"}}}, TypeError, r"metadata\['a'\]", id="inner name"),
    pytest.param({"metadata": nested(300)}, ValueError, "levels", id="many levels"),
    pytest.param({"metadata": within_itself()}, ValueError, "levels", id="within itself"),
    pytest.param({"metadata": 5}, TypeError, None, id="metadata as a number"),
    pytest.param({"title": 5}, TypeError, None, id="title as a number"),
    pytest.param({"title": "\ud800"}, ValueError, "surrogates", id="half a character"),
    pytest.param({"data": None}, TypeError, "data .* NoneType", id="no data"),
    pytest.param({"data": ["a"]}, TypeError, "data .* list", id="list as data"),
    pytest.param({"data": bytearray(b"a")}, TypeError, "data .* bytearray", id="bytearray as data"),
]


@pytest.mark.parametrize(("wrong", "error", "words"), WRONG_DOCUMENTS)
async def test_a_wrong_argument_of_an_upload_is_told_before_the_call_starts(
    client: AsyncBraid,
    backend: Backend,
    wrong: dict[str, Any],
    error: type[Exception],
    words: str | None,
) -> None:
    with pytest.raises(error, match=words):
        await client.ingest_document(**{"data": "x", **wrong})
    assert (backend.uploads, backend.requests) == (0, [])


@pytest.mark.parametrize(("wrong", "error", "words"), WRONG_DOCUMENTS)
async def test_a_wrong_argument_of_an_upload_is_told_without_await_too(
    server: RunningServer,
    backend: Backend,
    wrong: dict[str, Any],
    error: type[Exception],
    words: str | None,
) -> None:
    with pytest.raises(error, match=words):
        await without_await(server, lambda braid: braid.ingest_document(**{"data": "x", **wrong}))
    assert (backend.uploads, backend.requests) == (0, [])


class BrokenMetadata(dict[str, Any]):
    """A caller's own mapping, which fails while it is read."""

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        yield "first"
        raise LookupError("the caller's own")

    def keys(self) -> Any:
        return iter(self)

    def __getitem__(self, name: str) -> Any:
        return name


async def test_a_failure_of_the_callers_own_mapping_reaches_the_caller_as_it_is(
    client: AsyncBraid, backend: Backend
) -> None:
    with pytest.raises(LookupError, match="the caller's own"):
        await client.ingest_document("x", metadata=BrokenMetadata())
    assert backend.uploads == 0


async def test_an_upload_without_metadata_leaves_it_unset(
    client: AsyncBraid, backend: Backend
) -> None:
    await client.ingest_document("x")
    assert not backend.requests[0].metadata.HasField("metadata")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"query": 5}, TypeError),
        ({"as_of": "2024"}, TypeError),
        ({"as_of": NAIVE}, ValueError),
        ({"limit": 2**40}, ValueError),
        ({"chunk_filter": "all"}, TypeError),
        ({"cache": False}, TypeError),
    ],
)
async def test_a_wrong_argument_of_a_search_is_told_before_anything_is_sent(
    client: AsyncBraid, backend: Backend, wrong: dict[str, Any], error: type[Exception]
) -> None:
    options = {"query": "who?", **wrong}
    with pytest.raises(error):
        await client.comprehensive_search(**options)
    with pytest.raises(error):
        await anext(client.stream_comprehensive_search(**options))
    with pytest.raises(error):
        await client.hybrid_search(**options)
    assert backend.requests == []


@pytest.mark.parametrize("argument", ["api_key", "space", "user"])
@pytest.mark.parametrize(
    ("text", "error"), [("a\nb", ValueError), ("Zoë", ValueError), (5, TypeError)]
)
def test_what_no_header_carries_is_refused_by_name_and_leaves_no_thread(
    argument: str, text: Any, error: type[Exception]
) -> None:
    for client in (AsyncBraid, Braid):
        with pytest.raises(error, match=argument) as refused:
            client(**{argument: text})
        assert str(text) not in str(refused.value)
    assert "braid-client" not in [thread.name for thread in threading.enumerate()]


async def test_a_search_leaves_cache_fusion_and_lowest_score_to_the_contract(
    client: AsyncBraid, backend: Backend
) -> None:
    await client.comprehensive_search("who?")
    await client.hybrid_search("who?")
    everywhere, hybrid = backend.requests
    assert everywhere.cache == hybrid.cache == chunks_pb2.CACHE_MODE_UNSPECIFIED
    assert hybrid.fusion == chunks_pb2.FUSION_UNSPECIFIED
    assert not hybrid.HasField("min_score")


async def test_earlier_answers_are_left_aside_where_a_search_asks_for_it(
    client: AsyncBraid, backend: Backend
) -> None:
    bypass = chunks_pb2.CACHE_MODE_BYPASS
    await client.comprehensive_search("who?", cache=bypass)
    async for _ in client.stream_comprehensive_search("who?", cache=bypass):
        pass
    await client.hybrid_search("who?", cache=bypass)
    whole, streamed, hybrid = backend.requests
    assert [whole.cache, streamed.search.cache, hybrid.cache] == [bypass] * 3


async def test_a_hybrid_search_takes_fusion_and_a_lowest_score_zero_included(
    client: AsyncBraid, backend: Backend
) -> None:
    await client.hybrid_search("who?", fusion=chunks_pb2.FUSION_RECIPROCAL_RANK, min_score=0.25)
    await client.hybrid_search("who?", min_score=0.0)
    ranked, all_of_them = backend.requests
    assert (ranked.fusion, ranked.min_score) == (chunks_pb2.FUSION_RECIPROCAL_RANK, 0.25)
    assert all_of_them.HasField("min_score")


async def test_cache_fusion_and_lowest_score_are_taken_without_await_too(
    server: RunningServer, backend: Backend
) -> None:
    bypass, ranks = chunks_pb2.CACHE_MODE_BYPASS, chunks_pb2.FUSION_RECIPROCAL_RANK

    def work(braid: Braid) -> None:
        braid.comprehensive_search("who?", cache=bypass)
        list(braid.stream_comprehensive_search("who?", cache=bypass))
        braid.hybrid_search("who?", cache=bypass, fusion=ranks, min_score=0.5)

    await without_await(server, work)
    whole, streamed, hybrid = backend.requests
    assert [whole.cache, streamed.search.cache, hybrid.cache] == [bypass] * 3
    assert (hybrid.fusion, hybrid.min_score) == (ranks, 0.5)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (AsyncBraid.comprehensive_search, ComprehensiveOptions),
        (AsyncBraid.stream_comprehensive_search, ComprehensiveOptions),
        (AsyncBraid.hybrid_search, HybridOptions),
        (AsyncBraid.search_facts, FactOptions),
        (AsyncBraid.ingest_document, DocumentOptions),
    ],
)
def test_the_client_without_await_is_typed_with_every_option(
    method: Callable[..., Any], options: type
) -> None:
    parameters = inspect.signature(method).parameters.values()
    by_keyword = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert by_keyword == set(options.__annotations__)


async def test_a_job_that_goes_on_is_answered_as_it_stands_when_the_time_is_up(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.watched = (ingest_pb2.JOB_STATE_QUEUED, ingest_pb2.JOB_STATE_RUNNING)
    backend.stays = True
    job = await client.wait_for_job(JOB_ID, timeout=1)
    assert (job.id, job.state) == (JOB_ID, ingest_pb2.JOB_STATE_RUNNING)


async def test_the_same_job_without_await(server: RunningServer, backend: Backend) -> None:
    backend.watched = (ingest_pb2.JOB_STATE_RUNNING, grpc.StatusCode.DEADLINE_EXCEEDED)
    job = await without_await(server, lambda braid: braid.wait_for_job(JOB_ID))
    assert job.state == ingest_pb2.JOB_STATE_RUNNING


async def test_a_job_that_nothing_was_heard_of_in_time_is_an_error(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.watched = (grpc.StatusCode.DEADLINE_EXCEEDED,)
    with pytest.raises(BraidCallError) as late:
        await client.wait_for_job(JOB_ID)
    assert late.value.failure.code is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize("failure", [DeadlineError(), StoreUnavailableError("postgresql")])
async def test_a_watch_that_fails_before_its_time_is_an_error_and_no_state(
    client: AsyncBraid, backend: Backend, failure: Exception
) -> None:
    backend.watched = (ingest_pb2.JOB_STATE_RUNNING, failure)
    with pytest.raises(BraidCallError):
        await client.wait_for_job(JOB_ID)


@pytest.mark.parametrize(
    "state",
    [
        ingest_pb2.JOB_STATE_SUCCEEDED,
        ingest_pb2.JOB_STATE_FAILED,
        ingest_pb2.JOB_STATE_CANCELLED,
    ],
)
async def test_a_wait_ends_with_the_job_however_it_ends(
    client: AsyncBraid, backend: Backend, state: ingest_pb2.JobState.ValueType
) -> None:
    backend.watched = (state,)
    backend.stays = True
    async with asyncio.timeout(30):
        job = await client.wait_for_job(JOB_ID)
    assert job.state == state


async def test_a_wait_of_no_time_is_over_at_once(server: RunningServer, backend: Backend) -> None:
    backend.watched = ()
    backend.stays = True
    async with AsyncBraid(**targets(server), timeout=600) as patient, asyncio.timeout(30):
        with pytest.raises(BraidCallError) as late:
            await patient.wait_for_job(JOB_ID, timeout=0)
    assert late.value.failure.code is grpc.StatusCode.DEADLINE_EXCEEDED
