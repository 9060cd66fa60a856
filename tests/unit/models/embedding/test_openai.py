"""The OpenAI-compatible embedder over a real socket: responses, retries, limits and confidentiality."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
import time
from collections.abc import AsyncIterator, Callable
from email.utils import formatdate
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from services.models.embedding import openai_client
from services.models.embedding.openai import MAX_CHARACTERS, OpenAIEmbedder
from services.models.errors import EmbedderUnavailable, TextsRefused
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import DeadlineError
from tests.stubs.openai_server import (
    Answer,
    OpenAIStub,
    Reply,
    embeddings,
    garbled,
    hang,
    rate_limited,
    raw,
    server_error,
    vector_of,
    vectors,
)

KEY = "sk-very-secret"
TEXT = "the private words of a user"
SMALL = "text-embedding-3-small"

Build = Callable[..., OpenAIEmbedder]


@pytest.fixture
async def build(stub: OpenAIStub) -> AsyncIterator[Build]:
    embedders: list[OpenAIEmbedder] = []

    def construct(**options: Any) -> OpenAIEmbedder:
        defaults = {"model": SMALL, "base_url": stub.base_url, "api_key": KEY}
        embedders.append(OpenAIEmbedder(**{**defaults, **options}))
        return embedders[-1]

    yield construct
    for embedder in embedders:
        await embedder.close()


def unit(text: str, dimension: int = 1536) -> Any:
    vector = np.array(vector_of(text, dimension))
    return vector / np.linalg.norm(vector)


async def test_vectors_are_normalized_and_in_the_order_of_the_texts(
    build: Build, stub: OpenAIStub
) -> None:
    stub.answer_next(vectors(lambda data: data[::-1]))
    rows = await build().embed(["one", "two", "three"])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [unit("one"), unit("two"), unit("three")], atol=1e-6)
    [request] = stub.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "dimensions" not in request.json


async def test_no_texts_send_no_request(build: Build, stub: OpenAIStub) -> None:
    assert (await build().embed([])).shape == (0, 1536)
    assert stub.requests == []


async def test_many_texts_are_split_into_requests_within_the_limits(
    build: Build, stub: OpenAIStub
) -> None:
    texts = [f"text {number}" for number in range(600)]
    rows = await build(dimension=8).embed(texts)
    assert sorted(len(request.json["input"]) for request in stub.requests) == [88, 256, 256]
    np.testing.assert_allclose(rows, [unit(text, 8) for text in texts], atol=1e-6)


async def test_empty_texts_are_padded_and_long_texts_truncated(
    build: Build, stub: OpenAIStub
) -> None:
    await build().embed(["", "x" * 100_000])
    assert stub.requests[0].json["input"] == [" ", "x" * MAX_CHARACTERS]


async def test_the_dimension_is_requested_from_text_embedding_3(
    build: Build, stub: OpenAIStub
) -> None:
    embedder = build(dimension=256)
    assert embedder.dimension == 256
    assert (await embedder.embed(["a"])).shape == (1, 256)
    assert stub.requests[0].json["dimensions"] == 256


async def test_the_dimension_of_an_unknown_model_is_learned_from_its_first_response(
    build: Build, stub: OpenAIStub
) -> None:
    stub.dimension = 768
    embedder = build(model="nomic-embed-text")
    with pytest.raises(EmbedderUnavailable):
        _ = embedder.dimension
    await embedder.embed(["a"])
    assert embedder.dimension == 768


@pytest.mark.parametrize(
    "failure",
    [
        rate_limited(0.01),
        rate_limited(),
        rate_limited("inf"),
        server_error(500),
        server_error(503),
        garbled(),
    ],
)
async def test_a_transient_failure_is_retried(
    build: Build, stub: OpenAIStub, failure: Answer
) -> None:
    stub.answer_next(failure)
    assert (await build().embed([TEXT])).shape == (1, 1536)
    assert len(stub.requests) == 2


async def test_an_attempt_that_hangs_is_retried(build: Build, stub: OpenAIStub) -> None:
    stub.answer_next(hang())
    assert (await build(attempt_timeout=0.2).embed([TEXT])).shape == (1, 1536)
    assert len(stub.requests) == 2


@pytest.mark.parametrize("written_as", ["seconds", "date"])
async def test_a_retry_delay_beyond_the_limit_is_reported_immediately(
    build: Build, stub: OpenAIStub, written_as: str
) -> None:
    wait = "60" if written_as == "seconds" else formatdate(time.time() + 60, usegmt=True)
    stub.answer_always(rate_limited(wait))
    async with asyncio.timeout(4):
        with pytest.raises(EmbedderUnavailable) as failure:
            await build(limit=5).embed([TEXT])
    assert failure.value.retry_after == pytest.approx(60, abs=5)
    assert len(stub.requests) == 1


async def test_retries_end_at_the_time_limit(build: Build, stub: OpenAIStub) -> None:
    stub.answer_always(server_error())
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable):
        await build(limit=1).embed([TEXT])
    assert time.monotonic() - started < 3
    assert len(stub.requests) >= 2


async def test_the_callers_deadline_takes_precedence_over_the_limit(
    build: Build, stub: OpenAIStub
) -> None:
    stub.answer_always(hang())
    call = CallContext("r", "/m", "s", "u", frozenset(), asyncio.get_running_loop().time() + 0.3)
    async with asyncio.timeout(5):
        with call_scope(call), pytest.raises(EmbedderUnavailable):
            await build().embed([TEXT])
        with call_scope(call), pytest.raises(DeadlineError):
            await build().embed([TEXT])


@pytest.mark.parametrize(
    "answer",
    [
        raw(b"not json at all"),
        raw(b'{"data": null}'),
        raw(b'{"data": [{"index": 0, "embedding": null}]}'),
        raw(b'{"data": [{"index": 0, "embedding": ["a"]}]}'),
        raw(b"[]"),
        raw(b""),
        vectors(lambda data: data[:-1]),
        vectors(lambda data: [data[0], data[0]]),
        vectors(lambda data: [{**item, "embedding": [math.nan] * 1536} for item in data]),
        vectors(lambda data: [{**item, "embedding": [0.0] * 1536} for item in data]),
        vectors(lambda data: [{**item, "embedding": [10**400]} for item in data]),
        vectors(lambda data: [data[0], {**data[1], "embedding": [1.0, 2.0]}]),
        vectors(lambda data: data, dimension=12),
    ],
)
async def test_a_malformed_response_is_unavailable(
    build: Build, stub: OpenAIStub, answer: Answer
) -> None:
    stub.answer_always(answer)
    with pytest.raises(EmbedderUnavailable):
        await build().embed([TEXT, "another"])


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_client_error_is_not_retried(build: Build, stub: OpenAIStub, status: int) -> None:
    stub.answer_always(server_error(status))
    with pytest.raises(EmbedderUnavailable) as failure:
        await build().embed([TEXT])
    assert failure.value.cause == f"HTTP {status}"
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("status", "of_the_texts"),
    [(400, True), (413, True), (422, True), (401, False), (403, False), (404, False)],
)
async def test_a_rejection_of_the_texts_is_distinguished_from_one_of_the_caller(
    build: Build, stub: OpenAIStub, status: int, *, of_the_texts: bool
) -> None:
    stub.answer_always(server_error(status))
    with pytest.raises(EmbedderUnavailable) as failure:
        await build().embed([TEXT])
    assert isinstance(failure.value, TextsRefused) == of_the_texts


async def test_the_cause_of_a_failure_is_reported_and_logged_once(
    build: Build, stub: OpenAIStub
) -> None:
    embedder = build(dimension=8)
    stub.dimension = 8
    with capture_logs() as logs:
        stub.answer_always(server_error(401))
        for _ in range(2):
            with pytest.raises(EmbedderUnavailable) as failure:
                await embedder.embed([TEXT])
        stub.answer_always(None)
        await embedder.embed([TEXT])
        stub.answer_always(server_error(401))
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed([TEXT])
    assert failure.value.message == "The embedding model cannot be reached now: HTTP 401."
    assert [line["cause"] for line in logs if line["event"] == "no embeddings"] == ["HTTP 401"] * 2


async def test_an_infinite_retry_delay_is_not_reported(build: Build, stub: OpenAIStub) -> None:
    stub.answer_always(
        lambda _: Reply(429, b"{}", {"retry-after": "inf", "x-should-retry": "false"})
    )
    with pytest.raises(EmbedderUnavailable) as failure:
        await build().embed([TEXT])
    assert failure.value.retry_after is None


async def test_a_query_does_not_wait_for_bulk_work(build: Build, stub: OpenAIStub) -> None:
    busy = asyncio.Event()

    def answer(request: dict[str, Any]) -> Reply:
        if len(request["input"]) == 1:
            return Reply(body=json.dumps(embeddings(request, 8)).encode())
        if len(stub.requests) == 4:
            busy.set()
        return Reply(delay=None)

    stub.answer_always(answer)
    embedder = build(dimension=8)
    bulk = asyncio.create_task(embedder.embed([f"text {number}" for number in range(5 * 256)]))
    await busy.wait()
    async with asyncio.timeout(5):
        assert (await embedder.embed(["a query"])).shape == (1, 8)
    bulk.cancel()
    await asyncio.wait([bulk])


async def test_the_client_is_not_built_on_the_event_loop(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    class Recording(openai_client.EmbeddingsClient):
        def __init__(self, **options: Any) -> None:
            threads.append(threading.current_thread())
            super().__init__(**options)

    monkeypatch.setattr(openai_client, "EmbeddingsClient", Recording)
    await build().embed(["a"])
    [builder] = threads
    assert builder is not threading.current_thread()


async def test_an_unreachable_endpoint_is_unavailable(build: Build) -> None:
    with pytest.raises(EmbedderUnavailable):
        await build(base_url="http://127.0.0.1:1/v1", limit=1).embed([TEXT])


async def test_neither_text_nor_key_is_reported_or_logged(
    build: Build, stub: OpenAIStub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stub.answer_always(server_error(400))
    with pytest.raises(EmbedderUnavailable) as failure:
        await build().embed([TEXT])
    output = f"{failure.value!r} {failure.value} {failure.value.__cause__} {caplog.text}"
    assert TEXT not in output
    assert KEY not in output
    assert failure.value.__suppress_context__


async def test_a_closed_embedder_is_unavailable(build: Build, stub: OpenAIStub) -> None:
    embedder = build()
    await embedder.embed(["a"])
    await embedder.close()
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed(["b"])
    assert len(stub.requests) == 1
