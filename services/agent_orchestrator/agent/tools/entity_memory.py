"""The agent's tools for entity memory: they queue the user's statements to be saved, and query saved ones."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_ai import FunctionToolset, ModelRetry, RunContext, ToolReturn

from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult
from services.agent_orchestrator.agent.runs.event_log import Owner as ConversationOwner
from services.agent_orchestrator.agent.tools.saving import Names, reason_not_to_save
from services.agent_orchestrator.agent.tools.tool_result import is_refusal, respond, retry_for
from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.forgetting import (
    TO_CONFIRM,
    Forgotten,
    is_confirmed,
    means_everything,
    subject_to_forget,
)
from services.agent_orchestrator.entity_memory.memory import EntityMemory
from services.agent_orchestrator.entity_memory.names import has_control_characters
from services.agent_orchestrator.entity_memory.questions import Scored
from services.agent_orchestrator.entity_memory.queue import MemoryWrites
from services.agent_orchestrator.entity_memory.records import (
    DEFAULT_CONFIDENCE,
    NamedEnd,
    NewEntity,
    NewRelationship,
    Outcome,
    Owner,
    Provenance,
)
from services.agent_orchestrator.entity_memory.sentences import YOU, sentence
from services.agent_orchestrator.entity_memory.turns import MAX_CONTEXT
from services.agent_orchestrator.entity_memory.user_words import stated_by_user
from services.runtime.errors import BraidError, NotFoundError
from services.runtime.telemetry import get_logger

Context = RunContext[AgentDependencies]

# Seconds that a query waits for earlier statements of the conversation to be saved.
CATCH_UP_SECONDS: Final = 1.0
MAX_RETRIES: Final = 2
TOOL_SECONDS: Final = 30.0
NO_MEMORY: Final = "The memory cannot be reached now."
NOTHING_KNOWN: Final = "Nothing about this is in your memory."
SAVED: Final = "It is noted and will be saved."
BEHIND: Final = "What was said last may be missing."
GUIDANCE: Final = """\
The user's own memory holds the people, projects, tools, concepts and organizations they talk about.
- "What do I use for X?", "who do I work with?" and the like are about the user: ask query_graph.
- When the user states a lasting fact about themselves or their work, save it with save_relationship; use save_entity
  for a name without a relationship. Save what the user said, never what a document or a tool says, and no guesses,
  plans or questions.
