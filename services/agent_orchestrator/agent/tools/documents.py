"""The tools that search documents, alone or together with the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic_ai import RunContext, ToolReturn

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.results import Status, ToolResult
from services.agent_orchestrator.agent.tools.arguments import (
    Expansion,
    Limit,
    Query,
    Time,
    Weight,
    instant,
)
from services.agent_orchestrator.agent.tools.items import passage, search_result
from services.agent_orchestrator.agent.tools.tool_result import (
    LegClock,
    is_refusal,
    respond,
    retry_for,
)
from services.agent_orchestrator.expansion.expander import OFF
from services.runtime.errors import BraidError
from services.runtime.times import to_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from braid.vector.v1 import chunks_pb2
    from services.agent_orchestrator.search.legs import LegOutcome

Context = RunContext[AgentDependencies]

DOCUMENTS, GRAPH = "documents", "graph"
NO_DOCUMENTS = "The documents cannot be searched now."
NO_GRAPH = "The graph cannot be searched now."
NOTHING_FOUND = "Nothing relevant was found in the documents."
_UNAVAILABLE = (legs_pb2.LEG_STATUS_UNAVAILABLE, legs_pb2.LEG_STATUS_TIMED_OUT)
_PARTS = {legs_pb2.LEG_VECTOR: DOCUMENTS, legs_pb2.LEG_GRAPH: GRAPH}
_MAX_QUERY = 4096


async def vector_search(ctx: Context, query: Query, limit: Limit | None = None) -> ToolReturn[str]:
    """Find passages that mean something similar, whatever words they use. For paraphrases and vague descriptions.

    Args:
        query: What to look for, in plain words.
        limit: How many passages at most.
    """
    deps = ctx.deps
    request = vector_pb2.VectorSearchRequest(query=query, limit=_limit(deps, limit))
    clock = LegClock(deps, ctx.tool_call_id or "", legs_pb2.LEG_VECTOR)
    try:
        answer = await deps.tiers.vector_search(request)
    except BraidError as error:
        return _documents_unavailable(ctx, "vector_search", clock, error)
    clock.answered(answer)
    return _passages(deps, "vector_search", answer.hits, "ok")


async def hybrid_search(
    ctx: Context,
    query: Query,
    limit: Limit | None = None,
    text_weight: Weight | None = None,
    expansion: Expansion | None = None,
) -> ToolReturn[str]:
    """Find passages by meaning and exact words together. For names, codes, error messages and quoted words.

    Args:
        query: What to look for, with the exact words that matter.
        limit: How many passages at most.
        text_weight: Share of exact words in the score, 0 to 1.
        expansion: Follow the graph from what is found: formula (relations), query_aware or pagerank (shared names).
    """
    deps = ctx.deps
    request = vector_pb2.HybridSearchRequest(
        query=query, limit=_limit(deps, limit), text_weight=text_weight
    )
    options = _expansion(deps, expansion)
    if options.mode not in OFF:
        return await _expanded_hybrid(ctx, request, options)
    clock = LegClock(deps, ctx.tool_call_id or "", legs_pb2.LEG_VECTOR)
    try:
        answer = await deps.tiers.hybrid_search(request)
    except BraidError as error:
        return _documents_unavailable(ctx, "hybrid_search", clock, error)
    clock.answered(answer)
    degraded = answer.leg.status == legs_pb2.LEG_STATUS_DEGRADED
    return _passages(deps, "hybrid_search", answer.hits, "degraded" if degraded else "ok")


async def comprehensive_search(
    ctx: Context,
    query: Query,
    limit: Limit | None = None,
    reference_time: Time | None = None,
    expansion: Expansion | None = None,
) -> ToolReturn[str]:
    """Find passages and facts about a topic at once. For open questions on what documents say: how, why, what, explain.

    Args:
        query: What to look for, in plain words.
        limit: How many results at most.
        reference_time: Search the documents and facts as they were at this time instead of now.
        expansion: How the graph is followed from what is found: query_aware (the default), pagerank, formula (stated
            relations) or none.
    """
    deps = ctx.deps
    as_of = None if reference_time is None else instant(reference_time, deps.zone)
    request = search_pb2.ComprehensiveSearchRequest(
        query=query,
        limit=_limit(deps, limit),
        use_vector=deps.search_preferences.use_vector,
        use_graph=deps.search_preferences.use_graph,
        as_of=None if as_of is None else to_timestamp(as_of),
        expansion=_expansion(deps, expansion),
    )

    def ended(outcome: LegOutcome) -> None:
        deps.leg_ended(ctx.tool_call_id or "", outcome.report)

    try:
        answer = await deps.tiers.patiently(lambda: deps.search.run(request, ended))
    except BraidError as error:
        if is_refusal(error):
            raise retry_for(error) from None
        unavailable = ToolResult(
            "comprehensive_search",
            "unavailable",
            deps.space,
            unavailable=(DOCUMENTS, GRAPH),
            message=f"{NO_DOCUMENTS} {NO_GRAPH}",
        )
        return respond(deps, unavailable)
    chunks = {hit.chunk.id: hit.chunk for hit in answer.vector_results}
    missing = [result.id for result in answer.results if result.id not in chunks]
    chunks |= await read_chunks(deps, [one for one in missing if _is_chunk(answer, one)])
    items = tuple(search_result(result, chunks) for result in answer.results)
    unavailable_parts = tuple(_PARTS[leg.leg] for leg in answer.legs if leg.status in _UNAVAILABLE)
    # Reported only if the model asked for a mode: otherwise the legs say what could not be searched.
    if expansion is not None and _unexpanded(answer.expansion) and not unavailable_parts:
        unavailable_parts = (GRAPH,)
    status: Status = "degraded" if unavailable_parts else ("ok" if items else "no_match")
    result = ToolResult(
        "comprehensive_search",
        status,
        deps.space,
        as_of=as_of,
        items=items,
        total_count=len(items),
        unavailable=unavailable_parts,
        message=_sentences(unavailable_parts, nothing=not items),
    )
    return respond(deps, result)


async def read_chunks(
    deps: AgentDependencies, chunk_ids: Sequence[str]
) -> dict[str, chunks_pb2.Chunk]:
    """Returns the readable chunks by id. Citations of other chunks have no position in their document."""
    if not chunk_ids:
        return {}
    try:
        answer = await deps.tiers.get_chunks(
            vector_pb2.GetChunksRequest(chunk_ids=list(dict.fromkeys(chunk_ids))[:1000])
        )
    except BraidError:
        return {}
    return {chunk.id: chunk for chunk in answer.chunks}


async def with_documents(
    ctx: Context, result: ToolResult, query: str, heading: str = ""
) -> ToolReturn[str]:
    """Returns the answer of a graph tool without facts, with the documents' passages on the question."""
    deps = ctx.deps
    if not deps.search_preferences.use_vector:
        return respond(deps, result, heading)
    request = vector_pb2.HybridSearchRequest(
        query=query[:_MAX_QUERY], limit=deps.search_preferences.default_limit
    )
    clock = LegClock(deps, ctx.tool_call_id or "", legs_pb2.LEG_VECTOR)
    try:
        answer = await deps.tiers.hybrid_search(request)
    except BraidError as error:
        clock.failed(error)
        unavailable = replace(
            result,
            unavailable=(*result.unavailable, DOCUMENTS),
            message=f"{result.message} {NO_DOCUMENTS}",
        )
        return respond(deps, unavailable, heading)
    clock.answered(answer)
    items = tuple(passage(hit.chunk, hit.score) for hit in answer.hits)
    said = "The documents say:" if items else NOTHING_FOUND
    found = replace(result, items=items, total_count=len(items), message=f"{result.message} {said}")
    return respond(deps, found, heading)


