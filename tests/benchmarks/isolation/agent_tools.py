"""Calls of each tool of the agent: a scripted model calls the tool that a question names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.benchmarks.isolation.detector import NOT_SENT, Outcome
from tests.benchmarks.isolation.interfaces import ATTEMPTS, Call, Operation, without_request_ids
from tests.benchmarks.isolation.people import Person
from tests.benchmarks.isolation.schemas import Schemas
from tests.benchmarks.isolation.values import Given
from tests.stubs.chat_models import SSE, Turn, openai_events
from tests.stubs.openai_server import Reply

Json = dict[str, Any]

_CALL = "Call this tool: "
_UNKNOWN = "I do not know."
# Signs of arguments that a tool refused.
_REFUSED = ("validation error", "The arguments are not valid", "Fix the errors")
_SAVES = "save_"


@dataclass(slots=True)
class ToolCaller:
    """The scripted model: calls the tool that a question names, and records the tool's result."""

    tools: dict[str, Json] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)

    def answer(self, request: Json) -> Reply:
        """Returns one turn of a conversation as a stream."""
        self.tools |= {
            one["function"]["name"]: one["function"]["parameters"]
            for one in request.get("tools", ())
        }
        question = _last(request["messages"], "user")
        if not question.startswith(_CALL):
            turn = Turn(_UNKNOWN)
        elif request["messages"][-1]["role"] == "tool":
            self.results[question] = _text(request["messages"][-1]["content"])
            turn = Turn(_UNKNOWN)
        else:
            call = json.loads(question.removeprefix(_CALL))
            turn = Turn(tools=[(call["tool"], call["arguments"])])
        return Reply(body="".join(openai_events(turn, 1)).encode(), headers=SSE)


def question_for(tool: str, arguments: Mapping[str, Any], number: int) -> str:
    """Returns a question that makes the model call a tool."""
    return _CALL + json.dumps({"tool": tool, "arguments": arguments, "number": number})


async def agent_tool_operations(
    http: httpx2.AsyncClient, model: ToolCaller, person: Person
) -> list[Operation]:
    """Returns an operation for every tool that the agent offers to a model."""
    await _ask(http, person, "What is there?")
    return [
        Operation(
            f"agent tool {name}",
            changes=name.startswith(_SAVES),
            takes_ids=False,
            call=_tool(http, model, name, schema),
        )
        for name, schema in sorted(model.tools.items())
    ]


def _tool(http: httpx2.AsyncClient, model: ToolCaller, name: str, schema: Json) -> Call:
    schemas = Schemas(schema)

    async def call(person: Person, given: Given) -> Outcome:
        answer: Json = {}
        for attempt in range(ATTEMPTS):
            question = question_for(name, schemas.fill(schema, given, attempt=attempt), attempt)
            response = await _ask(http, person, question)
            answer = response.json()
            if not response.is_success:
                return Outcome(str(response.status_code), without_request_ids([answer]))
            result = model.results.pop(question, None)
            if result is not None and not any(sign in result for sign in _REFUSED):
                return Outcome("OK", [result, answer.get("citations")])
        return Outcome(NOT_SENT, answer)

    return call


async def _ask(http: httpx2.AsyncClient, person: Person, question: str) -> httpx2.Response:
    return await http.post(
        "/api/chat", json={"question": question, "stream": False}, headers=person.headers
    )


def _last(messages: list[Json], role: str) -> str:
    return next((_text(one["content"]) for one in reversed(messages) if one["role"] == role), "")


def _text(content: Any) -> str:
    """Returns a message's text, which may be in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content)
