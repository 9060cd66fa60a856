"""The graph over time: facts at a time, and changes between two times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from braid.graph.v1 import history_pb2
from gateway.mcp.arguments import (
    Arguments,
    AsOf,
    Cursor,
    EntityName,
    EntityType,
    EntityUuid,
    KnownAt,
    PageLimit,
    Relation,
    instant,
    narrowed,
)
from gateway.mcp.calls import ToolCall
from gateway.mcp.cursors import Position
from gateway.mcp.pages import Page
from gateway.mcp.results import Statement, ToolResult, count_line, dated, fit, statement
from gateway.mcp.tools.facts import SERVICE
from gateway.rest.mapping.entities import entity_selector, graph_name
from gateway.rest.mapping.times import InstantOrRange, time_selector

_DIFF_NAMES = graph_name({"before": "time", "after": "until"})
_Time = Annotated[
    InstantOrRange,
    Field(
        description="A day, an RFC 3339 time, or a half-open range such as 2024-01-01/2025-01-01."
    ),
]


class SnapshotArguments(Arguments):
    """The time of the snapshot, and which facts."""

    time: _Time
    entity: EntityName | None = None
    entity_type: EntityType | None = None
    entity_uuid: EntityUuid | None = None
    relation: Relation | None = None
    known_at: KnownAt | None = None
    limit: PageLimit = 50
    cursor: Cursor | None = None


class DiffArguments(Arguments):
    """The two times, and which facts."""

    time: _Time
    until: AsOf | None = Field(default=None, description="The second time. Default: now.")
    entity: EntityName | None = None
    entity_type: EntityType | None = None
    entity_uuid: EntityUuid | None = None
    relation: Relation | None = None
    known_at: KnownAt | None = None
    limit: Annotated[int, Field(ge=1, le=200, description="How many of each kind.")] = 50
    cursor: Cursor | None = None


class ChangesArguments(Arguments):
    """A time and what to see of it."""

    view: Literal["diff", "snapshot"] = Field(
        default="diff",
        description="diff: what changed between `time` and `until`; snapshot: what held at `time`.",
    )
    time: _Time
    until: AsOf | None = Field(default=None, description="diff: the second time. Default: now.")
    entity: EntityName | None = None
    entity_type: EntityType | None = None
    entity_uuid: EntityUuid | None = None
    relation: Relation | None = None
    known_at: KnownAt | None = None
    limit: PageLimit | None = Field(default=None, description="How many, 1–200. Default 50.")
    cursor: Cursor | None = None


class Change(BaseModel):
    """A change: a fact that was added or ended, or one that others replaced."""

    kind: Literal["added", "ended", "changed"]
    before: list[str] | None = None
    after: list[str] | None = None


class SnapshotResult(ToolResult):
    """The facts that held at a time."""

    view: Literal["snapshot"] = "snapshot"
    facts: list[Statement]


class DiffResult(ToolResult):
    """What changed between two times."""

    view: Literal["diff"] = "diff"
    added_count: int
    ended_count: int
    changed_count: int
    changes: list[Change]


class ChangesResult(ToolResult):
    """One of the views: fields of the other are left out."""

    view: Literal["diff", "snapshot"]
    facts: list[Statement] | None = None
    added_count: int | None = None
    ended_count: int | None = None
    changed_count: int | None = None
    changes: list[Change] | None = None


async def changes(arguments: ChangesArguments, call: ToolCall) -> ToolResult:
    """See what the graph said at a time, or what changed between two times."""
    if arguments.view == "snapshot":
        return await snapshot(narrowed(arguments, SnapshotArguments, arguments.view), call)
    return await diff(narrowed(arguments, DiffArguments, arguments.view), call)


async def snapshot(arguments: SnapshotArguments, call: ToolCall) -> SnapshotResult:
    """List the facts that held at a time."""
    cursor = call.cursor(arguments)
    begin = cursor.read(arguments.cursor)
    request = history_pb2.GetSnapshotRequest(
        as_of=time_selector(arguments.time),
        entity=entity_selector(
            "entity", arguments.entity, arguments.entity_type, arguments.entity_uuid
        ),
        relation_type=arguments.relation or "",
        known_time=instant(arguments.known_at),
        page_size=arguments.limit,
        page_token=begin.page_token,
    )
    stub = call.clients.graph.GetSnapshot
    named = graph_name({"as_of": "time"})
    answer = await call.rpc(SERVICE + "GetSnapshot", stub, request, named)
    found = [statement(one) for one in answer.facts]
    page = Page(found, begin, answer.next_page_token, cursor, "facts")

    def build(shown: Sequence[Statement], words: str, next_cursor: str | None) -> SnapshotResult:
        return SnapshotResult(
            space=call.space,
            as_of=arguments.time,
            known_at=arguments.known_at,
            status="found" if shown else "no_match",
            message=words,
            next_cursor=next_cursor,
            facts=list(shown),
        )

    return page.result(build)


async def diff(arguments: DiffArguments, call: ToolCall) -> DiffResult:
    """See which facts were added, ended and replaced between two times."""
    cursor = call.cursor(arguments)
    first = cursor.read(arguments.cursor).shown
    request = history_pb2.DiffGraphRequest(
        before=time_selector(arguments.time),
        after=time_selector(arguments.until),
        entity=entity_selector(
            "entity", arguments.entity, arguments.entity_type, arguments.entity_uuid
        ),
        relation_type=arguments.relation or "",
        known_time=instant(arguments.known_at),
        limit=arguments.limit,
    )
    stub = call.clients.graph.DiffGraph
    answer = (await call.rpc(SERVICE + "DiffGraph", stub, request, _DIFF_NAMES)).diff
    found = _changes(answer)
    total = answer.added_count + answer.ended_count + answer.changed_count

    def build(shown: Sequence[Change]) -> DiffResult:
        end = first + len(shown)
        more = end < len(found)
        words = count_line(len(shown), total, "changes", first, more=more)
        if not more and total > len(found):
            words += " Others are not listed: raise `limit`, or narrow by entity or relation."
        if answer.incomplete:
            words += " More than 20,000 facts differ: these are the first."
        return DiffResult(
            space=call.space,
            as_of=f"{arguments.time} → {arguments.until or 'now'}",
            known_at=arguments.known_at,
            status="found" if found else "no_match",
            message=words,
            next_cursor=cursor.write(Position("", end)) if more else None,
            added_count=answer.added_count,
            ended_count=answer.ended_count,
            changed_count=answer.changed_count,
            changes=list(shown),
        )

    return fit(found[first:], build)


def _changes(message: history_pb2.GraphDiff) -> list[Change]:
    replaced = [
        Change(kind="changed", before=_lines(one.before), after=_lines(one.after))
        for one in message.changed
    ]
    added = [Change(kind="added", after=[dated(one)]) for one in message.added]
    ended = [Change(kind="ended", before=[dated(one)]) for one in message.ended]
    return [*replaced, *added, *ended]


def _lines(facts: Iterable[object]) -> list[str]:
    return [dated(one) for one in facts]  # type: ignore[arg-type] # facts of the contract
