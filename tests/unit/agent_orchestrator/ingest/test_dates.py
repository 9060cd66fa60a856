"""Dates in front matter, headers and file names."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.dates import read_from_name, read_leniently

FIFTH = datetime(2024, 3, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05",
        "2024-3-5",
        "2024/03/05",
        "2024.3.5.",
        "20240305",
        "05.03.2024",
        "5. 3. 2024",
        "05.03.24",
        "March 5, 2024",
        "Mar 5th, 2024",
        "5 March 2024",
        "5-Mar-2024",
        "Tuesday, 5 March 2024",
        "5. März 2024",
        "5 mars 2024",
        "5 de marzo de 2024",
        "5 марта 2024",
        "2024年3月5日",
        "2024년 3월 5일",
        "2024-03-05T01:00:00+01:00",
        "Tue, 5 Mar 2024 01:00:00 +0100",
        " 2024-03-05 ",
        20240305,
        date(2024, 3, 5),
    ],
)
def test_common_forms_are_understood(text: Any) -> None:
    reading = read_leniently("date", text)
    assert (reading.time, reading.warnings) == (FIFTH, ())


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("05/03/2024", FIFTH),
        ("5-3-2024", FIFTH),
        ("2024-03", datetime(2024, 3, 1, tzinfo=UTC)),
        ("March 2024", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
    ],
)
def test_an_ambiguous_date_is_read_by_rule_with_a_warning(text: str, time: datetime) -> None:
    reading = read_leniently("date", text)
    assert reading.time == time
    [warning] = reading.warnings
    assert warning.reason == "date_ambiguous"
    assert time.date().isoformat() in warning.text


@pytest.mark.parametrize("text", ["25/03/2024", "03/25/2024", "25-3-2024"])
def test_a_number_over_twelve_is_the_day(text: str) -> None:
    reading = read_leniently("date", text)
    assert (reading.time, reading.warnings) == (datetime(2024, 3, 25, tzinfo=UTC), ())


@pytest.mark.parametrize(
    "value",
    [
        "soon",
        "yesterday",
        "3 days ago",
        "0000-01-01",
        "99999-01-01",
        "2024-13-45",
        "31.02.2024",
        True,
        [1],
        "9" * 5000,
    ],
)
def test_what_is_no_date_becomes_a_warning(value: Any) -> None:
    reading = read_leniently("date", value)
    assert reading.time is None
    assert [one.reason for one in reading.warnings] == ["date_not_understood"]


@pytest.mark.parametrize("value", [None, ""])
def test_no_date_is_no_warning(value: Any) -> None:
    assert read_leniently("date", value).warnings == ()


@pytest.mark.parametrize(
    ("source", "day"),
    [
        ("notes/2024-03-05-bell.md", date(2024, 3, 5)),
        ("bell 2024_03_05 (final).docx", date(2024, 3, 5)),
        ("20240305_bell.txt", date(2024, 3, 5)),
        ("bell 05.03.2024.pdf", date(2024, 3, 5)),
        ("31-03-2024.md", date(2024, 3, 31)),
        ("2024年3月5日.md", date(2024, 3, 5)),
        ("journal/2024/03/05.md", date(2024, 3, 5)),
        ("https://example.org/2024/03/05/bell", date(2024, 3, 5)),
        ("2024-03-minutes.md", date(2024, 3, 1)),
        ("C:\\notes\\2024-03-05.txt", date(2024, 3, 5)),
    ],
)
def test_the_name_of_a_file_contains_its_date(source: str, day: date) -> None:
    reading = read_from_name(source)
    assert reading.time is not None
    assert (reading.time.date(), reading.warnings) == (day, ())


@pytest.mark.parametrize(
    "source",
    [
        "notes.md",
        "report-12345678.pdf",
        "img_20251399.md",
        "INC-2024-104.md",
        "0000-01-01.md",
        "99999-01-01.md",
        "",
    ],
)
def test_other_numbers_in_names_are_no_dates(source: str) -> None:
    assert read_from_name(source).time is None


def test_the_order_of_day_and_month_in_a_name_is_said_if_it_is_unclear() -> None:
    reading = read_from_name("05-03-2024.md")
    assert reading.time == FIFTH
    assert [one.reason for one in reading.warnings] == ["date_ambiguous"]


@given(st.text(max_size=120) | st.integers() | st.floats() | st.lists(st.text(max_size=5)))
def test_any_value_has_a_date_or_a_warning(value: Any) -> None:
    reading = read_leniently("date", value)
    assert (
        value in {"", None}
        if isinstance(value, str) and not value
        else reading.time or reading.warnings
    )


@given(st.text(max_size=200))
def test_any_name_can_be_read(source: str) -> None:
    assert read_from_name(source).time is None or any(c.isdigit() for c in source)
