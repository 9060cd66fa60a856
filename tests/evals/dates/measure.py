"""Measures how many expressions resolve to exactly the labeled range.

The format is `{"id","text","now","zone","start","end"}` per line.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from services.agent_orchestrator.agent.planner.dates.calendar import TimeRange
from services.agent_orchestrator.agent.planner.dates.expressions import resolve_time
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.evals.question_files import question_rows

OWN: Final = Path(__file__).parent / "expressions.jsonl"


async def run(options: Options) -> None:
    """Resolves every expression with the time and zone of its row."""
    rows = question_rows(options.data, OWN)
    wrong = [row for row in rows if resolved(row) != expected(row)]
    for row in wrong:
        found = resolved(row)
        note(f"{row['id']}: {row['text']!r} is {_shown(found)}, expected {_shown(expected(row))}")
    figures = Figures(options.name)
    figures.put("accuracy_pct", 100 * (len(rows) - len(wrong)) / len(rows), "%")
    figures.put("items", len(rows), "expressions")


def resolved(row: Mapping[str, Any]) -> TimeRange:
    """Returns the range to which a row's text resolves."""
    return resolve_time(row["text"], datetime.fromisoformat(row["now"]), ZoneInfo(row["zone"]))


def expected(row: Mapping[str, Any]) -> TimeRange:
    """Returns the labeled range."""
    return TimeRange(_instant(row["start"]), _instant(row["end"]))


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _shown(time_range: TimeRange) -> str:
    ends = (
        "open" if end is None else end.isoformat() for end in (time_range.start, time_range.end)
    )
    return " to ".join(ends)
