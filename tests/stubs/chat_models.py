"""A scripted chat model that streams in the formats of OpenAI's and Anthropic's APIs.

    async with OpenAIStub() as stub:
        script = ChatScript([Turn(tools=[("hybrid_search", {"query": "x"})]), Turn("It is so [1].")])
        stub.routes |= script.routes()

Each request receives the next turn; the last turn is repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.stubs.openai_server import Answer, Reply

Json = dict[str, Any]
SSE = {"content-type": "text/event-stream"}


@dataclass(frozen=True)
class Turn:
    """One output of the model: text, then tool calls (arguments as an object or as raw text).

    `cut` closes the connection after the text; `refuses` adds a refusal.
    """

    text: str = ""
    tools: Sequence[tuple[str, Json | str]] = ()
    cut: bool = False
    refuses: bool = False


@dataclass
class ChatScript:
    """The scripted model; `asked` records the requests."""

    turns: Sequence[Turn]
    asked: list[Json] = field(default_factory=list)

    def routes(self) -> dict[str, Answer]:
        """Returns the endpoints of both providers."""
        return {
            "/v1/chat/completions": lambda request: self._answer(request, openai_events),
            "/v1/messages": lambda request: self._answer(request, anthropic_events),
        }

    def _answer(self, request: Json, events: Any) -> Reply:
        turn = self.turns[min(len(self.asked), len(self.turns) - 1)]
        self.asked.append(request)
        body = "".join(events(turn, len(self.asked)))
        return Reply(body=body.encode(), headers=SSE, cut=turn.cut)


def openai_events(turn: Turn, number: int) -> Iterator[str]:
    """Formats a turn as chunks of a chat completion."""

    def chunk(delta: Json, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data({**head, "choices": [choice], "usage": None})

    head: Json = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stub",
    }
    yield chunk({"role": "assistant", "content": ""})
    if turn.refuses:
        yield chunk({"refusal": "I cannot help with that."})
    for part in _parts(turn.text):
        yield chunk({"content": part})
    if turn.cut:
        return
    for index, (name, arguments) in enumerate(turn.tools):
        call = {
            "index": index,
            "id": f"call-{number}-{index}",
            "type": "function",
            "function": {"name": name, "arguments": _text(arguments)},
        }
        yield chunk({"tool_calls": [call]})
    yield chunk({}, "tool_calls" if turn.tools else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    yield _data({**head, "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def anthropic_events(turn: Turn, number: int) -> Iterator[str]:
    """Formats a turn as events of a message."""

    def event(kind: str, **more: Any) -> str:
        return f"event: {kind}\n{_data({'type': kind, **more})}"

    message: Json = {
        "id": f"msg-{number}",
        "type": "message",
        "role": "assistant",
        "model": "stub",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 1},
    }
    yield event("message_start", message=message)
    index = 0
    if turn.text:
        yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        for part in _parts(turn.text):
            delta = {"type": "text_delta", "text": part}
            yield event("content_block_delta", index=index, delta=delta)
        if turn.cut:
            return
        yield event("content_block_stop", index=index)
        index += 1
    for name, arguments in turn.tools:
        block = {"type": "tool_use", "id": f"toolu-{number}-{index}", "name": name, "input": {}}
        yield event("content_block_start", index=index, content_block=block)
        delta = {"type": "input_json_delta", "partial_json": _text(arguments)}
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
        index += 1
    stop_reason = "refusal" if turn.refuses else "tool_use" if turn.tools else "end_turn"
    yield event(
        "message_delta",
        delta={"stop_reason": stop_reason, "stop_sequence": None},
        usage={"output_tokens": 10},
    )
    yield event("message_stop")


def _parts(text: str) -> Iterator[str]:
    middle = len(text) // 2
    yield from (part for part in (text[:middle], text[middle:]) if part)


def _text(arguments: Json | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _data(content: Json) -> str:
    return f"data: {json.dumps(content)}\n\n"
