"""Graphiti gets answers of the requested shape, or the error that the answer is unusable."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from services.graph_query.llm_extraction.episode_extractor import load_session
from services.graph_query.llm_extraction.graphiti_failures import Failures
from services.models.errors import AnswerUnusable
from services.models.language.factory import build_language_model
from services.models.language.settings import LanguageModelSettings
from tests.stubs.openai_server import Answer, OpenAIStub, raw

Ask = Callable[[], Awaitable[dict[str, Any]]]


class NamesAnswer(BaseModel):
    """The requested answer."""

    names: list[str]


def chat_completion(text: str) -> Answer:
    message = {"role": "assistant", "content": text}
    return raw(json.dumps({"choices": [{"finish_reason": "stop", "message": message}]}).encode())


@pytest.fixture
async def stub() -> AsyncIterator[OpenAIStub]:
    async with OpenAIStub(3) as server:
        yield server


@pytest.fixture
async def ask(stub: OpenAIStub) -> AsyncIterator[Ask]:
    load_session()
    from graphiti_core.prompts.models import Message  # noqa: PLC0415 - after load_session()

    from services.graph_query.llm_extraction.graphiti_language import GraphitiLanguage  # noqa: PLC0415

    settings = LanguageModelSettings(
        _env_file=None, provider="openai", api_key=SecretStr("k"), base_url=stub.base_url
    )
    model = build_language_model(settings)
    assert model is not None
    language = GraphitiLanguage(model, Failures())
    question = Message(role="user", content="Who is named?")
    yield lambda: language.generate_response([question], NamesAnswer)
    await model.close()


async def test_an_answer_is_returned_in_the_requested_shape(ask: Ask, stub: OpenAIStub) -> None:
    stub.answer_always(chat_completion('{"names": ["Ada"], "more": 1}'))
    assert await ask() == {"names": ["Ada"]}


@pytest.mark.parametrize(
    "text",
    ["no JSON", '["Ada"]', '{"names": 1}', '{"names": ' + "[" * 100_000, '{"names": ["\\ud800"]}'],
    ids=["no JSON", "no object", "another shape", "nested too deep", "no text"],
)
async def test_an_answer_of_the_wrong_shape_is_requested_once_more_and_then_unusable(
    ask: Ask, stub: OpenAIStub, text: str
) -> None:
    stub.answer_always(chat_completion(text))
    with pytest.raises(AnswerUnusable) as failed:
        await ask()
    assert failed.value.cause == "malformed answer"
    assert len(stub.requests) == 2
