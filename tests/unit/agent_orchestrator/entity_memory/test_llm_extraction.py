"""Extraction from turns by a language model: its answer, here from an HTTP stub, is validated before it is saved."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr

from services.agent_orchestrator.entity_memory.llm_extraction import ModelExtractor
from services.agent_orchestrator.entity_memory.records import NewRelationship
from services.agent_orchestrator.entity_memory.turns import LocalExtractor
from services.models.errors import LanguageModelUnavailable
from services.models.language.factory import build_language_model
from services.models.language.settings import LanguageModelSettings
from tests.stubs.openai_server import Answer, OpenAIStub, Reply, server_error

USES_GRAFANA = {
    "source": "User",
    "type": "USES",
    "target": "Grafana",
    "confidence": 0.95,
    "context": "Ich nutze Grafana",
}
GRAFANA = {"name": "Grafana", "type": "tool"}


def completion(text: str) -> Answer:
    """Returns a chat completion with this text."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return lambda _: Reply(body=json.dumps(body).encode())


def extraction_completion(
    *relationships: Any, entities: tuple[Any, ...] = (GRAFANA,), retracted: tuple[Any, ...] = ()
) -> Answer:
    """Returns a chat completion that matches the requested schema."""
    answer = {"entities": entities, "relationships": relationships, "retracted": retracted}
    return completion(json.dumps(answer))


@pytest.fixture
async def stub() -> AsyncIterator[OpenAIStub]:
    async with OpenAIStub() as running:
        yield running


@pytest.fixture
async def extractor(stub: OpenAIStub) -> AsyncIterator[ModelExtractor]:
    settings = LanguageModelSettings(
        _env_file=None, base_url=stub.base_url, api_key=SecretStr("sk-test"), seconds=5.0
    )
    model = build_language_model(settings)
    assert model is not None
    local = LocalExtractor()
    yield ModelExtractor(model, local)
    await local.close()
    await model.close()


def names(found: tuple[NewRelationship, ...]) -> list[tuple[str, str, str]]:
    return [(one.source.name or "User", one.type.value, one.target.name) for one in found]


async def test_a_turn_in_any_language_is_read(stub: OpenAIStub, extractor: ModelExtractor) -> None:
    stub.answer_next(extraction_completion(USES_GRAFANA))
    news = await extractor.read(["Hallo!", "Ich nutze Grafana zur Überwachung."])
    assert names(news.relationships) == [("User", "USES", "Grafana")]
    [saved] = news.relationships
    assert (saved.confidence, saved.context) == (0.95, "Ich nutze Grafana")
    assert saved.target.type is not None
    assert saved.target.type.value == "tool"
    [request] = stub.requests
    assert request.json["response_format"]["type"] == "json_schema"
    assert "<last_turn>\nIch nutze Grafana" in request.json["messages"][-1]["content"]
    assert "<earlier_turn>\nHallo!" in request.json["messages"][-1]["content"]


async def test_relationships_that_a_turn_withdraws_are_returned_as_retracted(
    stub: OpenAIStub, extractor: ModelExtractor
) -> None:
    stub.answer_next(extraction_completion(retracted=(USES_GRAFANA,)))
    news = await extractor.read(["Grafana nutzen wir nicht mehr."])
    assert (news.relationships, names(news.retracted)) == ((), [("User", "USES", "Grafana")])


async def test_names_absent_from_the_conversation_are_not_saved(
    stub: OpenAIStub, extractor: ModelExtractor
) -> None:
    invented = USES_GRAFANA | {"target": "Prometheus"}
    stub.answer_next(extraction_completion(USES_GRAFANA, invented))
    news = await extractor.read(["Ich nutze Grafana."])
    assert names(news.relationships) == [("User", "USES", "Grafana")]


async def test_a_pronoun_may_refer_to_a_name_in_an_earlier_turn(
    stub: OpenAIStub, extractor: ModelExtractor
) -> None:
    stub.answer_next(extraction_completion(USES_GRAFANA))
    news = await extractor.read(["Kennst du Grafana?", "Das nutze ich."])
    assert names(news.relationships) == [("User", "USES", "Grafana")]
    assert news.relationships[0].context == "Das nutze ich."


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(completion("I saved it."), id="prose"),
        pytest.param(completion('{"entities": ['), id="cut JSON"),
        pytest.param(completion('{"entities": []}'), id="part missing"),
        pytest.param(extraction_completion(USES_GRAFANA | {"type": "LIKES"}), id="unknown type"),
        pytest.param(
            extraction_completion(USES_GRAFANA | {"confidence": 7}), id="confidence above 1"
        ),
        pytest.param(extraction_completion(USES_GRAFANA | {"target": "x" * 201}), id="long name"),
        pytest.param(extraction_completion(*[USES_GRAFANA] * 51), id="too many"),
    ],
)
async def test_an_invalid_answer_falls_back_to_the_grammar(
    stub: OpenAIStub, extractor: ModelExtractor, answer: Answer
) -> None:
    stub.answer_next(answer)
    news = await extractor.read(["I use Vim."])
    assert names(news.relationships) == [("User", "USES", "Vim")]


@pytest.mark.parametrize("name", [" ", "a\x07b", "user"])
async def test_an_invalid_name_is_left_out(
    stub: OpenAIStub, extractor: ModelExtractor, name: str
) -> None:
    stub.answer_next(extraction_completion(USES_GRAFANA, USES_GRAFANA | {"target": name}))
    news = await extractor.read([f"I use Grafana and {name}."])
    assert names(news.relationships) == [("User", "USES", "Grafana")]


async def test_a_failing_model_raises_language_model_unavailable(
    stub: OpenAIStub, extractor: ModelExtractor
) -> None:
    stub.answer_always(server_error(400))
    with pytest.raises(LanguageModelUnavailable):
        await extractor.read(["I use Vim."])


async def test_a_long_turn_is_truncated_before_it_is_sent(
    stub: OpenAIStub, extractor: ModelExtractor
) -> None:
    stub.answer_next(extraction_completion(entities=()))
    await extractor.read(["x " * 50_000])
    assert len(stub.requests[0].json["messages"][-1]["content"]) < 21_000
