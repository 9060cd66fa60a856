"""The retry delay that a provider requests is bounded, or ignored if it is invalid."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.models.retry_after import LONGEST_WAIT, retry_after

DATES = st.datetimes(timezones=st.just(UTC)).map(format_datetime)
INVALID_DATES = st.from_regex(
    r"Mon, \d{1,30} Jan \d{1,30} \d{1,3}:00:00 [+-]\d{1,30}", fullmatch=True
)
VALUES = st.one_of(
    st.text(), st.floats().map(str), st.integers().map(lambda n: f"{n}e{n}"), DATES, INVALID_DATES
)


@given(VALUES)
def test_any_header_gives_a_delay_of_at_most_a_day_or_none(value: str) -> None:
    wait = retry_after({"retry-after": value})
    assert wait is None or 0 <= wait <= LONGEST_WAIT


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("0", 0.0),
        ("1.5", 1.5),
        ("86401", LONGEST_WAIT),
        ("1e30", LONGEST_WAIT),
        (format_datetime(datetime.max.replace(tzinfo=UTC)), LONGEST_WAIT),
        (format_datetime(datetime(2001, 1, 1, tzinfo=UTC)), 0.0),
    ],
)
def test_delays_are_limited_to_a_useful_range(value: str, wait: float) -> None:
    assert retry_after({"retry-after": value}) == wait


@pytest.mark.parametrize(
    "value", ["inf", "-inf", "nan", "1e400", "-1", "soon", "Mon, 01 Jan 99999999999999999999 00:00"]
)
def test_an_invalid_delay_is_ignored(value: str) -> None:
    assert retry_after({"retry-after": value}) is None
    assert retry_after({}) is None
