"""Entities: their neighborhoods, their history, and paths between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from braid.graph.v1 import history_pb2, query_pb2, structure_pb2
from gateway.mcp.arguments import (
    Arguments,
    AsOf,
    Cursor,
    EntityName,
    EntityType,
    EntityUuid,
    InstantText,
    KnownAt,
    PageLimit,
    Relation,
    instant,
    narrowed,
)
from gateway.mcp.calls import ToolCall
from gateway.mcp.cursors import Position
from gateway.mcp.pages import Page
from gateway.mcp.results import (
    EntityChoice,
    Statement,
    ToolResult,
    choices,
    count_line,
    dated,
    day_or_time,
    fit,
    statement,
)
from gateway.mcp.tools.facts import SERVICE
from gateway.rest.mapping.entities import graph_name, required_entity
from gateway.rest.mapping.times import time_selector

# Withdrawn facts that a history lists.
_MAX_WITHDRAWN = 20
_NEIGHBORHOOD_NAMES = graph_name({"entity_name": "entity", "entity_type": "entity_type"})


class NeighborhoodArguments(Arguments):
    """Whose neighbors."""

    entity: EntityName
    entity_type: EntityType | None = None
    as_of: InstantText | None = None
    limit: Annotated[int, Field(ge=1, le=100, description="How many neighbors, 1–100.")] = 20
    cursor: Cursor | None = None


class HistoryArguments(Arguments):
    """Whose history."""

    entity: EntityName | None = None
    entity_type: EntityType | None = None
    entity_uuid: EntityUuid | None = None
    relation: Relation | None = None
    since: InstantText | None = Field(
        default=None, description="Leave out facts that had ended by this day or time."
    )
    as_of: InstantText | None = None
    known_at: KnownAt | None = None
    withdrawn: bool = Field(default=False, description="Also list facts that were withdrawn.")
    limit: PageLimit = 50
    cursor: Cursor | None = None


class PathsArguments(Arguments):
    """Between which entities."""

    entity: EntityName | None = None
    entity_type: EntityType | None = None
    entity_uuid: EntityUuid | None = None
    target: EntityName | None = Field(default=None, description="The entity at the other end.")
    target_type: EntityType | None = None
    target_uuid: EntityUuid | None = None
    max_hops: Annotated[int, Field(ge=1, le=6, description="How many facts long at most.")] = 4
    as_of: AsOf | None = None
    limit: Annotated[int, Field(ge=1, le=20, description="How many paths.")] = 5
    cursor: Cursor | None = None


class ListEntitiesArguments(Arguments):
    """Which entities."""

    entity_type: EntityType | None = Field(default=None, description="Only entities of this type.")
    order: Literal["name", "mentions"] = "mentions"
    limit: PageLimit = 50
    cursor: Cursor | None = None


class EntityArguments(Arguments):
    """An entity, and what to see of it."""

    view: Literal["neighborhood", "history", "paths", "list"] = Field(
        default="neighborhood",
        description="neighborhood: what joins it to others; history: its facts over time; paths: the ways to "
        "`target`; list: which entities there are.",
    )
    entity: EntityName | None = None
    entity_type: EntityType | None = None
    entity_uuid: EntityUuid | None = Field(default=None, description="Instead of the name.")
    target: EntityName | None = Field(default=None, description="paths: the other end.")
    target_type: EntityType | None = None
    target_uuid: EntityUuid | None = None
    relation: Relation | None = Field(default=None, description="history: only this relation.")
    since: InstantText | None = Field(
        default=None, description="history: leave out what had ended by this day or time."
    )
    as_of: AsOf | None = None
    known_at: KnownAt | None = Field(default=None, description="history: as known at this time.")
    withdrawn: bool | None = Field(
        default=None, description="history: also list facts that were withdrawn."
    )
    max_hops: int | None = Field(default=None, description="paths: 1–6 facts long. Default 4.")
    order: Literal["name", "mentions"] | None = Field(default=None, description="list: its order.")
    limit: int | None = Field(default=None, description="How many. Default by view.")
    cursor: Cursor | None = None


class EntitySummary(BaseModel):
    """An entity."""

    name: str
    type: str
    summary: str | None = None
    mentions: int | None = None


class NeighborhoodResult(ToolResult):
    """An entity and the facts that join it to its neighbors."""

    view: Literal["neighborhood"] = "neighborhood"
    entity: EntitySummary | None = None
    neighbor_count: int
    same_name: list[EntityChoice] | None = None
    facts: list[Statement]


class HistoryResult(ToolResult):
    """An entity's facts in time order, and its history in numbers."""

    view: Literal["history"] = "history"
    entity: EntitySummary | None = None
    same_name: list[EntityChoice] | None = None
    fact_count: int | None = None
    current_count: int | None = None
    never_changed: bool | None = None
    unchanged_since: str | None = None
    withdrawn: list[str] | None = None
    facts: list[Statement]


