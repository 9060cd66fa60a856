"""The reranker over HTTP: scores in the order of passages, and one kind of failure for all that can go wrong."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext, suppress

import httpx
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


def test_without_an_endpoint_there_is_none() -> None:
    assert build_reranker(RerankerSettings()) is None


async def test_scores_come_in_the_order_of_the_passages(
    stub: OpenAIStub, reranker: Reranker
) -> None:
    assert await reranker.score("who owns payments", PASSAGES) == [0.0, 2.0, 1.0]
    (request,) = stub.requests
    assert request.path == PATH
    assert request.headers["authorization"] == "Bearer key"
    assert request.json["model"] == "rerank-v3.5"


async def test_text_embeddings_inference_is_asked_in_its_own_words(stub: OpenAIStub) -> None:
    scores = [{"index": 1, "score": 0.5}, {"index": 0, "score": 0.25}]
    stub.answer_next(raw(json.dumps(scores).encode()))
    reranker = build_reranker(RerankerSettings(base_url=stub.base_url, api="tei"))
    assert reranker is not None
    assert await reranker.score("q", ["a", "b" * 5_000]) == [0.25, 0.5]
    (request,) = stub.requests
    assert request.json == {"query": "q", "texts": ["a", "b" * 4_000], "truncate": True}
    await reranker.close()


async def test_no_passages_ask_nobody(stub: OpenAIStub, reranker: Reranker) -> None:
    assert await reranker.score("who", []) == []
    assert stub.requests == []


async def test_a_bare_list_of_scores_is_understood_as_well(
    stub: OpenAIStub, reranker: Reranker
) -> None:
    told = [{"index": 1, "score": 0.5}, {"index": 0, "score": 0.25}]
    stub.answer_next(raw(json.dumps(told).encode()))
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
async def test_whatever_goes_wrong_is_one_kind_of_failure_without_the_text(
    stub: OpenAIStub, reranker: Reranker, answer: Answer
) -> None:
    stub.answer_next(answer)
    with pytest.raises(RerankerUnavailable) as failed:
        await reranker.score("secret question", ["secret passage"])
    assert "secret" not in str(failed.value)


async def test_an_answer_that_does_not_come_is_the_same_kind_of_failure(stub: OpenAIStub) -> None:
    stub.answer_next(hang())
    reranker = build_reranker(RerankerSettings(base_url=stub.base_url, seconds=0.2))
    assert reranker is not None
    with pytest.raises(RerankerUnavailable, match="no answer in time"):
        await reranker.score("secret question", ["secret passage"])
    await reranker.close()


async def test_a_score_that_no_number_holds_is_a_malformed_answer(
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

    class Recording(httpx.AsyncClient):
        def __init__(self, *, timeout: float) -> None:
            threads.append(threading.current_thread())
            super().__init__(timeout=timeout)

    monkeypatch.setattr(httpx, "AsyncClient", Recording)
    await reranker.score("q", ["a"])
    [builder] = threads
    assert builder is not threading.current_thread()


async def test_a_provider_that_keeps_failing_is_left_alone_for_a_while(stub: OpenAIStub) -> None:
    now = 1_000.0
    reranker = HttpReranker(model="m", base_url=stub.base_url, clock=lambda: now)
    stub.answer_always(server_error())
    for _ in range(7):
        with pytest.raises(RerankerUnavailable):
            await reranker.score("q", ["a"])
    assert len(stub.requests) == 5
    await reranker.close()


@pytest.mark.parametrize(("seconds", "limit", "shut"), [(0.05, 10, False), (None, 0.3, True)])
async def test_waits_of_callers_in_a_hurry_do_not_shut_it_off_but_its_own_limit_does(
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
    """Asks until it answers: loading the library may take longer than a call. Five failures would shut it off."""
    for _ in range(4):
        with suppress(RerankerUnavailable):
            await reranker.score("q", ["a"])
            return
    await reranker.score("q", ["a"])


def within(seconds: float | None) -> AbstractContextManager[object]:
    """A call that has so long."""
    if seconds is None:
        return nullcontext()
    deadline = asyncio.get_running_loop().time() + seconds
    return call_scope(CallContext("r", "/m", "s", "u", frozenset(), deadline))


async def test_a_closed_one_says_so(reranker: Reranker) -> None:
    await reranker.close()
    with pytest.raises(RerankerUnavailable, match="closed"):
        await reranker.score("q", ["a"])
