"""The tools that query the knowledge graph: current facts, an entity's history, one time, the change between two times.

If the graph cannot answer (it is unavailable or empty, or does not know the entity), a tool says so and searches the
documents instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pydantic_ai import ModelRetry, RunContext, ToolReturn

from braid.common.v1 import legs_pb2
from braid.graph.v1 import entities_pb2, history_pb2, query_pb2
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.results import MAX_ITEMS, ResultItem, ToolResult
from services.agent_orchestrator.agent.tools.arguments import (
    EntityType,
    Limit,
    Name,
    PageToken,
    Query,
    RelationType,
    Time,
    instant,
    time_selector,
)
from services.agent_orchestrator.agent.tools.documents import (
    GRAPH,
    read_chunks,
    with_documents,
)
from services.agent_orchestrator.agent.tools.graph_calls import (
    EMPTY_GRAPH,
    GraphCall,
    Times,
    begin_graph_call,
    entity_selector,
    graph_unavailable,
    is_empty,
    knows_entity,
    nothing_changed,
    nothing_then,
    times_of,
    unknown,
    unknown_or_empty,
)
from services.agent_orchestrator.agent.tools.history_text import history_heading
from services.agent_orchestrator.agent.tools.items import (
    candidates,
    changed_item,
    cited_chunk_ids,
    fact_item,
)
from services.agent_orchestrator.agent.tools.tool_result import (
    is_unknown,
    respond,
    shown_items,
)
from services.runtime.errors import BraidError
from services.runtime.times import to_timestamp

if TYPE_CHECKING:
    from braid.common.v1 import retrieval_pb2
    from braid.graph.v1 import facts_pb2
    from braid.vector.v1 import chunks_pb2

Context = RunContext[AgentDependencies]

NO_FACTS = "The knowledge graph has no fact on this."
# One full page of the graph tier: the items to show are chosen from it by the question's words.
_PAGE: Final = 200
_HISTORY_PAGE: Final = 50
# The page that begins a history in time order, without the current facts that its first answer puts first.
_BEGINNING: Final = "beginning"
_NO_NEXT_PAGE: Final = "There are more facts, but the next page could not be read."
# As long as the graph's page tokens are.
_LONG_TOKEN: Final = "." * 200
_WORD = re.compile(r"\w{3,}")


async def search_knowledge_graph(
    ctx: Context,
    *,
    query: Query,
    entity_name: Name | None = None,
    relationship_type: RelationType | None = None,
    limit: Limit | None = None,
    reference_time: Time | None = None,
    reference_end: Time | None = None,
) -> ToolReturn[str]:
    """Find relationships between named people, organizations and things: who owns, uses, works with or depends on what.

    Args:
        query: The question in plain words.
        entity_name: Only facts with this entity, by its exact name.
        relationship_type: Only facts of this relationship, such as OWNS.
        limit: How many facts at most.
        reference_time: Facts that held at this time instead of now.
        reference_end: With reference_time: facts that held at any moment from then until before this time.
    """
    deps = ctx.deps
    call = begin_graph_call(ctx, "search_knowledge_graph", entity_name or "")
    selector = _selector(deps, reference_time, reference_end)
    request = query_pb2.SearchFactsRequest(
        query=query,
        limit=deps.search_preferences.default_limit if limit is None else limit,
        entity_name=entity_name or "",
        relation_type=relationship_type or "",
        as_of=selector,
    )
    try:
        answer = await deps.tiers.search_facts(request)
        known = bool(answer.hits) or await knows_entity(deps, entity_name)
        empty = not answer.hits and await is_empty(deps)
    except BraidError as error:
        return await graph_unavailable(call, error)
    call.clock.answered(answer)
    if empty:
        return await with_documents(
            ctx, call.result("empty_graph", message=EMPTY_GRAPH), call.question()
        )
    if not known:
        return await unknown(call)
    if not answer.hits:
        return await with_documents(ctx, call.result("no_match", message=NO_FACTS), call.question())
    chunks = await read_chunks(deps, cited_chunk_ids(hit.fact for hit in answer.hits))
    items = tuple(fact_item(hit.fact, chunks, score=hit.score) for hit in answer.hits)
    degraded = answer.leg.status == legs_pb2.LEG_STATUS_DEGRADED
    return respond(
        deps,
        call.result(
            "degraded" if degraded else "ok",
            items=items,
            total_count=len(items),
            **times_of(deps, reference_time, reference_end),
        ),
    )


async def get_entity_history(
    ctx: Context,
    *,
    entity: Name,
    since: Time | None = None,
    reference_time: Time | None = None,
    entity_type: EntityType | None = None,
    relationship_type: RelationType | None = None,
    page: PageToken | None = None,
) -> ToolReturn[str]:
    """List how one entity changed over time: all its facts, current and past, in time order, with a summary.

    Args:
        entity: The entity's exact name.
        since: Leave out facts that had ended by this time.
        reference_time: The time that counts as now for what is current.
        entity_type: Only the entity of this type, where several share the name.
        relationship_type: Only facts of this relationship, such as OWNS.
        page: The next page of the same history, as an earlier answer named it.
    """
    deps = ctx.deps
    call = begin_graph_call(ctx, "get_entity_history", entity)
    request = history_pb2.GetEntityHistoryRequest(
        entity=entity_selector(entity, entity_type),
        relation_type=relationship_type or "",
        since_time=None if since is None else to_timestamp(instant(since, deps.zone)),
        as_of=None if reference_time is None else to_timestamp(instant(reference_time, deps.zone)),
        page_size=_HISTORY_PAGE,
        page_token="" if page in (None, _BEGINNING) else page,
    )
    try:
        answer = await _history(deps, request, entity)
    except BraidError as error:
        if is_unknown(error):
            return await unknown_or_empty(call)
        return await graph_unavailable(call, error)
    call.clock.found(answer.facts or answer.homonyms)
    if answer.homonyms and not answer.HasField("entity"):
        return respond(deps, _ambiguous(call, answer.homonyms))
    if page:
        answer.ClearField("summary")
    name = answer.entity.name
    heading = history_heading(name, answer)
    facts = _shown_first(answer)
    times = times_of(deps, reference_time, None)
    if not facts:
        message = f"No dated facts are stated about {name}."
        empty = call.result("no_match", message=message, **times)
        return await with_documents(ctx, empty, call.question(), heading)
    chunks = await read_chunks(deps, cited_chunk_ids(facts))
    result = call.result(
        "ok",
        items=tuple(fact_item(fact, chunks) for fact in facts),
        total_count=answer.summary.fact_count if not page else len(facts),
        next_page=answer.next_page_token,
        **times,
    )
    shown = facts[: shown_items(result, heading, _LONG_TOKEN)]
    try:
        following = await _page_after(deps, request, answer, shown, is_first=not page)
    except BraidError:
        following = ""
        result = replace(result, status="degraded", unavailable=(GRAPH,), message=_NO_NEXT_PAGE)
    return respond(deps, result, heading, following)


async def get_snapshot(
    ctx: Context,
    *,
    reference_time: Time,
    reference_end: Time | None = None,
    entity: Name | None = None,
    relationship_type: RelationType | None = None,
) -> ToolReturn[str]:
    """Show what held at one past or future time, and what has changed between then and now.

    Args:
        reference_time: The time.
        reference_end: What held at any moment from reference_time until before this time, such as a whole year.
        entity: Only facts with this entity, by its exact name.
        relationship_type: Only facts of this relationship, such as OWNS.
    """
    deps = ctx.deps
    call = begin_graph_call(ctx, "get_snapshot", entity or "")
    request = history_pb2.GetSnapshotRequest(
        as_of=time_selector(reference_time, reference_end, deps.zone),
        entity=entity_selector(entity, None) if entity else None,
        relation_type=relationship_type or "",
        page_size=_PAGE,
    )
    try:
        answer = await deps.tiers.get_snapshot(request)
    except BraidError as error:
        return await (
            unknown_or_empty(call) if is_unknown(error) else graph_unavailable(call, error)
        )
    call.clock.found(answer.facts)
    held = _by_question(deps, answer.facts) if not entity else list(answer.facts)
    chunks = await read_chunks(deps, cited_chunk_ids([*held, *_changed_facts(answer.changes)]))
    states = [fact_item(fact, chunks, kind="state") for fact in held]
    changes = _change_items(answer.changes, chunks)
    times = times_of(deps, reference_time, reference_end)
    if not states and not changes:
        return await nothing_then(call, times)
    more = " There is more: name an entity or a relationship." if answer.next_page_token else ""
    heading = f"Held then: {len(states)}. Changes since then: {_total(answer.changes)}.{more}"
    result = call.result(
        "ok",
        # If not all fit into the text, some of each are shown.
        items=tuple(_interleave(states, changes)),
        total_count=len(states) + _total(answer.changes),
        **times,
    )
    return respond(deps, result, heading)


async def diff_graph(
    ctx: Context,
    *,
    before: Time,
    after: Time | None = None,
    entity: Name | None = None,
    relationship_type: RelationType | None = None,
) -> ToolReturn[str]:
    """Compare two times: which facts were added, ended or changed in between.

    Args:
        before: The earlier time.
        after: The later time; now where it is left out.
        entity: Only facts with this entity, by its exact name.
        relationship_type: Only facts of this relationship, such as OWNS.
    """
    deps = ctx.deps
    call = begin_graph_call(ctx, "diff_graph", entity or "")
    request = history_pb2.DiffGraphRequest(
        before=time_selector(before, None, deps.zone),
        after=None if after is None else time_selector(after, None, deps.zone),
        entity=entity_selector(entity, None) if entity else None,
        relation_type=relationship_type or "",
        limit=_PAGE,
    )
    try:
        answer = await deps.tiers.diff_graph(request)
    except BraidError as error:
        return await (
            unknown_or_empty(call) if is_unknown(error) else graph_unavailable(call, error)
        )
    diff = answer.diff
    call.clock.found([*diff.added, *diff.ended, *diff.changed])
    chunks = await read_chunks(deps, cited_chunk_ids(_changed_facts(diff)))
    items = tuple(_change_items(diff, chunks))
    times: Times = {
        "as_of": instant(before, deps.zone),
        "as_of_end": None if after is None else instant(after, deps.zone),
    }
    if not items:
        return await nothing_changed(call, times)
    heading = (
        f"Added {diff.added_count}, ended {diff.ended_count}, changed {diff.changed_count} "
        "between the two times."
    )
    result = call.result("ok", items=items, total_count=_total(diff), **times)
    return respond(deps, result, heading)


async def _history(
    deps: AgentDependencies, request: history_pb2.GetEntityHistoryRequest, name: str
) -> history_pb2.GetEntityHistoryResponse:
    """Returns the history; if no entity has exactly the name, that of the only entity that the name contains."""
    try:
        return await deps.tiers.get_entity_history(request)
    except BraidError as error:
        if not is_unknown(error):
            raise
        linked = await deps.tiers.link_entities(entities_pb2.LinkEntitiesRequest(text=name))
        found = {one.entity.id for one in linked.entities}
        if len(found) != 1:
            raise
    request.entity.CopyFrom(entities_pb2.EntitySelector(id=found.pop()))
    return await deps.tiers.get_entity_history(request)


def _ambiguous(call: GraphCall, homonyms: Sequence[facts_pb2.EntityRef]) -> ToolResult:
    named = candidates(homonyms)
    types = ", ".join(one.type or "without a type" for one in named)
    return call.result(
        "ambiguous",
        candidates=named,
        message=f"Several entities are named “{call.entity}”: {types}. Ask for one by its type.",
    )


async def _page_after(
    deps: AgentDependencies,
    request: history_pb2.GetEntityHistoryRequest,
    answer: history_pb2.GetEntityHistoryResponse,
    shown: Sequence[facts_pb2.Fact],
    *,
    is_first: bool,
) -> str:
    """Returns the token of the page that begins with the first fact that the text does not show.

    The text is shorter than a page of a long history, and the facts in between must not be lost.
    """
    ids = {fact.id for fact in shown}
    known = next((n for n, fact in enumerate(answer.facts) if fact.id not in ids), None)
    if known is None:
        return answer.next_page_token
    if is_first and not known:
        return _BEGINNING
    # A fact that is too long for any text is skipped.
    request.page_size = max(known, 1)
    return (await deps.tiers.get_entity_history(request)).next_page_token


def _shown_first(answer: history_pb2.GetEntityHistoryResponse) -> list[facts_pb2.Fact]:
    """Returns a page in time order; current facts come first if the history is longer than the text allows."""
    facts = list(answer.facts)
    if len(facts) <= MAX_ITEMS or not answer.HasField("summary"):
        return facts
    current = list(answer.summary.current)
    shown = {fact.id for fact in current}
    return current + [fact for fact in facts if fact.id not in shown]


def _change_items(
    diff: history_pb2.GraphDiff, chunks: Mapping[str, chunks_pb2.Chunk]
) -> list[ResultItem]:
    changed = [changed_item(one, chunks) for one in diff.changed]
    added = [fact_item(one, chunks, kind="change", change="added") for one in diff.added]
    ended = [fact_item(one, chunks, kind="change", change="ended") for one in diff.ended]
    return [*changed, *added, *ended]


def _changed_facts(diff: history_pb2.GraphDiff) -> Iterable[facts_pb2.Fact]:
    yield from diff.added
    yield from diff.ended
    for changed in diff.changed:
        yield from changed.before
        yield from changed.after


def _interleave(states: list[ResultItem], changes: list[ResultItem]) -> list[ResultItem]:
    half = MAX_ITEMS // 2
    room = max(half, MAX_ITEMS - len(changes))
    return states[:room] + changes + states[room:]


def _by_question(deps: AgentDependencies, facts: Iterable[facts_pb2.Fact]) -> list[facts_pb2.Fact]:
    """Sorts facts that share words with the question first: a whole space may have many facts."""
    asked = {word.casefold() for word in _WORD.findall(deps.question)}

    def unlike(fact: facts_pb2.Fact) -> int:
        return -len(asked & {word.casefold() for word in _WORD.findall(fact.statement)})

    return sorted(facts, key=unlike)


def _total(diff: history_pb2.GraphDiff) -> int:
    return diff.added_count + diff.ended_count + diff.changed_count


def _selector(
    deps: AgentDependencies, start: Time | None, end: Time | None
) -> retrieval_pb2.TimeSelector | None:
    if start is None:
        if end is not None:
            raise ModelRetry("reference_end needs a reference_time.")
        return None
    return time_selector(start, end, deps.zone)
