"""Language models over a real socket: responses, retries, limits and confidentiality."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from services.models.errors import (
    AnswerUnusable,
    LanguageModelUnavailable,
    PromptRefused,
    is_unusable,
)
from services.models.language import limited_model as language_limits
from services.models.language.factory import build_language_model
from services.models.language.model import LanguageModel, Message, Prompt, Role
from services.models.language.settings import LanguageModelSettings
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import DeadlineError, StoreUnavailableError
from tests.stubs.language import Script
from tests.stubs.openai_server import Answer, OpenAIStub, hang, rate_limited, raw, server_error

KEY = "sk-very-secret"
TEXT = "the private words of a user"
SCHEMA = {"type": "object", "properties": {"role": {"type": "string"}}}
PROMPT = Prompt(
    [Message(Role.SYSTEM, "Be short."), Message(Role.USER, TEXT)],
    schema=SCHEMA,
    schema_name="Person",
)
PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}

CUT_OFF = {
    "openai": {
        "choices": [{"finish_reason": "length", "message": {"role": "assistant", "content": "{"}}]
    },
    "anthropic": {"stop_reason": "max_tokens", "content": [], "usage": {}},
}

Build = Callable[..., LanguageModel]


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def build(stub: OpenAIStub, provider: str) -> AsyncIterator[Build]:
    models: list[LanguageModel] = []
    stub.routes |= Script(attributes={"Person": {"role": "CTO"}}).routes()

    def construct(**options: Any) -> LanguageModel:
        base = stub.base_url if provider == "openai" else stub.base_url.removesuffix("/v1")
        details = {"provider": provider, "api_key": SecretStr(KEY), "base_url": base, **options}
        model = build_language_model(LanguageModelSettings(_env_file=None, **details))
        assert model is not None
        models.append(model)
        return model

    yield construct
    for model in models:
        await model.close()


def test_without_a_key_and_an_endpoint_there_is_no_model() -> None:
    assert build_language_model(LanguageModelSettings(_env_file=None)) is None


def test_the_default_is_a_small_model_and_the_key_is_a_secret() -> None:
    settings = LanguageModelSettings(_env_file=None, api_key=SecretStr(KEY))
    assert (settings.chosen_model, settings.provider) == ("gpt-4o-mini", "openai")
    assert KEY not in repr(settings)


async def test_an_answer_conforms_to_the_schema(
    build: Build, stub: OpenAIStub, provider: str
) -> None:
    answer = await build().complete(PROMPT)
    assert json.loads(answer.text) == {"role": "CTO"}
    assert (answer.input_tokens, answer.output_tokens) == (10, 5)
    [request] = stub.requests
    assert request.path == PATHS[provider]
    assert json.dumps(SCHEMA) in json.dumps(request.json)
    secret = request.headers.get("x-api-key") or request.headers["authorization"]
    assert secret.endswith(KEY)


@pytest.mark.parametrize(
    "failure", [rate_limited(0.01), rate_limited(), server_error(500), server_error(529), raw(b"{")]
)
async def test_a_transient_failure_is_retried(
    build: Build, stub: OpenAIStub, failure: Answer
) -> None:
    stub.answer_next(failure)
    assert json.loads((await build().complete(PROMPT)).text) == {"role": "CTO"}
    assert len(stub.requests) == 2


async def test_the_retry_delay_of_the_provider_is_respected(build: Build, stub: OpenAIStub) -> None:
    stub.answer_next(rate_limited(0.7))
    started = time.monotonic()
    await build().complete(PROMPT)
    assert time.monotonic() - started >= 0.7


async def test_a_retry_delay_beyond_the_limit_is_reported_immediately(
    build: Build, stub: OpenAIStub
) -> None:
    stub.answer_always(rate_limited(60))
    async with asyncio.timeout(4):
        with pytest.raises(LanguageModelUnavailable) as failure:
            await build(seconds=5).complete(PROMPT)
    assert failure.value.retry_after == pytest.approx(60, abs=1)
    assert len(stub.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_client_error_is_not_retried(build: Build, stub: OpenAIStub, status: int) -> None:
    stub.answer_always(server_error(status))
    with pytest.raises(LanguageModelUnavailable) as failure:
        await build().complete(PROMPT)
    assert failure.value.cause == f"HTTP {status}"
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("status", "may_be_the_prompts"),
    [(400, True), (413, True), (422, True), (401, False), (403, False), (404, False)],
)
async def test_only_some_client_errors_are_attributed_to_the_prompt(
    build: Build, stub: OpenAIStub, status: int, may_be_the_prompts: bool
) -> None:
    stub.answer_always(server_error(status))
    with pytest.raises(LanguageModelUnavailable) as failure:
        await build().complete(PROMPT)
    assert isinstance(failure.value, PromptRefused) == may_be_the_prompts
    assert is_unusable(failure.value) == may_be_the_prompts


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000], ids=["no JSON", "nested too deep"])
async def test_malformed_responses_are_requested_three_times(
    build: Build, stub: OpenAIStub, body: bytes
) -> None:
    stub.answer_always(raw(body))
    with pytest.raises(AnswerUnusable) as failure:
        await build().complete(PROMPT)
    assert failure.value.cause == "malformed answer"
    assert len(stub.requests) == 3


async def test_a_rate_limit_is_not_an_unusable_answer(build: Build, stub: OpenAIStub) -> None:
    stub.answer_always(rate_limited(60))
    with pytest.raises(LanguageModelUnavailable) as failure:
        await build(seconds=5).complete(PROMPT)
    assert not is_unusable(failure.value)


async def test_a_truncated_answer_is_not_requested_again(
    build: Build, stub: OpenAIStub, provider: str
) -> None:
    stub.answer_always(raw(json.dumps(CUT_OFF[provider]).encode()))
    with pytest.raises(AnswerUnusable) as failure:
        await build().complete(PROMPT)
    assert failure.value.cause == "answer cut off"
    assert len(stub.requests) == 1


async def test_a_prompt_that_cannot_be_encoded_is_not_retried(
    build: Build, stub: OpenAIStub
) -> None:
    async with asyncio.timeout(5):
        with pytest.raises(LanguageModelUnavailable) as failure:
            await build().complete(Prompt([Message(Role.USER, "half of a pair: \ud800")]))
    assert failure.value.cause.startswith("not sent")
    assert stub.requests == []


async def test_a_long_answer_can_be_requested(build: Build, stub: OpenAIStub) -> None:
    answer = await build().complete(replace(PROMPT, max_tokens=64_000))
    assert json.loads(answer.text) == {"role": "CTO"}
    assert len(stub.requests) == 1


async def test_an_answer_without_content_is_malformed_and_retried(
    build: Build, stub: OpenAIStub, provider: str
) -> None:
    empty = {"openai": {"choices": []}, "anthropic": {"content": [], "stop_reason": "end_turn"}}
    stub.answer_next(raw(json.dumps(empty[provider]).encode()))
    assert json.loads((await build().complete(PROMPT)).text) == {"role": "CTO"}
    assert len(stub.requests) == 2


async def test_retries_end_at_the_time_limit_with_a_retry_delay(
    build: Build, stub: OpenAIStub
) -> None:
    stub.answer_always(server_error())
    started = time.monotonic()
    with pytest.raises(StoreUnavailableError) as failure:
        await build(seconds=1).complete(PROMPT)
    assert time.monotonic() - started < 3
    assert failure.value.metadata == {"store": "language_model"}
    assert failure.value.retry_after is not None


async def test_after_five_consecutive_failures_no_request_is_sent(
    build: Build, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_limits, "backoff", lambda _state: 0)
    stub.answer_always(server_error())
    model = build(seconds=30)
    with pytest.raises(LanguageModelUnavailable):
        await model.complete(PROMPT)
    request_count = len(stub.requests)
    assert request_count == 5
    started = time.monotonic()
    with pytest.raises(LanguageModelUnavailable, match="circuit open"):
        await model.complete(PROMPT)
    assert (len(stub.requests), time.monotonic() - started < 1) == (request_count, True)


async def test_the_callers_deadline_takes_precedence_over_the_limit(
    build: Build, stub: OpenAIStub
) -> None:
    stub.answer_always(hang())
    model = build()
    call = CallContext("r", "/m", "s", "u", frozenset(), asyncio.get_running_loop().time() + 0.5)
    async with asyncio.timeout(5):
        with call_scope(call), pytest.raises((LanguageModelUnavailable, DeadlineError)):
            await model.complete(PROMPT)
        with call_scope(call), pytest.raises(DeadlineError):
            await model.complete(PROMPT)


async def test_all_callers_share_one_rate_limit_of_requests(build: Build, stub: OpenAIStub) -> None:
    await build().complete(PROMPT)  # loads the library, which may take longer than the limit below
    model = build(requests_per_minute=4, seconds=0.5)
    await model.complete(PROMPT)
    answers = await asyncio.gather(
        *(model.complete(PROMPT) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(one, LanguageModelUnavailable) for one in answers) == 2
    assert len(stub.requests) == 1 + 4


async def test_tokens_are_also_rate_limited(build: Build, stub: OpenAIStub) -> None:
    await build().complete(PROMPT)
    model = build(tokens_per_minute=3_500, seconds=0.5)
    await model.complete(PROMPT)
    answers = await asyncio.gather(
        *(model.complete(PROMPT) for _ in range(4)), return_exceptions=True
    )
    assert sum(isinstance(one, LanguageModelUnavailable) for one in answers) == 2
    assert len(stub.requests) == 1 + 3


async def test_the_number_of_concurrent_requests_is_limited(build: Build, stub: OpenAIStub) -> None:
    stub.answer_always(hang())
    model = build(requests_at_once=2)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await asyncio.gather(*(model.complete(PROMPT) for _ in range(5)))
    assert len(stub.requests) == 2


async def test_neither_text_nor_key_is_reported_or_logged(
    build: Build, stub: OpenAIStub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stub.answer_always(server_error(400))
    with pytest.raises(LanguageModelUnavailable) as failure:
        await build().complete(PROMPT)
    details = f"{failure.value!r} {failure.value} {failure.value.__cause__} {caplog.text}"
    assert TEXT not in details
    assert KEY not in details


async def test_a_closed_model_is_unavailable(build: Build) -> None:
    model = build()
    await model.close()
    with pytest.raises(LanguageModelUnavailable):
        await model.complete(PROMPT)
