"""Facts: found by a question, or listed by subject, relation and object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from braid.graph.v1 import query_pb2, structure_pb2
from gateway.mcp.arguments import (
    Arguments,
    AsOf,
    Cursor,
    EntityName,
    KnownAt,
    PageLimit,
    Relation,
    SearchLimit,
    instant,
)
from gateway.mcp.calls import ToolCall
from gateway.mcp.cursors import Position
from gateway.mcp.legs import only_leg, outcome
from gateway.mcp.pages import Page
from gateway.mcp.results import Statement, ToolResult, count_line, fit, statement
from gateway.rest.mapping.entities import entity_selector, graph_name
from gateway.rest.mapping.field_types import Text
from gateway.rest.mapping.times import time_selector
from services.runtime.errors import FieldError, InvalidFieldError

SERVICE = "/braid.graph.v1.GraphQueryService/"
_SEARCH_NAMES = graph_name({"entity_name": "entity"})
_MAX_SEARCHED = 50
_LIMIT = 10


class SearchFactsArguments(Arguments):
    """Which facts to search for."""

    query: Annotated[Text, Field(description="The question.", min_length=1)]
    entity: EntityName | None = None
    relation: Relation | None = None
    as_of: AsOf | None = None
    known_at: KnownAt | None = None
    limit: SearchLimit = _LIMIT
    cursor: Cursor | None = None


class ListFactsArguments(Arguments):
    """Which facts to list."""

    subject: EntityName | None = Field(default=None, description="Only facts said of this entity.")
    relation: Relation | None = None
    object: EntityName | None = Field(
        default=None, description="Only facts with this entity at the other end."
    )
    as_of: AsOf | None = None
    known_at: KnownAt | None = None
    limit: PageLimit = 50
    cursor: Cursor | None = None


class FactsArguments(Arguments):
    """A question, or a subject, relation and object."""

    query: Text | None = Field(
        default=None, description="A question: facts are searched for. Without: they are listed."
    )
    entity: EntityName | None = Field(
        default=None,
        description="Only facts with this entity at either end; without `query`: what it is about.",
    )
    subject: EntityName | None = Field(
        default=None, description="Without `query`: only facts said of this entity."
    )
    object: EntityName | None = Field(
        default=None, description="Without `query`: only facts with this entity at the other end."
    )
    relation: Relation | None = None
    as_of: AsOf | None = None
    known_at: KnownAt | None = None
    limit: PageLimit | None = Field(
        default=None,
        description="How many: 1–50 with `query` or `entity` (default 10), else 1–200 (50).",
    )
    cursor: Cursor | None = None


class FactsResult(ToolResult):
    """Dated facts with their sources."""

    searched: dict[str, str] | None = Field(
        default=None, description="How the search ended, by part."
    )
    facts: list[Statement]


async def facts(arguments: FactsArguments, call: ToolCall) -> FactsResult:
    """Find dated facts of the knowledge graph: by a question, or by subject, relation and object."""
    given = arguments.model_dump(exclude_none=True)
    if arguments.query is not None or arguments.entity is not None:
        _refuse(given, ("subject", "object"), "goes without query and entity")
        if (arguments.limit or 0) > _MAX_SEARCHED:
            raise InvalidFieldError(FieldError("limit", "must be at most 50 with query or entity"))
        asked = {"query": arguments.entity, **given}  # an entity alone is its own question
        return await search_facts(SearchFactsArguments(**asked), call)
    return await list_facts(ListFactsArguments(**given), call)


async def search_facts(arguments: SearchFactsArguments, call: ToolCall) -> FactsResult:
    """Find dated facts that answer a question, best first."""
    cursor = call.cursor(arguments)
    first = cursor.read(arguments.cursor).shown
    request = query_pb2.SearchFactsRequest(
        query=arguments.query,
        limit=arguments.limit,
        entity_name=arguments.entity or "",
        relation_type=arguments.relation or "",
        as_of=time_selector(arguments.as_of),
        known_time=instant(arguments.known_at),
    )
    stub = call.clients.graph.SearchFacts
    answer = await call.rpc(SERVICE + "SearchFacts", stub, request, _SEARCH_NAMES)
    found = [statement(hit.fact) for hit in answer.hits]
    ended = outcome([only_leg("graph", answer)], found=bool(found))

    def build(shown: Sequence[Statement]) -> FactsResult:
        end = first + len(shown)
        more = end < len(found)
        return FactsResult(
            space=call.space,
            as_of=arguments.as_of or "now",
            known_at=arguments.known_at,
            status=ended.status,
            message=ended.message(count_line(len(shown), len(found), "facts", first, more=more)),
            next_cursor=cursor.write(Position("", end)) if more else None,
            searched=ended.legs,
            facts=list(shown),
        )

    return fit(found[first:], build)


async def list_facts(arguments: ListFactsArguments, call: ToolCall) -> FactsResult:
    """List stated facts by subject, relation and object, ordered by their beginning."""
    cursor = call.cursor(arguments)
    begin = cursor.read(arguments.cursor)
    request = structure_pb2.ListFactsRequest(
        subject=entity_selector("subject", arguments.subject, None, None),
        relation_type=arguments.relation or "",
        object=entity_selector("object", arguments.object, None, None),
        as_of=time_selector(arguments.as_of),
        known_time=instant(arguments.known_at),
        page_size=arguments.limit,
        page_token=begin.page_token,
    )
    answer = await call.rpc(SERVICE + "ListFacts", call.clients.graph.ListFacts, request)
    found = [statement(one) for one in answer.facts]
    page = Page(found, begin, answer.next_page_token, cursor, "facts")

    def build(shown: Sequence[Statement], words: str, next_cursor: str | None) -> FactsResult:
        return FactsResult(
            space=call.space,
            as_of=arguments.as_of or "now",
            known_at=arguments.known_at,
            status="found" if shown else "no_match",
            message=words,
            next_cursor=next_cursor,
            facts=list(shown),
        )

    return page.result(build)


def _refuse(given: dict[str, object], names: tuple[str, ...], description: str) -> None:
    wrong = [name for name in names if name in given]
    if wrong:
        raise InvalidFieldError(*(FieldError(name, description) for name in wrong))
