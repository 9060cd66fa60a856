"""The user's memory: statements about people, projects, tools and their relationships."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from braid.agent.v1 import entity_memory_pb2 as memory_pb2
from braid.agent.v1 import profile_pb2
from braid.common.v1 import legs_pb2
from gateway.mcp.arguments import Arguments, Cursor, PageLimit, narrowed
from gateway.mcp.calls import ToolCall
from gateway.mcp.pages import Page
from gateway.mcp.results import Status, ToolResult, day_or_time
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import Text
from services.runtime.errors import FieldError, InvalidFieldError

SERVICE = "/braid.agent.v1.EntityMemoryService/"
_MAX_ENTITIES = 5
_NOT_SEARCHED = frozenset({legs_pb2.LEG_STATUS_TIMED_OUT, legs_pb2.LEG_STATUS_UNAVAILABLE})
MaxTokens = Annotated[
    int, Field(ge=20, le=16_000, description="context: its maximum length. Default 1,000.")
]
_RELATION = "MEMORY_RELATIONSHIP_TYPE_"
_TYPE = "MEMORY_ENTITY_TYPE_"
Relation = Literal[
    "USES",
    "PREFERS",
    "DECIDED",
    "WORKS_ON",
    "WORKS_WITH",
    "KNOWS",
    "DEPENDS_ON",
    "MENTIONED_IN",
    "PART_OF",
    "LIVES_IN",
]
EntityKind = Literal["PERSON", "PROJECT", "TOOL", "CONCEPT", "ORGANIZATION", "PLACE"]


class MemorySaveArguments(Arguments):
    """What the user said, or a relationship in so many words."""

    text: Text | None = Field(
        default=None, description="What the user said: what it says of people and things is saved."
    )
    relation: Relation | None = Field(default=None, description="Instead of `text`: a relation.")
    target: Text | None = Field(default=None, description="With `relation`: where it leads.")
    target_type: EntityKind | None = None
    subject: Text | None = Field(
        default=None, description="With `relation`: where it starts. Default: the user."
    )
    subject_type: EntityKind | None = None
    conversation_id: Text = Field(default="", max_length=200)
    message_id: Text = Field(
        default="", max_length=200, description="The same message is saved once."
    )


class MemoryQueryArguments(Arguments):
    """What to look for."""

    query: Text | None = Field(
        default=None,
        description='A question or a name, such as "who do I work with?". Default: the latest memories.',
    )
    limit: PageLimit = 20
    cursor: Cursor | None = None


class MemoryContextArguments(Arguments):
    """What the text is for."""

    query: Text = Field(description="The question that will be answered with the text.")
    max_tokens: MaxTokens | None = None


class MemoryArguments(Arguments):
    """Save, query, or a text with what is known."""

    view: Literal["query", "save", "context"] | None = Field(
        default=None,
        description="Default: save with `text` or `relation`, else query. context: all that is known, as one text.",
    )
    query: Text | None = Field(default=None, description="query, context: a question or a name.")
    max_tokens: MaxTokens | None = None
    limit: PageLimit | None = Field(default=None, description="query: how many. Default 20.")
    cursor: Cursor | None = None
    text: Text | None = Field(default=None, description="save: what the user said.")
    relation: Relation | None = Field(default=None, description="save: a relation instead.")
    target: Text | None = Field(default=None, description="save: where the relation leads.")
    target_type: EntityKind | None = None
    subject: Text | None = Field(default=None, description="save: its start. Default: the user.")
    subject_type: EntityKind | None = None
    conversation_id: Text | None = None
    message_id: Text | None = None


class Memory(BaseModel):
    """A remembered relationship."""

    subject: str
    relation: str
    target: str
    said: str | None = None
    last_said: str | None = None
    times_said: int


class RememberedEntity(BaseModel):
    """Somebody or something that the user talked of."""

    name: str
    type: str
    description: str | None = None
    aliases: list[str] | None = None


class MemoryResult(ToolResult):
    """Memories of the calling user."""

    memories: list[Memory]
    entities: list[RememberedEntity] | None = None
    context: str | None = Field(
        default=None, description="view context: a line for each thing that is known."
    )


async def memory(arguments: MemoryArguments, call: ToolCall) -> MemoryResult:
    """Remember what the user said about people, projects and tools (view save), or look it up (view query, context)."""
    is_said = arguments.text is not None or arguments.relation is not None
    view = arguments.view or ("save" if is_said else "query")
    if view == "save":
        return await memory_save(narrowed(arguments, MemorySaveArguments, view), call)
    if view == "context":
        return await memory_context(narrowed(arguments, MemoryContextArguments, view), call)
    return await memory_query(narrowed(arguments, MemoryQueryArguments, "query"), call)


async def memory_save(arguments: MemorySaveArguments, call: ToolCall) -> MemoryResult:
    """Remember what the user said about people, projects and tools, for this user alone."""
    provenance = memory_pb2.MemoryProvenance(
        conversation_id=arguments.conversation_id, message_id=arguments.message_id
    )
    if arguments.text is not None:
        _refuse_relation(arguments)
        turn = memory_pb2.SaveTurnRequest(turns=[arguments.text], provenance=provenance)
        answer = await _rpc(call, "SaveTurn", call.clients.entity_memory.SaveTurn, turn)
        return _saved(answer.relationships, _turn_message(answer), call)
    if arguments.relation is None or arguments.target is None:
        raise InvalidFieldError(FieldError("text", "is required, or relation and target"))
    request = memory_pb2.SaveRelationshipRequest(
        source=_end(arguments.subject, arguments.subject_type) if arguments.subject else None,
        type=memory_pb2.MemoryRelationshipType.Value(_RELATION + arguments.relation),
        target=_end(arguments.target, arguments.target_type),
        provenance=provenance,
    )
    stub = call.clients.entity_memory.SaveRelationship
    saved = await _rpc(call, "SaveRelationship", stub, request)
    kept = [saved.relationship] if saved.HasField("relationship") else []
    return _saved(kept, saved.message, call)


async def memory_query(arguments: MemoryQueryArguments, call: ToolCall) -> MemoryResult:
    """Look up what the user said before: an answer to a question, or the latest memories."""
    cursor = call.cursor(arguments)
    begin = cursor.read(arguments.cursor)
    memories, next_token, partly = await _memories(arguments, begin.page_token, call)
    first_page = arguments.cursor is None
    entities = await _entities(arguments.query, call) if arguments.query and first_page else []
    page = Page(memories, begin, next_token, cursor, "memories")
    status: Status = "found" if memories or entities else "no_match"

    def build(shown: Sequence[Memory], words: str, next_cursor: str | None) -> MemoryResult:
        lost = (
            " The embedding model was unavailable: memories found by meaning alone may be missing."
        )
        return MemoryResult(
            space=call.space,
            status="incomplete" if partly else status,
            message=words + (lost if partly else ""),
            next_cursor=next_cursor,
            memories=list(shown),
            entities=entities or None,
        )

    return page.result(build)


async def memory_context(arguments: MemoryContextArguments, call: ToolCall) -> MemoryResult:
    """Tell what is known about the user as one text: what is relevant to a question first."""
    request = profile_pb2.GetContextRequest(query=arguments.query, max_tokens=arguments.max_tokens)
    stub = call.clients.profile.GetContext
    answer = await call.rpc("/braid.agent.v1.ProfileService/GetContext", stub, request)
    is_partial = answer.memory_leg.status in _NOT_SEARCHED
    message = f"{len(answer.items)} things are known, {answer.left_out_count} more did not fit."
    if is_partial:
        message += " Typed memories could not be searched."
    found: Status = "found" if answer.items else "no_match"
    return MemoryResult(
        space=call.space,
        status="incomplete" if is_partial else found,
        message=message,
        memories=[],
        context=answer.text or None,
    )


async def _memories(
    arguments: MemoryQueryArguments, page_token: str, call: ToolCall
) -> tuple[list[Memory], str, bool]:
    """Returns a page of memories, the token of the next page, and whether a part could not be searched."""
    if arguments.query is None:
        listing = memory_pb2.QueryRelationshipsRequest(
            page_size=arguments.limit, page_token=page_token
        )
        stub = call.clients.entity_memory.QueryRelationships
        listed = await _rpc(call, "QueryRelationships", stub, listing)
        return [_memory(one) for one in listed.relationships], listed.next_page_token, False
    question = memory_pb2.AnswerRelationshipQueryRequest(
        query=arguments.query, page_size=arguments.limit, page_token=page_token
    )
    answer = await _rpc(
        call,
        "AnswerRelationshipQuery",
        call.clients.entity_memory.AnswerRelationshipQuery,
        question,
    )
    found = [_memory(one.relationship) for one in answer.answers]
    return found, answer.next_page_token, answer.without_embedding


async def _entities(query: str, call: ToolCall) -> list[RememberedEntity]:
    request = memory_pb2.QueryEntitiesRequest(query=query, page_size=_MAX_ENTITIES)
    stub = call.clients.entity_memory.QueryEntities
    answer = await _rpc(call, "QueryEntities", stub, request)
    return [
        RememberedEntity(
            name=hit.entity.name,
            type=memory_pb2.MemoryEntityType.Name(hit.entity.type).removeprefix(_TYPE),
            description=hit.entity.description or None,
            aliases=list(hit.entity.aliases) or None,
        )
        for hit in answer.hits
    ]


async def _rpc(call: ToolCall, name: str, stub: Any, request: Any) -> Any:
    return await call.rpc(SERVICE + name, stub, request, _argument_name)


def _argument_name(path: str) -> str:
    names = {"turns": "text", "source": "subject", "type": "relation", "provenance": ""}
    if path.startswith(("target.", "source.")):
        end, _, field = path.partition(".")
        place = names.get(end, end)
        return place if field == "name" else f"{place}_{field}"
    return rest_name(path.partition("[")[0], names)


def _end(name: str | None, kind: str | None) -> memory_pb2.MemoryEndInput:
    end = memory_pb2.MemoryEndInput(name=name or "")
    if kind:
        end.type = memory_pb2.MemoryEntityType.Value(_TYPE + kind)
    return end


def _refuse_relation(arguments: MemorySaveArguments) -> None:
    names = ("relation", "target", "target_type", "subject", "subject_type")
    wrong = [name for name in names if getattr(arguments, name) is not None]
    if wrong:
        raise InvalidFieldError(*(FieldError(name, "goes without text") for name in wrong))


def _saved(kept: Sequence[Any], message: str, call: ToolCall) -> MemoryResult:
    return MemoryResult(
        space=call.space,
        status="done" if kept else "no_match",
        message=message,
        memories=[_memory(one) for one in kept],
    )


def _turn_message(answer: memory_pb2.SaveTurnResponse) -> str:
    if answer.already_saved:
        return "This message was saved before: nothing was changed."
    saved, retracted = len(answer.relationships), answer.retracted_count
    message = f"Saved {saved} memories." if saved else "The text says nothing that is remembered."
    if retracted:
        message += f" Took back {retracted}."
    if answer.over_limit_count:
        message += f" {answer.over_limit_count} were not saved: a limit is reached."
    return message


def _memory(message: memory_pb2.MemoryRelationship) -> Memory:
    return Memory(
        subject=message.source.name,
        relation=memory_pb2.MemoryRelationshipType.Name(message.type).removeprefix(_RELATION),
        target=message.target.name,
        said=message.context or None,
        last_said=day_or_time(message, "last_mention_time"),
        times_said=message.mention_count,
    )
