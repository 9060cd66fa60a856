"""The OpenAI-compatible API under `/v1`, called by OpenAI's own client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest

from tests.integration.agent_orchestrator.agent.samples import (
    CHUNK,
    LATER_CHUNK,
    script_ledger_owners,
)
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.chat.conftest import ALICE
from tests.integration.gateway.conftest import Served

QUESTION = "Who owns the Ledger Service?"


@pytest.fixture
async def client(gateway: Served, world: World) -> AsyncIterator[openai.AsyncOpenAI]:
    script_ledger_owners(world)
    async with openai.AsyncOpenAI(
        base_url=f"{gateway.url}/v1", api_key="alice-key", max_retries=0
    ) as one:
        yield one


async def test_the_available_models_are_listed(client: openai.AsyncOpenAI) -> None:
    listed = await client.models.list()
    assert [model.id for model in listed.data] == ["braid", "braid-search", "braid-graph"]
    assert (await client.models.retrieve("braid")).owned_by == "braid"


async def test_a_completion_has_its_sources_as_annotations(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model="braid", messages=[{"role": "user", "content": QUESTION}]
    )
    message = answer.choices[0].message
    assert message.content is not None
    assert "Jonas Weber" in message.content
    assert answer.choices[0].finish_reason == "stop"
    assert message.tool_calls is None
    assert message.annotations
    cited = message.annotations[0].url_citation
    marked = message.content[cited.start_index : cited.end_index]
    assert marked.startswith("[")
    assert cited.title == "Owners"
    assert cited.url.endswith("/api/documents/owners")
    assert answer.usage is not None
    assert answer.usage.completion_tokens > 0
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


async def test_a_streamed_completion_has_the_answer_its_sources_and_usage(
    client: openai.AsyncOpenAI,
) -> None:
    stream = await client.chat.completions.create(
        model="braid",
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert "Jonas Weber" in text
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-2].model_extra is not None
    sources = chunks[-2].model_extra["search_results"]
    assert {one["chunk_id"] for one in sources} <= {CHUNK, LATER_CHUNK}
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens > 0


async def test_the_conversation_is_taken_from_the_sent_messages(
    client: openai.AsyncOpenAI, world: World
) -> None:
    answer = await client.chat.completions.create(
        model="braid-graph",
        messages=[
            {"role": "system", "content": "You are a pirate."},
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "Jonas Weber owns the Ledger Service."},
            {"role": "user", "content": [{"type": "text", "text": "How has it changed?"}]},
        ],
    )
    assert "Mira Okafor" in (answer.choices[0].message.content or "")
    assert world.vector.script.count("VectorSearch") == 0


@pytest.mark.parametrize(
    ("more", "kind", "code"),
    [
        ({"model": "gpt-4o"}, openai.NotFoundError, "model_not_found"),
        ({"n": 2}, openai.BadRequestError, "invalid_field"),
        *(
            (more, openai.BadRequestError, "invalid_field")
            for more in (
                {"max_tokens": 0},
                {"stop": ["a", "b", "c", "d", "e"]},
                {"response_format": {"type": "json_object"}},
                {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
                {
                    "messages": [
                        {
                            "role": "user",
                            "content": [{"type": "image_url", "image_url": {"url": "data:,"}}],
                        }
                    ]
                },
            )
        ),
        (
            {"messages": [{"role": "user", "content": " "}]},
            openai.BadRequestError,
            "invalid_field",
        ),
        (
            {"messages": [{"role": "assistant", "content": "Hi."}]},
            openai.BadRequestError,
            "invalid_field",
        ),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_invalid_requests_raise_the_errors_of_openai(
    client: openai.AsyncOpenAI,
    more: dict[str, object],
    kind: type[openai.APIStatusError],
    code: str,
    stream: bool,
) -> None:
    body = {"model": "braid", "messages": [{"role": "user", "content": QUESTION}]} | more
    with pytest.raises(kind) as caught:
        await client.chat.completions.create(**body, stream=stream)  # type: ignore[call-overload]
    assert caught.value.code == code


async def test_a_wrong_key_and_an_unknown_route_return_the_errors_of_openai(
    gateway: Served,
) -> None:
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="nobody's") as client:
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
    async with httpx2.AsyncClient(base_url=gateway.url) as http:
        wrong = {"authorization": "Bearer nobody's"}
        for path in ("/v1/chat/completions", "/v1/no-such-route"):
            refused = await http.post(path, json={}, headers=wrong)
            assert refused.json()["error"]["type"] == "authentication_error"
        unknown = await http.get("/v1/no-such-route", headers=ALICE)
        assert unknown.json()["error"]["type"] == "not_found_error"


async def completed(client: openai.AsyncOpenAI, **more: Any) -> tuple[str, str, list[str]]:
    """The text of an answer, whole and streamed alike, why it ends, and the marked parts of the text."""
    body: dict[str, Any] = {"model": "braid", "messages": [{"role": "user", "content": QUESTION}]}
    whole: Any = await client.chat.completions.create(**body | more)
    stream: Any = await client.chat.completions.create(**body | more, stream=True)
    chunks = [chunk.choices[0] async for chunk in stream]
    text = "".join(chunk.delta.content or "" for chunk in chunks)
    one = whole.choices[0]
    assert (one.message.content, one.finish_reason) == (text, chunks[-1].finish_reason)
    marks = [
        text[cited["start_index"] : cited["end_index"]]
        for cited in (mark["url_citation"] for mark in getattr(chunks[-1].delta, "annotations", []))
    ]
    assert len(marks) == len(one.message.annotations)
    return text, one.finish_reason, marks


async def test_an_answer_ends_at_a_stop_sequence_or_after_the_tokens_asked_for(
    client: openai.AsyncOpenAI,
) -> None:
    text, reason, marks = await completed(client)
    assert reason == "stop"
    assert marks
    assert all(mark.startswith("[") for mark in marks)
    assert await completed(client, stop="Weber") == (text.partition("Weber")[0], "stop", [])
    assert await completed(client, max_tokens=3) == (text[:12], "length", [])


async def test_the_last_part_of_a_long_message_is_the_question(client: openai.AsyncOpenAI) -> None:
    content = "Notes of a meeting, line by line.\n" * 10_000 + "\n" + QUESTION
    answer = await client.chat.completions.create(
        model="braid", messages=[{"role": "user", "content": content}]
    )
    assert "Jonas Weber" in (answer.choices[0].message.content or "")


async def test_another_route_of_openai_says_which_one_to_use(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="use POST /v1/chat/completions"):
        await client.responses.create(model="braid", input=QUESTION)
