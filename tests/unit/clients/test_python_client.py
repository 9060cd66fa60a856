"""The Python client against fake tiers behind the real contracts, over real sockets."""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest

import braid_client
from braid.agent.v1 import jobs_pb2, search_pb2
from braid.common.v1 import errors_pb2, retrieval_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import chunks_pb2
from braid_client import AsyncBraid, Braid, BraidCallError
from braid_client.synchronous import ConnectionOptions
from services.runtime.errors import (
    EmbedderUnavailableError,
    OverloadedError,
    StoreUnavailableError,
)
from services.runtime.server import RunningServer
from tests.unit.clients.conftest import Backend, targets, without_await


async def test_a_search_is_sent_with_the_defaults_of_the_contract_and_a_deadline(
    client: AsyncBraid, backend: Backend
) -> None:
    answer = await client.comprehensive_search("who?")
    assert answer.result_count == 3
    [request] = backend.requests
    assert not request.HasField("limit")
    # gRPC rounds a deadline up, by up to 1%.
    assert 5 < backend.deadlines[0] <= 10 * 1.01


async def test_every_option_of_a_search_is_sent(client: AsyncBraid, backend: Backend) -> None:
    instant = datetime(2024, 3, 1, tzinfo=UTC)
    await client.comprehensive_search(
        "who?",
        limit=3,
        use_graph=False,
        text_weight=0.5,
        as_of=instant,
        include=[search_pb2.ANSWER_PART_RESULTS],
    )
    [request] = backend.requests
    assert request.include == [search_pb2.ANSWER_PART_RESULTS]
    assert (request.limit, request.use_graph, request.text_weight) == (3, False, 0.5)
    assert request.as_of.ToDatetime(tzinfo=UTC) == instant


async def test_a_naive_time_is_rejected_before_anything_is_sent(
    client: AsyncBraid, backend: Backend
) -> None:
    with pytest.raises(ValueError, match="zone"):
        await client.search_facts("who?", as_of=datetime(2024, 3, 1))  # noqa: DTZ001
    assert backend.requests == []


async def test_a_streamed_search_yields_legs_and_then_the_final_response(
    client: AsyncBraid,
) -> None:
    kinds = [part.WhichOneof("part") async for part in client.stream_comprehensive_search("who?")]
    assert kinds == ["leg", "final"]


async def test_the_tiers_are_called_directly(client: AsyncBraid) -> None:
    assert (await client.hybrid_search("who?")).space_revision == 7
    assert (await client.search_facts("who?", entity_name="Mira")).space_revision == 8


async def test_entities_are_fetched_page_by_page(client: AsyncBraid) -> None:
    assert [entity.name async for entity in client.list_entities(page_size=1)] == ["A", "B"]


async def test_every_page_of_entities_is_requested_with_the_same_options(
    client: AsyncBraid, backend: Backend
) -> None:
    options = {
        "order_by": query_pb2.ENTITY_ORDER_MENTIONS,
        "document_titles": query_pb2.DOCUMENT_TITLES_EXCLUDE,
    }
    async for _ in client.list_entities(**options):  # type: ignore[arg-type]
        pass
    asked = [one for one in backend.requests if isinstance(one, query_pb2.ListEntitiesRequest)]
    assert [(one.order_by, one.document_titles) for one in asked] == [tuple(options.values())] * 2


async def test_an_upload_is_sent_in_parts_and_its_job_can_be_awaited(
    client: AsyncBraid, backend: Backend
) -> None:
    job = await client.ingest_document("x" * 600_000, title="Long", metadata={"team": "core"})
    ended = await client.wait_for_job(job.id)
    assert ended.state == jobs_pb2.JOB_STATE_SUCCEEDED
    described, *parts = backend.requests
    assert described.metadata.metadata["team"] == "core"
    assert sum(len(part.data) for part in parts) == 600_000
    assert len(parts) == 2


