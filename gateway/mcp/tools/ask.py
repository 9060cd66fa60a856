"""Questions to the agent: the answer with its sources, and tool calls as progress."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from braid.agent.v1 import agent_pb2
from gateway.mcp.arguments import Arguments, Cursor
from gateway.mcp.calls import ToolCall
from gateway.mcp.cursors import Position
from gateway.mcp.results import Status, ToolResult, fit
from gateway.rest.chat.runs import SERVICE, WholeRun, run_events
from gateway.rest.mapping.field_types import Text

_PIECE = 700
_SENTENCES = re.compile(rf"(?s).{{1,{_PIECE}}}(?:\s+|$)|.{{1,{_PIECE}}}")


class AskArguments(Arguments):
    """The question."""

    question: Annotated[Text, Field(min_length=1, description="The question, as a person asks it.")]
    time_zone: Annotated[
        Text, Field(description='IANA name: "last month" is read in it. Default: UTC.')
    ] = ""
    conversation_id: Annotated[
        Text, Field(description="A conversation to go on with. Default: none.")
    ] = ""
    profile: Literal["all", "search", "graph"] = Field(
        default="all", description="Which sources the agent may use."
    )
    cursor: Cursor | None = None


class Part(BaseModel):
    """A piece of the answer, or one of its sources."""

    answer: str = ""
    source: str = ""


class AskResult(ToolResult):
    """An answer in which `[1]` names a source."""

    answer: str
    sources: list[str]
    model: str
    unavailable: list[str] | None = Field(
        default=None, description="What could not be asked: the answer does not know of it."
    )


async def ask(arguments: AskArguments, call: ToolCall) -> AskResult:
    """Ask the agent a question: it searches documents and graph by itself, and answers with numbered sources."""
    cursor = call.cursor(arguments)
    position = cursor.read(arguments.cursor)
    run = await _run(arguments, position.page_token, call)
    whole = run.answer()
    parts = _parts(whole)
    status, message = _end(whole)

    def build(shown: Sequence[Part]) -> AskResult:
        end = position.shown + len(shown)
        more = end < len(parts)
        rest = " The answer or its sources go on: call again with `cursor`." if more else ""
        return AskResult(
            space=call.space,
            status=status,
            message=message + rest,
            next_cursor=cursor.write(Position(run.run_id, end)) if more else None,
            answer="".join(part.answer for part in shown),
            sources=[part.source for part in shown if part.source],
            model=whole["model"],
            unavailable=whole["unavailable"] or None,
        )

    return fit(parts[position.shown :], build)


async def _run(arguments: AskArguments, run_id: str, call: ToolCall) -> WholeRun:
    """Returns the whole run: a new run, or one that was already shown in part."""
    caller = call.within(call.settings.chat_timeout_seconds).caller
    if run_id:
        again = agent_pb2.StreamRunEventsRequest(run_id=run_id)
        stream = caller.open(SERVICE + "StreamRunEvents", call.clients.agent.StreamRunEvents, again)
    else:
        request = agent_pb2.AskRequest(
            question=arguments.question,
            conversation_id=arguments.conversation_id,
            profile=agent_pb2.ToolProfile.Value(f"TOOL_PROFILE_{arguments.profile.upper()}"),
            time_zone=arguments.time_zone,
            cancel_on_disconnect=True,
        )
        stream = caller.open(SERVICE + "Ask", call.clients.agent.Ask, request)
    whole = WholeRun()
    steps = 0
    async with aclosing(run_events(caller, stream)) as events:
        async for event in events:
            whole.take(event)
            if event.WhichOneof("event") == "tool_call":
                steps += 1
                await call.progress(steps, None, f"calling {event.tool_call.tool}")
    return whole


def _parts(whole: dict[str, Any]) -> list[Part]:
    pieces = [Part(answer=piece) for piece in _SENTENCES.findall(whole["answer"])]
    return [*pieces, *(Part(source=_source(one)) for one in whole["citations"])]


def _source(citation: dict[str, Any]) -> str:
    return (
        f"[{citation['number']}] Document {citation['title'] or citation['document_id']}"
        f" · Source {citation['source'] or citation['document_id']}"
        f" · Chunk {citation['chunk_id']}: {citation['quote']}"
    )


def _end(whole: dict[str, Any]) -> tuple[Status, str]:
    if whole["unavailable"]:
        unavailable = ", ".join(whole["unavailable"])
        return "incomplete", f"Answered without {unavailable}, which could not be asked."
    if whole["end"] not in (None, "complete"):
        return "incomplete", f"The answer ended early: {whole['end']}."
    notices = " ".join(whole["notices"])
    return ("found" if whole["citations"] else "no_match"), notices or (
        "Answered." if whole["citations"] else "Nothing in this space answers the question."
    )