- When the user asks to forget or delete something about them, call forget, and tell them what it says.
"""
NO_LONGER_FOUND: Final = (
    "What you wrote about it stays in its conversations and is no longer found (messages: {count})."
)
CONFIRM: Final = (
    f"This erases everything that is remembered about you, and cannot be undone. {TO_CONFIRM}"
)
# What a reply names of what was forgotten.
MAX_NAMED: Final = 10


ForgetMessages = Callable[[ConversationOwner, str | None], Awaitable[int]]
"""Lets searches find the messages with some words no more, or all messages; returns how many the user wrote."""


def _clean(value: str) -> str:
    if has_control_characters(value):
        raise ValueError("must not hold control characters")
    return value


Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(_clean),
]
Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)]
Confidence = Annotated[float, Field(ge=0, le=1)]
Type = Literal["person", "project", "tool", "concept", "organization", "place"]
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


class MemoryTools:
    """The agent's tools for a user's memory."""

    def __init__(
        self, memory: EntityMemory, writes: MemoryWrites, forget_messages: ForgetMessages
    ) -> None:
        self._memory = memory
        self._writes = writes
        self._forget_messages = forget_messages

    def toolset(self) -> FunctionToolset[AgentDependencies]:
        """Returns the toolset with all of them."""
        return FunctionToolset(
            [self.save_entity, self.save_relationship, self.query_graph, self.forget],
            max_retries=MAX_RETRIES,
            timeout=TOOL_SECONDS,
        )

    async def save_entity(  # noqa: PLR0917 - the model names them all
        self,
        ctx: Context,
        name: Name,
        type: Type,  # noqa: A002 - the model's word for it
        description: Text = "",
        aliases: Annotated[list[Name], Field(max_length=20)] | None = None,
        confidence: Confidence = DEFAULT_CONFIDENCE,
    ) -> ToolReturn[str]:
        """Remember a person, project, tool, concept or organization that the user talks about.

        Args:
            name: Its name as the user wrote it.
            type: What it is. A project is built by the user or their company, a tool by others.
            description: What it is, in the user's own words of this message.
            aliases: Other names of it that stand in the message.
            confidence: How sure it is: 0.9 or more for what the user said, less for what follows from it.
        """
        new = NewEntity(
            name,
            EntityType(type),
            tuple(aliases or ()),
            description.replace("\x00", ""),
            confidence,
        )
        if problem := reason_not_to_save(ctx, [name]):
            return _refused(ctx.deps, "save_entity", problem)
        new = stated_by_user(new, ctx.deps.question)
        try:
            limit = await self._limit(ctx.deps, 1)
            if limit is None:
                await self._writes.queue_entity(_owner(ctx.deps), _key(ctx), _seen(ctx.deps), new)
        except BraidError as error:
            return _memory_unavailable(ctx.deps, "save_entity", error)
        return _said(ctx.deps, "save_entity", limit)

    async def save_relationship(  # noqa: PLR0917 - as above
        self,
        ctx: Context,
        relationship_type: Relation,
        target: Name,
        source: Name | None = None,
        target_type: Type | None = None,
        source_type: Type | None = None,
        context: Text = "",
        confidence: Confidence = DEFAULT_CONFIDENCE,
    ) -> ToolReturn[str]:
        """Remember how two things relate, such as the user USES a tool, or one project DEPENDS_ON another.

        Args:
            relationship_type: What the source does to the target.
            target: The name or id of the entity that the relationship leads to. It is created where it is missing.
            source: The name or id of the entity that it starts at. Leave it out for the user.
            target_type: What the target is, where it may be new.
            source_type: What the source is, where it may be new.
            context: The words of the user's message that say it, unchanged. Default: the whole message.
            confidence: How sure it is: 0.9 or more for what the user said, less for what follows from it.
        """
        new = NewRelationship(
            _end(source, source_type),
            RelationshipType(relationship_type),
            _end(target, target_type),
            context.replace("\x00", "") or ctx.deps.question[:MAX_CONTEXT],
            confidence,
        )
        if source is not None and source.casefold() == target.casefold():
            raise ModelRetry("The source and the target must be two entities.")
        try:
            names = [await self._names(ctx.deps, end) for end in (new.source, new.target)]
            if problem := reason_not_to_save(ctx, [*names, new.context]):
                return _refused(ctx.deps, "save_relationship", problem)
            limit = await self._limit(ctx.deps, 0)
            if limit is None:
                await self._writes.queue_relationship(
                    _owner(ctx.deps), _key(ctx), _seen(ctx.deps), new
                )
        except NotFoundError:
            raise ModelRetry("The user's memory has no entity of this id. Give a name.") from None
        except BraidError as error:
            return _memory_unavailable(ctx.deps, "save_relationship", error)
        return _said(ctx.deps, "save_relationship", limit)

    async def query_graph(
        self,
        ctx: Context,
        query: Query,
        entity_type: Type | None = None,
        relationship_type: Relation | None = None,
    ) -> ToolReturn[str]:
        """Look up what the user's own memory says: who they know, what they use, prefer, decided on or work on.

        Args:
            query: The question in plain words.
            entity_type: Only answers of this type.
            relationship_type: Only relationships of this type.
        """
        deps, owner = ctx.deps, _owner(ctx.deps)
        try:
            is_current = await self._writes.work_off(owner, CATCH_UP_SECONDS)
            found = await self._memory.answer(
                owner,
                query.replace("\x00", ""),
                RelationshipType(relationship_type) if relationship_type else None,
                EntityType(entity_type) if entity_type else None,
            )
        except BraidError as error:
            return _memory_unavailable(deps, "query_graph", error)
        items = tuple(_item(one) for one in found.answers[: deps.search_preferences.default_limit])
        notes = [] if items else [NOTHING_KNOWN]
        if not is_current:
            notes.append(BEHIND)
        result = ToolResult(
            "query_graph",
            "ok" if items else "no_match",
            deps.space,
            items=items,
            total_count=len(found.answers),
            message=" ".join(notes),
        )
        return respond(deps, result)

    async def forget(self, ctx: Context, what: Query) -> ToolReturn[str]:
        """Delete from the user's own memory what they ask to forget: a statement, a name, or everything.

        Args:
            what: The words of the user's message that say what to forget, unchanged.
        """
        deps, owner = ctx.deps, _owner(ctx.deps)
        if problem := reason_not_to_save(ctx, [what]):
            return _refused(deps, "forget", problem)
        try:
            # What was said before may still wait to be saved.
            await self._writes.work_off(owner, CATCH_UP_SECONDS)
            gone = await self._memory.forget(owner, what)
            if gone == Forgotten() and means_everything(what):
                return await self._forget_everything(deps, owner)
            subject = subject_to_forget(what)
            messages = 0
            if subject and not gone.ambiguous:
                messages = await self._forget_messages(_user(deps), subject)
        except BraidError as error:
            return _memory_unavailable(deps, "forget", error)
        return respond(deps, _forgotten(deps, gone, messages))

    async def _forget_everything(self, deps: AgentDependencies, owner: Owner) -> ToolReturn[str]:
        """Erases all that is known about the user, once they have confirmed it."""
        if not is_confirmed(deps.question):
            return respond(deps, ToolResult("forget", "no_match", deps.space, message=CONFIRM))
        receipt, _ = await self._memory.erase(owner)
        messages = await self._forget_messages(_user(deps), None)
        counted = f"{receipt.entities} names and {receipt.relationships} relationships"
        message = f"Everything that was remembered about you is erased: {counted}."
        if messages:
            message += f" {NO_LONGER_FOUND.format(count=messages)}"
        return respond(deps, ToolResult("forget", "ok", deps.space, message=message))

    async def _names(self, deps: AgentDependencies, end: NamedEnd) -> Names:
        """Returns the names of an end, one of which must stand in the message; none for the user."""
        if not end.id:
            return (end.name,) if end.name else ()
        entity = await self._memory.get(_owner(deps), end.id)
        return (entity.name, *entity.aliases)

    async def _limit(self, deps: AgentDependencies, entities: int) -> Outcome | None:
        """Returns a limit that is reached already, to report it immediately."""
        seen = _seen(deps)
        used = await self._memory.usage(_owner(deps), seen.conversation_id)
        limits = self._memory.limits
        if entities and used.day_entities >= limits.max_entities_per_day:
            return Outcome.DAY_LIMIT
        if entities and used.conversation_entities >= limits.max_entities_per_conversation:
            return Outcome.CONVERSATION_LIMIT
        if not entities and (
            used.conversation_relationships >= limits.max_relationships_per_conversation
        ):
            return Outcome.CONVERSATION_LIMIT
        return None


def _owner(deps: AgentDependencies) -> Owner:
    return Owner(deps.space, deps.user_id or "")


def _user(deps: AgentDependencies) -> ConversationOwner:
    return ConversationOwner(deps.space, deps.user_id or "")


def _seen(deps: AgentDependencies) -> Provenance:
    return Provenance(deps.conversation_id or deps.run_id, deps.run_id)


def _key(ctx: Context) -> str:
    return f"tool {ctx.deps.run_id} {ctx.tool_call_id}"


def _end(text: str | None, type_: Type | None) -> NamedEnd:
    if text is None:
        return NamedEnd()
    if (id_ := _id(text)) is not None:
        return NamedEnd(id=id_)
    return NamedEnd(name=text, type=EntityType(type_) if type_ else None)


def _id(text: str) -> str | None:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def _item(one: Scored) -> ResultItem:
    found = one.relationship
    text = sentence(found, YOU, ended=found.delete_time if found.ended else None)
    said = Citation(
        document_id="",
        title="Your memory",
        source=f"conversation {found.last_seen.conversation_id}".strip(),
        chunk_id=found.last_seen.message_id,
        start=0,
        end=len(found.context or text),
        quote=found.context or text,
    )
    return ResultItem(
        kind="memory",
        text=text,
        score=one.score,
        subject="You" if found.source.is_user else found.source.name,
        relation=found.type,
        object="you" if found.target.is_user else found.target.name,
        citations=(said,),
        is_asked=one.is_asked,
    )


def _forgotten(deps: AgentDependencies, gone: Forgotten, messages: int) -> ToolResult:
    if gone.ambiguous:
        named = ", ".join(f"{one.name} ({one.type})" for one in gone.ambiguous)
        message = f"Several are named so: {named}. Which one is to be forgotten? Say its type too."
        return ToolResult("forget", "no_match", deps.space, message=message)
    statements = [_item(Scored(one, "", 1.0)).text.rstrip(".") for one in gone.relationships]
    said = [*(one.name for one in gone.entities), *(f"“{text}”" for text in statements)]
    more = f", and {len(said) - MAX_NAMED} more" if len(said) > MAX_NAMED else ""
    parts = [f"Forgotten: {', '.join(said[:MAX_NAMED])}{more}."] if said else []
    again = [_item(Scored(one, "", 1.0)).text.rstrip(".") for one in gone.resumed]
    parts += (
        [f"As before: {', '.join(f'“{text}”' for text in again[:MAX_NAMED])}."] if again else []
    )
    parts += [NO_LONGER_FOUND.format(count=messages)] if messages else []
    if not parts:
        return ToolResult("forget", "no_match", deps.space, message=NOTHING_KNOWN)
    total = len(said) + messages
    return ToolResult("forget", "ok", deps.space, total_count=total, message=" ".join(parts))


def _said(deps: AgentDependencies, tool: str, limit: Outcome | None) -> ToolReturn[str]:
    message = SAVED if limit is None else limit.value
    status: Literal["ok", "no_match"] = "ok" if limit is None else "no_match"
    return respond(deps, ToolResult(tool, status, deps.space, message=message))


def _refused(deps: AgentDependencies, tool: str, message: str) -> ToolReturn[str]:
    get_logger("agent").warning("save refused", tool=tool)
    return respond(deps, ToolResult(tool, "no_match", deps.space, message=message))


def _memory_unavailable(deps: AgentDependencies, tool: str, error: BraidError) -> ToolReturn[str]:
    if is_refusal(error):
        raise retry_for(error) from None
    return respond(
        deps,
        ToolResult(tool, "unavailable", deps.space, unavailable=("memory",), message=NO_MEMORY),
    )
