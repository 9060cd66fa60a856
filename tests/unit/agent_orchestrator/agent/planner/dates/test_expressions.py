"""Dates in questions, resolved against a fixed clock in local time."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from services.agent_orchestrator.agent.planner.dates.calendar import TimeRange
from services.agent_orchestrator.agent.planner.dates.expressions import find_times, resolve_time
from tests.evals.dates.measure import OWN, expected, resolved
from tests.evals.question_files import question_rows

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
NOW_TEXT = "2026-11-24 11:00"


def local(text: str, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> tuple[str | None, str | None]:
    """Returns the start and end in local time."""
    found = resolve_time(text, now, zone)
    start, end = (
        None if one is None else one.astimezone(zone).strftime("%Y-%m-%d %H:%M")
        for one in (found.start, found.end)
    )
    return start, end


@pytest.mark.parametrize("row", question_rows(None, OWN), ids=lambda row: row["id"])
def test_labeled_expressions_are_resolved_as_expected(row: dict[str, str]) -> None:
    assert resolved(row) == expected(row)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("on the 5th", "2026-11-05 00:00", "2026-11-06 00:00"),
        ("the 5th of last month", "2026-10-05 00:00", "2026-10-06 00:00"),
        ("from the 1st to the 15th of last month", "2026-10-01 00:00", "2026-10-16 00:00"),
        ("in March and April", "2026-03-01 00:00", "2026-05-01 00:00"),
        ("the first Monday of March 2024", "2024-03-04 00:00", "2024-03-05 00:00"),
        ("the week of 4 March 2024", "2024-03-04 00:00", "2024-03-11 00:00"),
        ("the day after Christmas 2023", "2023-12-26 00:00", "2023-12-27 00:00"),
        ("the 3 days before 5 March 2024", "2024-03-02 00:00", "2024-03-05 00:00"),
        ("Friday of last week", "2026-11-20 00:00", "2026-11-21 00:00"),
        ("last year in March", "2025-03-01 00:00", "2025-04-01 00:00"),
        ("2024 Q1", "2024-01-01 00:00", "2024-04-01 00:00"),
        ("Q4'23", "2023-10-01 00:00", "2024-01-01 00:00"),
        ("year-to-date", "2026-01-01 00:00", NOW_TEXT),
        ("from June onwards", "2026-06-01 00:00", NOW_TEXT),
        ("after March 2024", "2024-04-01 00:00", NOW_TEXT),
        ("no later than 5 March 2024", None, "2024-03-06 00:00"),
        ("by the end of March", None, "2026-04-01 00:00"),
        ("at the end of 2023", None, "2024-01-01 00:00"),
        ("between 2 and 4 pm on 5 March", "2026-03-05 14:00", "2026-03-05 16:00"),
        ("between 22:00 and 02:00 on 5 March", "2026-03-05 22:00", "2026-03-06 02:00"),
        ("from 2019 to 2021", "2019-01-01 00:00", "2022-01-01 00:00"),
        ("the 20th century", "1901-01-01 00:00", "2001-01-01 00:00"),
        ("05-Mar-2024", "2024-03-05 00:00", "2024-03-06 00:00"),
        ("5.3.2024", "2024-03-05 00:00", "2024-03-06 00:00"),
    ],
)
def test_an_expression_is_resolved_to_a_range_of_local_time(
    text: str, start: str | None, end: str | None
) -> None:
    assert local(text) == (start, end)


@pytest.mark.parametrize(
    "text",
    [
        "twenty years from now",
        "Is it up to date?",
        "on the 3rd floor",
        "a total of 2023",
        "from 2000 to 3000 rows",
        "What is 03/04/2024?",
        "3/4 of users",
        "ISO 27001:2022",
        "Black Friday",
        "every Monday",
        "Catch him in a minute",
        "",
        "🕐",
        "[" * 500,
    ],
)
def test_text_that_only_resembles_a_time_is_ignored(text: str) -> None:
    assert resolve_time(text, NOW, BERLIN) == TimeRange(None, None)


def test_the_time_zone_determines_the_day() -> None:
    now = datetime(2025, 12, 31, 23, 30, tzinfo=UTC)
    assert local("today", now, ZoneInfo("Asia/Tokyo")) == ("2026-01-01 00:00", "2026-01-02 00:00")
    assert local("today", now, ZoneInfo("America/New_York")) == (
        "2025-12-31 00:00",
        "2026-01-01 00:00",
    )


def test_hours_are_elapsed_time_across_a_clock_change() -> None:
    now = datetime(2026, 3, 29, 3, tzinfo=UTC)
    assert resolve_time("the last 4 hours", now, BERLIN).start == datetime(
        2026, 3, 28, 23, tzinfo=UTC
    )


def test_a_named_time_zone_overrides_the_callers() -> None:
    found = resolve_time("as of 14:00Z on 5 March 2024", NOW, BERLIN)
    assert found.end == datetime(2024, 3, 5, 14, tzinfo=UTC)
    found = resolve_time("since 9:00 New York time on 5 March 2024", NOW, BERLIN)
    assert found.start == datetime(2024, 3, 5, 14, tzinfo=UTC)


def test_a_date_that_names_a_document_is_marked() -> None:
    (found,) = find_times("What does last month's review say?", NOW, BERLIN)
    assert found.names_document


def test_each_time_is_found_with_its_position_and_kind() -> None:
    text = "Compare Q1 2024 with the state as of March 2025"
    found = find_times(text, NOW, BERLIN)
    assert [(one.kind, text[one.start : one.end]) for one in found] == [
        ("range", "Q1 2024"),
        ("as_of", "as of March 2025"),
    ]