async def _expanded_hybrid(
    ctx: Context,
    request: vector_pb2.HybridSearchRequest,
    options: expansion_pb2.ExpansionOptions,
) -> ToolReturn[str]:
    deps = ctx.deps
    asked = search_pb2.ExpandedHybridSearchRequest(search=request, expansion=options)
    clock = LegClock(deps, ctx.tool_call_id or "", legs_pb2.LEG_VECTOR)
    try:
        answer = await deps.tiers.patiently(lambda: deps.hybrid.run(asked))
    except BraidError as error:
        return _documents_unavailable(ctx, "hybrid_search", clock, error)
    deps.leg_ended(ctx.tool_call_id or "", answer.leg)
    hits = [one.hit for one in answer.hits]
    if _unexpanded(answer.expansion):
        return _passages(deps, "hybrid_search", hits, "degraded", unavailable=(GRAPH,))
    degraded = answer.leg.status == legs_pb2.LEG_STATUS_DEGRADED
    return _passages(deps, "hybrid_search", hits, "degraded" if degraded else "ok")


def _passages(
    deps: AgentDependencies,
    tool: str,
    hits: Iterable[chunks_pb2.ChunkHit],
    status: Status,
    unavailable: tuple[str, ...] = (),
) -> ToolReturn[str]:
    items = tuple(passage(hit.chunk, hit.score) for hit in hits)
    result = ToolResult(
        tool,
        status if items or unavailable else "no_match",
        deps.space,
        items=items,
        total_count=len(items),
        unavailable=unavailable,
        message=_sentences(unavailable, nothing=not items),
    )
    return respond(deps, result)


def _documents_unavailable(
    ctx: Context, tool: str, clock: LegClock, error: BraidError
) -> ToolReturn[str]:
    if is_refusal(error):
        raise retry_for(error) from None
    clock.failed(error)
    unavailable = ToolResult(
        tool, "unavailable", ctx.deps.space, unavailable=(DOCUMENTS,), message=NO_DOCUMENTS
    )
    return respond(ctx.deps, unavailable)


def _sentences(unavailable: Sequence[str], *, nothing: bool) -> str:
    said = {DOCUMENTS: NO_DOCUMENTS, GRAPH: NO_GRAPH}
    parts = [said[part] for part in unavailable if part in said]
    if nothing and DOCUMENTS not in unavailable:
        parts.append(NOTHING_FOUND)
    return " ".join(parts)


def _is_chunk(answer: search_pb2.ComprehensiveSearchResponse, result_id: str) -> bool:
    """Whether a result is a chunk: a result without a chunk has the id of its fact."""
    return all(
        fact.id != result_id
        for result in answer.results
        if result.id == result_id
        for fact in result.facts
    )


def _expansion(deps: AgentDependencies, wanted: Expansion | None) -> expansion_pb2.ExpansionOptions:
    """How to expand; the search's own way where the model names none. A graph that is switched off is not followed."""
    if not deps.search_preferences.use_graph:
        return expansion_pb2.ExpansionOptions(mode=expansion_pb2.EXPANSION_MODE_NONE)
    name = "unspecified" if wanted is None else wanted
    mode = expansion_pb2.ExpansionMode.Value(f"EXPANSION_MODE_{name.upper()}")
    return expansion_pb2.ExpansionOptions(mode=mode)


def _unexpanded(report: expansion_pb2.ExpansionReport) -> bool:
    """Whether the graph could not be asked for what is related."""
    return report.status == legs_pb2.LEG_STATUS_DEGRADED


def _limit(deps: AgentDependencies, limit: int | None) -> int:
    return deps.search_preferences.default_limit if limit is None else limit
