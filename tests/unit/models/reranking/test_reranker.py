"""The reranker over HTTP: scores in the order of the passages, and one type of error for every failure."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext, suppress

import httpx2
import pytest
from pydantic import SecretStr

from services.models.errors import RerankerUnavailable
from services.models.reranking.endpoint import HttpReranker
from services.models.reranking.factory import build_reranker
from services.models.reranking.reranker import Reranker
from services.models.reranking.settings import RerankerSettings
from services.runtime.context import CallContext, call_scope
from tests.stubs.openai_server import Answer, OpenAIStub, hang, rate_limited, raw, server_error
from tests.stubs.rerank import PATH, by_words

PASSAGES = ["Karl likes tea", "Anna owns payments", "payments"]


@pytest.fixture
async def reranker(stub: OpenAIStub) -> AsyncIterator[Reranker]:
    stub.routes[PATH] = by_words
    settings = RerankerSettings(base_url=stub.base_url, api_key=SecretStr("key"), seconds=10)
    found = build_reranker(settings)
    assert found is not None
    yield found
    await found.close()


def test_without_an_endpoint_there_is_no_reranker() -> None:
    assert build_reranker(RerankerSettings()) is None


async def test_scores_are_in_the_order_of_the_passages(
    stub: OpenAIStub, reranker: Reranker
) -> None:
    assert await reranker.score("who owns payments", PASSAGES) == [0.0, 2.0, 1.0]
    (request,) = stub.requests
    assert request.path == PATH
    assert request.headers["authorization"] == "Bearer key"
    assert request.json["model"] == "rerank-v3.5"


async def test_text_embeddings_inference_is_called_with_its_own_api(stub: OpenAIStub) -> None:
    scores = [{"index": 1, "score": 0.5}, {"index": 0, "score": 0.25}]
    stub.answer_next(raw(json.dumps(scores).encode()))
    reranker = build_reranker(RerankerSettings(base_url=stub.base_url, api="tei"))
    assert reranker is not None
    assert await reranker.score("q", ["a", "b" * 5_000]) == [0.25, 0.5]
    (request,) = stub.requests
    assert request.json == {"query": "q", "texts": ["a", "b" * 4_000], "truncate": True}
    await reranker.close()


async def test_no_passages_send_no_request(stub: OpenAIStub, reranker: Reranker) -> None:
    assert await reranker.score("who", []) == []
    assert stub.requests == []


async def test_a_response_that_is_a_plain_list_of_scores_is_accepted(
    stub: OpenAIStub, reranker: Reranker
) -> None:
    scores = [{"index": 1, "score": 0.5}, {"index": 0, "score": 0.25}]
    stub.answer_next(raw(json.dumps(scores).encode()))
    assert await reranker.score("q", ["a", "b"]) == [0.25, 0.5]


@pytest.mark.parametrize(
    "answer",
    [
        server_error(),
        rate_limited(2),
        raw(b"not json"),
        raw(b'{"results": []}'),
        raw(b'{"results": [{"index": 0, "relevance_score": NaN}]}'),
        raw(b'{"results": [{"index": 7, "relevance_score": 1}]}'),
        raw(b'{"results": [{"relevance_score": 1}]}'),
        raw(b"3"),
        raw(b"[" * 100_000),
    ],
)
async def test_every_failure_is_the_same_type_of_error_without_the_text(
    stub: OpenAIStub, reranker: Reranker, answer: Answer
) -> None:
    stub.answer_next(answer)
    with pytest.raises(RerankerUnavailable) as failed:
        await reranker.score("secret question", ["secret passage"])
    assert "secret" not in str(failed.value)


async def test_a_timeout_is_the_same_type_of_error(stub: OpenAIStub) -> None:
    stub.answer_next(hang())
    reranker = build_reranker(RerankerSettings(base_url=stub.base_url, seconds=0.2))
    assert reranker is not None
    with pytest.raises(RerankerUnavailable, match="no answer in time"):
        await reranker.score("secret question", ["secret passage"])
    await reranker.close()


async def test_a_score_beyond_the_range_of_floats_is_a_malformed_answer(
    stub: OpenAIStub, reranker: Reranker
) -> None:
    stub.answer_next(raw(json.dumps([{"index": 0, "score": 10**400}]).encode()))
    with pytest.raises(RerankerUnavailable) as failed:
        await reranker.score("q", ["a"])
    assert failed.value.cause == "malformed answer"


async def test_the_client_is_not_built_on_the_event_loop(
    reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    class Recording(httpx2.AsyncClient):
        def __init__(self, *, timeout: float) -> None:
            threads.append(threading.current_thread())
            super().__init__(timeout=timeout)

    monkeypatch.setattr(httpx2, "AsyncClient", Recording)
    await reranker.score("q", ["a"])
    [builder] = threads
    assert builder is not threading.current_thread()


async def test_after_five_consecutive_failures_the_circuit_opens(stub: OpenAIStub) -> None:
    now = 1_000.0
    reranker = HttpReranker(model="m", base_url=stub.base_url, clock=lambda: now)
    stub.answer_always(server_error())
    for _ in range(7):
        with pytest.raises(RerankerUnavailable):
            await reranker.score("q", ["a"])
    assert len(stub.requests) == 5
    await reranker.close()


@pytest.mark.parametrize(("seconds", "limit", "shut"), [(0.05, 10, False), (None, 0.3, True)])
async def test_only_timeouts_at_the_rerankers_own_limit_open_the_circuit(
    stub: OpenAIStub, seconds: float | None, limit: float, shut: bool
) -> None:
    stub.routes[PATH] = by_words
    reranker = HttpReranker(model="m", base_url=stub.base_url, limit=limit)
    await load(reranker)
    stub.answer_always(hang())
    for _ in range(5):
        with within(seconds), pytest.raises(RerankerUnavailable, match="no answer in time"):
            await reranker.score("q", ["a"])
    stub.answer_always(None)
    if shut:
        with pytest.raises(RerankerUnavailable, match="circuit open"):
            await reranker.score("q", ["a"])
    else:
        assert await reranker.score("q", ["q"]) == [1.0]
    await reranker.close()


async def load(reranker: Reranker) -> None:
    """Calls the reranker until it responds: loading the library may exceed a call.

    Five failures would open the circuit.
    """
    for _ in range(4):
        with suppress(RerankerUnavailable):
            await reranker.score("q", ["a"])
            return
    await reranker.score("q", ["a"])


def within(seconds: float | None) -> AbstractContextManager[object]:
    """Returns the scope of a call with this much time, or of no call."""
    if seconds is None:
        return nullcontext()
    deadline = asyncio.get_running_loop().time() + seconds
    return call_scope(CallContext("r", "/m", "s", "u", frozenset(), deadline))


async def test_a_closed_reranker_is_unavailable(reranker: Reranker) -> None:
    await reranker.close()
    with pytest.raises(RerankerUnavailable, match="closed"):
        await reranker.score("q", ["a"])