class EntityPath(BaseModel):
    """A way from one entity to another."""

    nodes: list[str]
    facts: list[str]


class PathsResult(ToolResult):
    """The shortest ways between two entities."""

    view: Literal["paths"] = "paths"
    source_choices: list[EntityChoice] | None = None
    target_choices: list[EntityChoice] | None = None
    paths: list[EntityPath]


class EntitiesResult(ToolResult):
    """The entities of the space."""

    view: Literal["list"] = "list"
    entities: list[EntitySummary]


class EntityResult(ToolResult):
    """One of the views: fields of the others are left out."""

    view: Literal["neighborhood", "history", "paths", "list"]
    entity: EntitySummary | None = None
    neighbor_count: int | None = None
    same_name: list[EntityChoice] | None = None
    fact_count: int | None = None
    current_count: int | None = None
    never_changed: bool | None = None
    unchanged_since: str | None = None
    withdrawn: list[str] | None = None
    facts: list[Statement] | None = None
    source_choices: list[EntityChoice] | None = None
    target_choices: list[EntityChoice] | None = None
    paths: list[EntityPath] | None = None
    entities: list[EntitySummary] | None = None


async def entity(arguments: EntityArguments, call: ToolCall) -> ToolResult:
    """See an entity: its neighbors, its history, the ways to another one; or which entities there are."""
    match arguments.view:
        case "neighborhood":
            of_view = narrowed(arguments, NeighborhoodArguments, arguments.view)
            return await neighborhood(of_view, call)
        case "history":
            return await history(narrowed(arguments, HistoryArguments, arguments.view), call)
        case "paths":
            return await paths(narrowed(arguments, PathsArguments, arguments.view), call)
        case "list":
            of_list = narrowed(arguments, ListEntitiesArguments, arguments.view)
            return await list_entities(of_list, call)


async def neighborhood(arguments: NeighborhoodArguments, call: ToolCall) -> NeighborhoodResult:
    """See an entity's direct neighbors and the facts that join them."""
    cursor = call.cursor(arguments)
    first = cursor.read(arguments.cursor).shown
    request = query_pb2.GetNeighborhoodRequest(
        entity_name=arguments.entity,
        entity_type=arguments.entity_type or "",
        limit=arguments.limit,
        as_of=time_selector(arguments.as_of),
    )
    stub = call.clients.graph.GetNeighborhood
    answer = await call.rpc(SERVICE + "GetNeighborhood", stub, request, _NEIGHBORHOOD_NAMES)
    found = [statement(edge) for edge in answer.edges]

    def build(shown: Sequence[Statement]) -> NeighborhoodResult:
        end = first + len(shown)
        more = end < len(found)
        words = f"Found {answer.neighbor_count} neighbors, looked at {len(answer.nodes)}. "
        words += count_line(len(shown), len(found), "facts", first, more=more)
        if answer.truncated:
            words += " For more neighbors raise `limit`."
        return NeighborhoodResult(
            space=call.space,
            as_of=arguments.as_of or "now",
            status="found" if found else "no_match",
            message=words,
            next_cursor=cursor.write(Position("", end)) if more else None,
            entity=_summary(answer.center),
            neighbor_count=answer.neighbor_count,
            same_name=choices(answer.homonyms),
            facts=list(shown),
        )

    return fit(found[first:], build)


async def history(arguments: HistoryArguments, call: ToolCall) -> HistoryResult:
    """See an entity's facts over time, current and past, and whether anything ever changed."""
    cursor = call.cursor(arguments)
    begin = cursor.read(arguments.cursor)
    request = history_pb2.GetEntityHistoryRequest(
        entity=required_entity(
            "entity", arguments.entity, arguments.entity_type, arguments.entity_uuid
        ),
        relation_type=arguments.relation or "",
        since_time=instant(arguments.since),
        as_of=instant(arguments.as_of),
        known_time=instant(arguments.known_at),
        include_withdrawn=arguments.withdrawn,
        page_size=arguments.limit,
        page_token=begin.page_token,
    )
    stub = call.clients.graph.GetEntityHistory
    answer = await call.rpc(SERVICE + "GetEntityHistory", stub, request)
    found = [statement(one) for one in answer.facts]
    page = Page(found, begin, answer.next_page_token, cursor, "facts")
    ambiguous = bool(answer.homonyms) and not answer.HasField("entity")

    def build(shown: Sequence[Statement], words: str, next_cursor: str | None) -> HistoryResult:
        result = HistoryResult(
            space=call.space,
            as_of=arguments.as_of or "now",
            known_at=arguments.known_at,
            status="found" if shown else "no_match",
            message=words,
            next_cursor=next_cursor,
            entity=_summary(answer.entity) if answer.HasField("entity") else None,
            same_name=choices(answer.homonyms),
            withdrawn=[dated(one.fact) for one in answer.withdrawn[:_MAX_WITHDRAWN]] or None,
            facts=list(shown),
        )
        if ambiguous:
            return result.model_copy(
                update={"status": "ambiguous", "message": _choose("entity_type", "entity_uuid")}
            )
        return result.model_copy(update=_numbers(answer))

    return page.result(build)


