"""A provider that keeps failing is left alone for a while: over a real socket, on a clock of the test's own."""

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
    """Stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def embedder(stub: OpenAIStub, clock: Clock) -> AsyncIterator[OpenAIEmbedder]:
    made = OpenAIEmbedder(
        model="text-embedding-3-small",
        base_url=stub.base_url,
        api_key="sk-test",
        attempt_timeout=5,
        breakers=Breakers(clock.time),
    )
    yield made
    await made.close()


async def fails(embedder: OpenAIEmbedder) -> EmbedderUnavailable:
    """How embedding fails."""
    with pytest.raises(EmbedderUnavailable) as failure:
        async with asyncio.timeout(20):
            await embedder.embed(["text"])
    return failure.value


def refuse(stub: OpenAIStub, status: int) -> None:
    """Answers with a status that the library is told not to retry, so that a call is one attempt."""

    def answer(_: object) -> Reply:
        return Reply(status, b"{}", {"x-should-retry": "false"})

    stub.answer_always(answer)


async def opened(embedder: OpenAIEmbedder, stub: OpenAIStub) -> None:
    """Opens the circuit by five failed calls."""
    refuse(stub, 503)
    for _ in range(5):
        assert (await fails(embedder)).cause == "HTTP 503"


async def test_after_five_failures_in_a_row_calls_fail_at_once_and_say_how_long(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await opened(embedder, stub)
    clock.now += 1
    failure = await fails(embedder)
    assert failure.cause == "circuit open"
    assert failure.retry_after == pytest.approx(2)
    assert len(stub.requests) == 5


async def test_a_provider_that_fails_one_model_is_left_alone_by_the_others(
    stub: OpenAIStub, clock: Clock
) -> None:
    """By the configured one too, and by those that are first asked for later."""
    settings = EmbeddingSettings(
        provider="openai", base_url=stub.base_url, model="text-embedding-3-large", cache_entries=0
    )
    breakers = Breakers(clock.time)
    default = build_embedder(settings, breakers)
    models = EmbedderRegistry(settings, default, breakers)
    former, another = models.named("text-embedding-3-small", 512), models.named("any-other")
    assert isinstance(former, OpenAIEmbedder)
    assert isinstance(another, OpenAIEmbedder)
    await opened(former, stub)
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


async def test_a_provider_that_does_not_answer_is_told_of_until_it_does(clock: Clock) -> None:
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


def test_what_fails_at_one_endpoint_says_nothing_of_another() -> None:
    breakers = Breakers()
    assert breakers.for_endpoint("http://here/v1") is breakers.for_endpoint("http://here/v1")
    assert breakers.for_endpoint("http://here/v1") is not breakers.for_endpoint(
        "http://elsewhere/v1"
    )


async def test_after_the_wait_one_success_closes_the_circuit(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await opened(embedder, stub)
    clock.now += 16
    stub.answer_always(None)
    for _ in range(2):
        assert (await embedder.embed(["text"])).shape == (1, 1536)
    refuse(stub, 500)
    assert (await fails(embedder)).cause == "HTTP 500"


async def test_after_the_wait_one_failure_opens_it_again(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await opened(embedder, stub)
    clock.now += 16
    assert (await fails(embedder)).cause == "HTTP 503"
    assert (await fails(embedder)).cause == "circuit open"
    assert len(stub.requests) == 6


async def test_after_the_wait_only_one_call_tries(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    await opened(embedder, stub)
    clock.now += 16
    stub.answer_always(hang())
    trying = asyncio.create_task(embedder.embed(["text"]))
    await asked(stub, 6)
    assert (await fails(embedder)).cause == "circuit open"
    trying.cancel()
    await asyncio.wait([trying])
    stub.answer_always(None)
    assert (await embedder.embed(["text"])).shape == (1, 1536)


async def test_the_retries_of_one_call_count_and_end_when_the_circuit_opens(
    embedder: OpenAIEmbedder, stub: OpenAIStub
) -> None:
    stub.answer_always(server_error(503))
    await opened_by_retries(embedder)
    assert 5 <= len(stub.requests) <= 8  # those under way when the fifth fails


async def opened_by_retries(embedder: OpenAIEmbedder) -> None:
    failures = await asyncio.gather(
        *(embedder.embed([f"text {i}"]) for i in range(4)), return_exceptions=True
    )
    assert all(isinstance(failure, EmbedderUnavailable) for failure in failures)


async def test_refusals_and_rate_limits_are_answers_of_a_provider_that_works(
    embedder: OpenAIEmbedder, stub: OpenAIStub
) -> None:
    for status in (400, 401, 429, 400, 404, 429, 400):
        refuse(stub, status)
        assert (await fails(embedder)).cause == f"HTTP {status}"
    stub.answer_next(rate_limited(0.01), rate_limited(0.01))
    stub.answer_always(None)
    assert (await embedder.embed(["text"])).shape == (1, 1536)


async def test_a_success_between_failures_starts_the_count_anew(
    embedder: OpenAIEmbedder, stub: OpenAIStub
) -> None:
    for _ in range(2):
        refuse(stub, 503)
        for _ in range(4):
            assert (await fails(embedder)).cause == "HTTP 503"
        stub.answer_always(None)
        await embedder.embed(["text"])


@pytest.mark.parametrize(("waited", "cause"), [(2.0, "circuit open"), (1.5, None), (0.5, None)])
async def test_waits_given_up_count_unless_the_caller_was_in_a_hurry(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock, waited: float, cause: str | None
) -> None:
    await given_up(5, waited, embedder, stub, clock)
    stub.answer_always(None)
    if cause is None:
        await embedder.embed(["text"])
    else:
        assert (await fails(embedder)).cause == cause


async def test_a_slow_provider_stays_open_until_it_takes_twice_its_time(
    embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    """Callers who wait less than that must not shut it off for those who wait for its answer."""

    def slowly(data: list[object]) -> list[object]:
        clock.now += 2.5
        return data

    stub.answer_next(vectors(slowly))
    await embedder.embed(["text"])
    await given_up(6, 4.9, embedder, stub, clock)
    stub.answer_next(vectors(slowly))
    await embedder.embed(["text"])
    await given_up(5, 5.1, embedder, stub, clock)
    assert (await fails(embedder)).cause == "circuit open"


async def given_up(
    times: int, seconds: float, embedder: OpenAIEmbedder, stub: OpenAIStub, clock: Clock
) -> None:
    """Calls that are not answered, one after the other, each ended by its caller after so long."""
    stub.answer_always(hang())
    before = len(stub.requests)
    for number in range(times):
        call = asyncio.create_task(embedder.embed(["text"]))
        await asked(stub, before + number + 1)
        clock.now += seconds
        call.cancel()
        await asyncio.wait([call])


async def test_nobody_listening_opens_the_circuit(clock: Clock) -> None:
    away = OpenAIEmbedder(
        model="text-embedding-3-small",
        base_url="http://127.0.0.1:1/v1",
        api_key="sk-test",
        breakers=Breakers(clock.time),
    )
    await opened_by_retries(away)
    assert (await fails(away)).cause == "circuit open"
    await away.close()


async def asked(stub: OpenAIStub, times: int) -> None:
    """Returns when the provider has been asked so often."""
    async with asyncio.timeout(10):
        while len(stub.requests) < times:  # noqa: ASYNC110 - the stub tells nobody
            await asyncio.sleep(0.01)
