"""Searches for passages, in four modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from gateway.mcp.arguments import Arguments, Cursor, InstantText, SearchLimit, instant
from gateway.mcp.calls import ToolCall
from gateway.mcp.cursors import Position
from gateway.mcp.legs import LegEnd, expanded, only_leg, outcome, reported
from gateway.mcp.results import ToolResult, count_line, dated, fit
from gateway.rest.mapping.field_types import Text
from services.runtime.errors import FieldError, InvalidFieldError

_ALL = "/braid.agent.v1.SearchService/"
_CHUNKS = "/braid.vector.v1.VectorSearchService/"
_MAX_FACTS = 3
_LIMIT = 10
Expansion = Literal["none", "formula", "query_aware", "pagerank"]
Mode = Literal["comprehensive", "hybrid", "vector", "text"]


class SearchArguments(Arguments):
    """What to search for."""

    query: Annotated[
        Text, Field(description="The question, in the user's words. No query syntax.", min_length=1)
    ]
    mode: Mode = Field(
        default="comprehensive",
        description="comprehensive: documents and graph; hybrid: documents by meaning and words; "
        "vector: by meaning; text: by words, for names and codes.",
    )
    limit: SearchLimit = Field(default=_LIMIT, description="How many passages, 1–50.")
    as_of: InstantText | None = None
    expansion: Expansion | None = Field(
        default=None,
        description="How hits are followed along the graph (comprehensive, hybrid). Default: the mode's own.",
    )
    cursor: Cursor | None = None


class Passage(BaseModel):
    """A found passage and its document."""

    title: str
    document_id: str
    passage: str
    start_char: int | None = None
    page: int | None = None
    score: float
    facts: list[str] | None = None


class Found(NamedTuple):
    """What a search found: passages, how its parts ended, and without a match the nearest passages."""

    passages: list[Passage]
    legs: Sequence[LegEnd]
    nearest: list[Passage]


class SearchResult(ToolResult):
    """Passages, best first."""

    mode: Mode
    searched: dict[str, str] = Field(description="How each part of the search ended.")
    results: list[Passage]
    nearest: list[Passage] | None = Field(
        default=None,
        description="Without a match: the nearest passages. They are not considered relevant.",
    )


async def search(arguments: SearchArguments, call: ToolCall) -> SearchResult:
    """Find passages of the documents that answer a question, best first, with the facts that they state."""
    if arguments.expansion and arguments.mode in ("vector", "text"):
        raise InvalidFieldError(
            FieldError("expansion", f"does not go with mode {arguments.mode}: use hybrid")
        )
    cursor = call.cursor(arguments)
    first = cursor.read(arguments.cursor).shown
    found, legs, nearest = await _SEARCHES[arguments.mode](arguments, call)
    ended = outcome(legs, found=bool(found))
    left = found[first:]

    def build(shown: Sequence[Passage]) -> SearchResult:
        end = first + len(shown)
        more = end < len(found)
        words = count_line(len(shown), len(found), "passages", first, more=more)
        return SearchResult(
            space=call.space,
            as_of=arguments.as_of or "now",
            status=ended.status,
            message=ended.message(words),
            next_cursor=cursor.write(Position("", end)) if more else None,
            mode=arguments.mode,
            searched=ended.legs,
            results=list(shown),
            nearest=nearest or None,
        )

    return fit(left, build)


async def _comprehensive(arguments: SearchArguments, call: ToolCall) -> Found:
    request = search_pb2.ComprehensiveSearchRequest(
        query=arguments.query,
        limit=arguments.limit,
        as_of=instant(arguments.as_of),
        include=[search_pb2.ANSWER_PART_RESULTS, search_pb2.ANSWER_PART_LEGS],
        expansion=_expansion(arguments),
    )
    stub = call.clients.search.ComprehensiveSearch
    answer = await call.rpc(_ALL + "ComprehensiveSearch", stub, request)
    return Found(
        [_entry(one) for one in answer.results],
        [*(reported(leg) for leg in answer.legs), *expanded(answer)],
        [_entry(one) for one in answer.nearest],
    )


async def _hybrid(arguments: SearchArguments, call: ToolCall) -> Found:
    request = vector_pb2.HybridSearchRequest(
        query=arguments.query, limit=arguments.limit, as_of=instant(arguments.as_of)
    )
    if arguments.expansion:
        asked = search_pb2.ExpandedHybridSearchRequest(
            search=request, expansion=_expansion(arguments)
        )
        answer = await call.rpc(
            _ALL + "ExpandedHybridSearch", call.clients.search.ExpandedHybridSearch, asked
        )
        legs = [reported(answer.leg), *expanded(answer)]
        nearest = [_passage(hit) for hit in answer.nearest]
        return Found([_passage(one.hit) for one in answer.hits], legs, nearest)
    stub = call.clients.chunks.HybridSearch
    return _of_chunks("hybrid", await call.rpc(_CHUNKS + "HybridSearch", stub, request))


async def _vector(arguments: SearchArguments, call: ToolCall) -> Found:
    request = vector_pb2.VectorSearchRequest(
        query=arguments.query, limit=arguments.limit, as_of=instant(arguments.as_of)
    )
    stub = call.clients.chunks.VectorSearch
    return _of_chunks("vector", await call.rpc(_CHUNKS + "VectorSearch", stub, request))


async def _text(arguments: SearchArguments, call: ToolCall) -> Found:
    request = vector_pb2.TextSearchRequest(
        query=arguments.query, limit=arguments.limit, as_of=instant(arguments.as_of)
    )
    stub = call.clients.chunks.TextSearch
    return _of_chunks("text", await call.rpc(_CHUNKS + "TextSearch", stub, request))


_SEARCHES = {
    "comprehensive": _comprehensive,
    "hybrid": _hybrid,
    "vector": _vector,
    "text": _text,
}


def _of_chunks(name: str, answer: Any) -> Found:
    nearest = [_passage(hit) for hit in getattr(answer, "nearest", ())]
    return Found([_passage(hit) for hit in answer.hits], [only_leg(name, answer)], nearest)


def _entry(one: search_pb2.SearchResult) -> Passage:
    return Passage(
        title=one.title,
        document_id=one.document_id,
        passage=one.content,
        score=round(one.score, 3),
        facts=[dated(fact) for fact in one.facts[:_MAX_FACTS]] or None,
    )


def _passage(hit: Any) -> Passage:
    return Passage(
        title=hit.chunk.document_title,
        document_id=hit.chunk.document_id,
        passage=hit.chunk.content,
        start_char=hit.chunk.start_char,
        page=hit.chunk.page or None,
        score=round(hit.score, 3),
    )


def _expansion(arguments: SearchArguments) -> expansion_pb2.ExpansionOptions | None:
    if arguments.expansion is None:
        return None
    mode = expansion_pb2.ExpansionMode.Value(f"EXPANSION_MODE_{arguments.expansion.upper()}")
    return expansion_pb2.ExpansionOptions(mode=mode)