async def paths(arguments: PathsArguments, call: ToolCall) -> PathsResult:
    """Find the shortest ways along facts between two entities."""
    cursor = call.cursor(arguments)
    first = cursor.read(arguments.cursor).shown
    request = structure_pb2.FindPathsRequest(
        source=required_entity(
            "entity", arguments.entity, arguments.entity_type, arguments.entity_uuid
        ),
        target=required_entity(
            "target", arguments.target, arguments.target_type, arguments.target_uuid
        ),
        max_hops=arguments.max_hops,
        limit=arguments.limit,
        as_of=time_selector(arguments.as_of),
    )
    named = graph_name({"source": "entity", "source_type": "entity_type"})
    answer = await call.rpc(SERVICE + "FindPaths", call.clients.graph.FindPaths, request, named)
    found = [
        EntityPath(
            nodes=[node.name for node in one.nodes], facts=[fact.statement for fact in one.facts]
        )
        for one in answer.paths
    ]
    ambiguous = bool(answer.source_homonyms or answer.target_homonyms)

    def build(shown: Sequence[EntityPath]) -> PathsResult:
        end = first + len(shown)
        more = end < len(found)
        result = PathsResult(
            space=call.space,
            as_of=arguments.as_of or "now",
            status="found" if found else "no_match",
            message=count_line(len(shown), len(found), "paths", first, more=more),
            next_cursor=cursor.write(Position("", end)) if more else None,
            source_choices=choices(answer.source_homonyms),
            target_choices=choices(answer.target_homonyms),
            paths=list(shown),
        )
        return result.model_copy(update=_path_end(answer, ambiguous=ambiguous, found=bool(found)))

    return fit(found[first:], build)


async def list_entities(arguments: ListEntitiesArguments, call: ToolCall) -> EntitiesResult:
    """List the entities of the space, the most mentioned first or by name."""
    cursor = call.cursor(arguments)
    begin = cursor.read(arguments.cursor)
    request = query_pb2.ListEntitiesRequest(
        type=arguments.entity_type or "",
        page_size=arguments.limit,
        page_token=begin.page_token,
        order_by=query_pb2.EntityOrder.Value(f"ENTITY_ORDER_{arguments.order.upper()}"),
        document_titles=query_pb2.DOCUMENT_TITLES_EXCLUDE,
    )
    answer = await call.rpc(SERVICE + "ListEntities", call.clients.graph.ListEntities, request)
    found = [_summary(one) for one in answer.entities]
    page = Page(found, begin, answer.next_page_token, cursor, "entities")

    def build(
        shown: Sequence[EntitySummary], words: str, next_cursor: str | None
    ) -> EntitiesResult:
        return EntitiesResult(
            space=call.space,
            status="found" if shown or next_cursor else "no_match",
            message=words,
            next_cursor=next_cursor,
            entities=list(shown),
        )

    return page.result(build)


def _summary(message: Any) -> EntitySummary:
    return EntitySummary(
        name=message.name,
        type=message.type,
        summary=message.summary or None,
        mentions=message.mention_count or None,
    )


def _numbers(answer: history_pb2.GetEntityHistoryResponse) -> dict[str, Any]:
    if not answer.HasField("summary"):
        return {}
    summary = answer.summary
    return {
        "fact_count": summary.fact_count,
        "current_count": summary.current_fact_count,
        "never_changed": summary.never_changed,
        "unchanged_since": day_or_time(summary, "unchanged_since_time"),
    }


def _path_end(
    answer: structure_pb2.FindPathsResponse, *, ambiguous: bool, found: bool
) -> dict[str, Any]:
    if ambiguous:
        return {"status": "ambiguous", "message": _choose("…_type", "…_uuid")}
    if answer.incomplete and not found:
        return {
            "status": "could_not_search",
            "message": "The search was given up at its limits: whether there is a path is not known. "
            "Lower `max_hops`, or name other entities.",
        }
    if not found:
        return {"message": "No path of this length joins them."}
    return {}


def _choose(*names: str) -> str:
    return f"Several entities share the name: choose one by {' or '.join(names)}."
