"""A circuit breaker protects a provider that keeps failing: tested over a real socket with a fake clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from services.models.breaker import Breakers
from services.models.embedding.factory import build_embedder
from services.models.embedding.openai import OpenAIEmbedder
from services.models.embedding.registry import EmbedderRegistry
from services.models.embedding.settings import EmbeddingSettings
from services.models.errors import EmbedderUnavailable
from tests.stubs.openai_server import (
    OpenAIStub,
    Reply,
    hang,
    rate_limited,
    server_error,
    vectors,
)


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def embedder(stub: OpenAIStub, clock: Clock) -> AsyncIterator[OpenAIEmbedder]:
    created = OpenAIEmbedder(
        model="text-embedding-3-small",
        base_url=stub.base_url,
        api_key="sk-test",
        attempt_timeout=5,
        breakers=Breakers(clock.time),
    )
    yield created
    await created.close()


async def failure_of(embedder: OpenAIEmbedder) -> EmbedderUnavailable:
    """Returns the error of a failing call."""
    with pytest.raises(EmbedderUnavailable) as failure:
        async with asyncio.timeout(20):
            await embedder.embed(["text"])
    return failure.value


def respond_with(stub: OpenAIStub, status: int) -> None:
    """Answers with a status that the client library must not retry, so that a call is one attempt."""

    def answer(_: object) -> Reply:
        return Reply(status, b"{}", {"x-should-retry": "false"})

    stub.answer_always(answer)


async def open_circuit(embedder: OpenAIEmbedder, stub: OpenAIStub) -> None:
    """Opens the circuit by five failed calls."""
    respond_with(stub, 503)
    for _ in range(5):
        assert (await failure_of(embedder)).cause == "HTTP 503"


async def test_after_five_consecutive_failures_calls_fail_immediately_with_a_retry_delay(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await open_circuit(embedder, stub)
    clock.now += 1
    failure = await failure_of(embedder)
    assert failure.cause == "circuit open"
    assert failure.retry_after == pytest.approx(2)
    assert len(stub.requests) == 5


async def test_all_models_of_a_provider_share_one_circuit(stub: OpenAIStub, clock: Clock) -> None:
    """This includes the configured model and models that are first used later."""
    settings = EmbeddingSettings(
        provider="openai", base_url=stub.base_url, model="text-embedding-3-large", cache_entries=0
    )
    breakers = Breakers(clock.time)
    default = build_embedder(settings, breakers)
    models = EmbedderRegistry(settings, default, breakers)
    former, another = models.named("text-embedding-3-small", 512), models.named("any-other")
    assert isinstance(former, OpenAIEmbedder)
    assert isinstance(another, OpenAIEmbedder)
    await open_circuit(former, stub)
    for one in (former, default, another):
        with pytest.raises(EmbedderUnavailable) as failure:
            await one.embed(["text"])
        assert failure.value.cause == "circuit open"
    assert len(stub.requests) == 5
    clock.now += 16
    stub.answer_always(None)
    assert (await former.embed(["text"])).shape == (1, 512)
    assert (await another.embed(["text"])).shape == (1, 1536)
    await models.close()
    await default.close()


async def test_a_provider_with_an_open_circuit_is_reported_until_it_responds(clock: Clock) -> None:
    breakers = Breakers(clock.time)
    breaker = breakers.for_endpoint("https://one.example")
    breakers.for_endpoint("https://two.example")
    assert breakers.impairments() == []
    for _ in range(5):
        with pytest.raises(OSError, match="away"):
            async with breaker.guard():
                raise OSError("away")
    assert breakers.impairments() == ["An embedding provider does not answer (1 of 2)."]
    clock.now += 10
    async with breaker.guard():
        pass
    assert breakers.impairments() == []


def test_each_endpoint_has_its_own_breaker() -> None:
    breakers = Breakers()
    assert breakers.for_endpoint("http://here/v1") is breakers.for_endpoint("http://here/v1")
    assert breakers.for_endpoint("http://here/v1") is not breakers.for_endpoint(
        "http://elsewhere/v1"
    )


async def test_after_the_wait_one_success_closes_the_circuit(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await open_circuit(embedder, stub)
    clock.now += 16
    stub.answer_always(None)
    for _ in range(2):
        assert (await embedder.embed(["text"])).shape == (1, 1536)
    respond_with(stub, 500)
    assert (await failure_of(embedder)).cause == "HTTP 500"


async def test_after_the_wait_one_failure_opens_the_circuit_again(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await open_circuit(embedder, stub)
    clock.now += 16
    assert (await failure_of(embedder)).cause == "HTTP 503"
    assert (await failure_of(embedder)).cause == "circuit open"
    assert len(stub.requests) == 6


async def test_after_the_wait_only_one_call_is_admitted(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await open_circuit(embedder, stub)
    clock.now += 16
    stub.answer_always(hang())
    probe = asyncio.create_task(embedder.embed(["text"]))
    await wait_for_requests(stub, 6)
    assert (await failure_of(embedder)).cause == "circuit open"
    probe.cancel()
    await asyncio.wait([probe])
    stub.answer_always(None)
    assert (await embedder.embed(["text"])).shape == (1, 1536)


async def test_retries_count_as_failures_and_end_when_the_circuit_opens(
    embedder: OpenAIEmbedder, stub: OpenAIStub
) -> None:
    stub.answer_always(server_error(503))
    await open_circuit_by_retries(embedder)
    assert 5 <= len(stub.requests) <= 8  # including requests in flight when the fifth fails


async def open_circuit_by_retries(embedder: OpenAIEmbedder) -> None:
    failures = await asyncio.gather(
        *(embedder.embed([f"text {i}"]) for i in range(4)), return_exceptions=True
    )
    assert all(isinstance(failure, EmbedderUnavailable) for failure in failures)


async def test_client_errors_and_rate_limits_do_not_count_as_failures(
    embedder: OpenAIEmbedder, stub: OpenAIStub
) -> None:
    for status in (400, 401, 429, 400, 404, 429, 400):
        respond_with(stub, status)
        assert (await failure_of(embedder)).cause == f"HTTP {status}"
    stub.answer_next(rate_limited(0.01), rate_limited(0.01))
    stub.answer_always(None)
    assert (await embedder.embed(["text"])).shape == (1, 1536)


async def test_a_success_between_failures_resets_the_count(
    embedder: OpenAIEmbedder, stub: OpenAIStub
) -> None:
    for _ in range(2):
        respond_with(stub, 503)
        for _ in range(4):
            assert (await failure_of(embedder)).cause == "HTTP 503"
        stub.answer_always(None)
        await embedder.embed(["text"])


@pytest.mark.parametrize(("waited", "cause"), [(2.0, "circuit open"), (1.5, None), (0.5, None)])
async def test_abandoned_calls_count_as_failures_unless_the_caller_waited_briefly(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock, waited: float, cause: str | None
) -> None:
    await abandon_calls(5, waited, embedder, stub, clock)
    stub.answer_always(None)
    if cause is None:
        await embedder.embed(["text"])
    else:
        assert (await failure_of(embedder)).cause == cause


async def test_abandoned_calls_to_a_slow_provider_count_from_twice_its_usual_time(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    """Callers that wait less must not open the circuit for those that wait for the answer."""

    def slowly(data: list[object]) -> list[object]:
        clock.now += 2.5
        return data

    stub.answer_next(vectors(slowly))
    await embedder.embed(["text"])
    await abandon_calls(6, 4.9, embedder, stub, clock)
    stub.answer_next(vectors(slowly))
    await embedder.embed(["text"])
    await abandon_calls(5, 5.1, embedder, stub, clock)
    assert (await failure_of(embedder)).cause == "circuit open"


async def abandon_calls(
    times: int, seconds: float, embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    """Makes unanswered calls one after the other; the caller cancels each after this many seconds."""
    stub.answer_always(hang())
    before = len(stub.requests)
    for number in range(times):
        call = asyncio.create_task(embedder.embed(["text"]))
        await wait_for_requests(stub, before + number + 1)
        clock.now += seconds
        call.cancel()
        await asyncio.wait([call])


async def test_an_unreachable_endpoint_opens_the_circuit(clock: Clock) -> None:
    unreachable = OpenAIEmbedder(
        model="text-embedding-3-small",
        base_url="http://127.0.0.1:1/v1",
        api_key="sk-test",
        breakers=Breakers(clock.time),
    )
    await open_circuit_by_retries(unreachable)
    assert (await failure_of(unreachable)).cause == "circuit open"
    await unreachable.close()


async def wait_for_requests(stub: OpenAIStub, times: int) -> None:
    """Returns once the provider has received this many requests."""
    async with asyncio.timeout(10):
        while len(stub.requests) < times:  # noqa: ASYNC110 - the stub has no event
            await asyncio.sleep(0.01)
