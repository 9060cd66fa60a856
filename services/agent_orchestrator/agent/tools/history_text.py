"""Summarizes a history in a few sentences: since when the entity is known, its current facts, and its periods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.agent_orchestrator.agent.results import MAX_ITEMS

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from braid.graph.v1 import history_pb2

_MAX_PERIODS = 12


def history_heading(name: str, answer: history_pb2.GetEntityHistoryResponse) -> str:
    """Returns the summary for a history's first page; for a later page just a heading."""
    if not answer.HasField("summary"):
        return f"{name}: the next page of the history."
    summary = answer.summary
    said = []
    if summary.HasField("first_seen_time"):
        said.append(f"First seen {_day(summary.first_seen_time)}.")
    if summary.never_changed and summary.fact_count:
        said.append("It has never changed: everything stated about it still holds.")
    elif summary.HasField("unchanged_since_time"):
        said.append(f"Unchanged since {_day(summary.unchanged_since_time)}.")
    said.append(f"Facts: {summary.fact_count}, of which {summary.current_fact_count} hold.")
    if summary.fact_count > MAX_ITEMS:
        said.append(_periods(summary))
    return f"{name}: {' '.join(said)}"


def _periods(summary: history_pb2.HistorySummary) -> str:
    rows = [
        f"{row.relation_type} {_span(row)}: {row.began_count} began, {row.ended_count} ended"
        for row in summary.periods[:_MAX_PERIODS]
    ]
    more = len(summary.periods) > _MAX_PERIODS or summary.periods_truncated
    return f"By relationship and period: {'; '.join(rows)}{'; …' if more else ''}."


def _span(row: history_pb2.HistoryPeriod) -> str:
    if not row.HasField("start_time"):
        return "without a date"
    first, last = row.start_time.ToDatetime().year, row.end_time.ToDatetime().year - 1
    return str(first) if first == last else f"{first}–{last}"


def _day(value: Timestamp) -> str:
    return value.ToDatetime().date().isoformat()