async def test_a_read_is_retried_while_a_store_is_unavailable(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.failures = [StoreUnavailableError("neo4j"), StoreUnavailableError("neo4j")]
    assert (await client.search_facts("who?")).space_revision == 8
    assert len(backend.requests) == 3


async def test_a_search_without_its_embedder_is_not_retried(
    client: AsyncBraid, backend: Backend
) -> None:
    """The tier already retried: another attempt would only end at the deadline, without the reason."""
    backend.failures = [EmbedderUnavailableError(), EmbedderUnavailableError()]
    with pytest.raises(BraidCallError) as failed:
        await client.search_facts("who?")
    assert failed.value.failure.reason == "EMBEDDER_UNAVAILABLE"
    assert len(backend.requests) == 1


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


async def test_an_unreachable_server_is_an_error_without_a_reason() -> None:
    async with AsyncBraid("127.0.0.1:1", timeout=2) as braid:
        with pytest.raises(BraidCallError) as failure:
            await braid.comprehensive_search("who?")
    assert failure.value.failure.code is grpc.StatusCode.UNAVAILABLE
    assert failure.value.failure.reason == ""


async def test_the_sync_client_searches_lists_and_streams(server: RunningServer) -> None:
    def work() -> tuple[int, list[str], list[Any]]:
        with Braid(**targets(server)) as braid:
            total = braid.comprehensive_search("who?").result_count
            names = [entity.name for entity in braid.list_entities(page_size=1)]
            kinds = [part.WhichOneof("part") for part in braid.stream_comprehensive_search("who?")]
            return total, names, kinds

    total, names, kinds = await asyncio.to_thread(work)
    assert (total, names, kinds) == (3, ["A", "B"], ["leg", "final"])


async def test_cache_mode_fusion_and_minimum_score_default_to_the_contract(
    client: AsyncBraid, backend: Backend
) -> None:
    await client.comprehensive_search("who?")
    await client.hybrid_search("who?")
    everywhere, hybrid = backend.requests
    assert everywhere.cache == hybrid.cache == retrieval_pb2.CACHE_MODE_UNSPECIFIED
    assert hybrid.fusion == chunks_pb2.FUSION_UNSPECIFIED
    assert not hybrid.HasField("min_score")


async def test_a_search_can_bypass_the_cache(client: AsyncBraid, backend: Backend) -> None:
    bypass = retrieval_pb2.CACHE_MODE_BYPASS
    await client.comprehensive_search("who?", cache=bypass)
    async for _ in client.stream_comprehensive_search("who?", cache=bypass):
        pass
    await client.hybrid_search("who?", cache=bypass)
    whole, streamed, hybrid = backend.requests
    assert [whole.cache, streamed.search.cache, hybrid.cache] == [bypass] * 3


async def test_a_hybrid_search_takes_a_fusion_and_a_minimum_score_of_zero_or_more(
    client: AsyncBraid, backend: Backend
) -> None:
    await client.hybrid_search("who?", fusion=chunks_pb2.FUSION_RECIPROCAL_RANK, min_score=0.25)
    await client.hybrid_search("who?", min_score=0.0)
    ranked, unfiltered = backend.requests
    assert (ranked.fusion, ranked.min_score) == (chunks_pb2.FUSION_RECIPROCAL_RANK, 0.25)
    assert unfiltered.HasField("min_score")


async def test_the_sync_client_takes_cache_mode_fusion_and_minimum_score(
    server: RunningServer, backend: Backend
) -> None:
    bypass, ranks = retrieval_pb2.CACHE_MODE_BYPASS, chunks_pb2.FUSION_RECIPROCAL_RANK

    def work(braid: Braid) -> None:
        braid.comprehensive_search("who?", cache=bypass)
        list(braid.stream_comprehensive_search("who?", cache=bypass))
        braid.hybrid_search("who?", cache=bypass, fusion=ranks, min_score=0.5)

    await without_await(server, work)
    whole, streamed, hybrid = backend.requests
    assert [whole.cache, streamed.search.cache, hybrid.cache] == [bypass] * 3
    assert (hybrid.fusion, hybrid.min_score) == (ranks, 0.5)


def test_both_clients_take_the_same_connection_options() -> None:
    parameters = inspect.signature(AsyncBraid).parameters.values()
    by_keyword = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert by_keyword == set(ConnectionOptions.__annotations__)


@pytest.mark.parametrize(
    ("name", "answer"),
    [("get_job", "agent_jobs_pb2.Job"), ("list_jobs", "Iterator[agent_jobs_pb2.Job]")],
)
def test_a_sync_method_has_the_parameters_and_docstring_of_the_async_one(
    name: str, answer: str
) -> None:
    method, without_await = getattr(AsyncBraid, name), getattr(Braid, name)
    signature = inspect.signature(without_await)
    assert signature.parameters == inspect.signature(method).parameters
    assert signature.return_annotation == answer
    assert without_await.__doc__ == method.__doc__


def test_the_readme_names_every_call_and_every_reason() -> None:
    readme = (Path(braid_client.__file__).parents[1] / "README.md").read_text()
    calls = {name for name in dir(AsyncBraid) if not name.startswith("_")}
    assert [name for name in calls if f"`{name}(" not in readme] == []
    reasons = [name.removeprefix("ERROR_REASON_") for name in errors_pb2.ErrorReason.keys()]  # noqa: SIM118 - no dict
    assert [name for name in reasons[1:] if f"`{name}`" not in readme] == []


def test_both_clients_have_the_same_methods_and_each_takes_a_deadline() -> None:
    def calls(client: type) -> set[str]:
        return {name for name in dir(client) if not name.startswith("_")}

    assert calls(AsyncBraid) == calls(Braid)
    for name in calls(AsyncBraid) - {"close"}:
        assert "timeout" in inspect.signature(getattr(AsyncBraid, name)).parameters, name
