"""The tool that searches statements about the texts: findings, intents and outcomes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints
from pydantic_ai import RunContext, ToolReturn

from braid.common.v1 import legs_pb2
from braid.graph.v1 import findings_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.results import ToolResult
from services.agent_orchestrator.agent.tools.arguments import Limit, Name, Query
from services.agent_orchestrator.agent.tools.documents import GRAPH, NO_GRAPH, read_chunks
from services.agent_orchestrator.agent.tools.items import finding_item
from services.agent_orchestrator.agent.tools.tool_result import (
    LegClock,
    is_refusal,
    respond,
    retry_for,
)
from services.runtime.errors import BraidError

Kind = Literal["finding", "intent", "outcome"]
Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)]

NO_FINDINGS = "No finding, intent or outcome matches."
_KINDS = {
    "finding": findings_pb2.FINDING_KIND_FINDING,
    "intent": findings_pb2.FINDING_KIND_INTENT,
    "outcome": findings_pb2.FINDING_KIND_OUTCOME,
}


async def search_findings(
    ctx: RunContext[AgentDependencies],
    *,
    query: Query | None = None,
    kind: Kind | None = None,
    type: Short | None = None,  # noqa: A002 - the model's word for it
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None,
    status: Short | None = None,
    owner: Short | None = None,
    about_entity: Name | None = None,
    limit: Limit | None = None,
) -> ToolReturn[str]:
    """List findings, intents (goals with status and owner) and outcomes (metrics, blockers) noted about the texts.

    Args:
        query: What they should be about, in plain words; all that the other arguments let through without it.
        kind: Only findings, only intents or only outcomes.
        type: Only findings of this type, such as risk.
        min_confidence: Only findings that are at least so sure, 0 to 1.
        status: Only intents with this status.
        owner: Only intents of this owner.
        about_entity: Only those about this entity, by its exact name.
        limit: How many at most.
    """
    deps = ctx.deps
    clock = LegClock(deps, ctx.tool_call_id or "", legs_pb2.LEG_GRAPH)
    chosen = findings_pb2.FindingFilter(
        kinds=[_KINDS[kind]] if kind else [],
        type=type or "",
        confidence=None
        if min_confidence is None
        else findings_pb2.NumberRange(at_least=min_confidence),
        status=status or "",
        owner=owner or "",
        about_entity=findings_pb2.FindingSubject(name=about_entity) if about_entity else None,
    )
    request = findings_pb2.SearchFindingsRequest(
        query=query or "",
        filter=chosen,
        page_size=deps.search_preferences.default_limit if limit is None else limit,
    )
    try:
        answer = await deps.tiers.search_findings(request)
    except BraidError as error:
        if is_refusal(error):
            raise retry_for(error) from None
        clock.failed(error)
        unavailable = ToolResult(
            "search_findings", "unavailable", deps.space, unavailable=(GRAPH,), message=NO_GRAPH
        )
        return respond(deps, unavailable)
    clock.answered(answer)
    cited = [source.chunk_id for hit in answer.hits for source in hit.finding.sources]
    chunks = await read_chunks(deps, cited)
    items = tuple(finding_item(hit, chunks) for hit in answer.hits)
    degraded = answer.leg.status == legs_pb2.LEG_STATUS_DEGRADED
    more = " There are more than are listed." if answer.next_page_token else ""
    result = ToolResult(
        "search_findings",
        ("degraded" if degraded else "ok") if items else "no_match",
        deps.space,
        entity=about_entity or "",
        items=items,
        total_count=len(items),
        next_page=answer.next_page_token,
        message=more.strip() if items else NO_FINDINGS,
    )
    return respond(deps, result)
