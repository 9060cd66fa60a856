"""Times in a form that people read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.cli.times import age, between, duration, moment, moment_and_age

NOW = datetime(2024, 4, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-1, "0.0 s"), (0.25, "0.2 s"), (59.9, "59 s"), (60, "1 min"), (7200, "2 h"), (1e6, "11 d")],
)
def test_a_duration_is_shown_in_one_unit(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_a_moment_is_shown_in_utc_with_its_age() -> None:
    value = "2024-04-18T13:55:00.123456+02:00"
    assert moment_and_age(value, NOW) == "2024-04-18 11:55:00Z (4 min ago)"


@pytest.mark.parametrize("value", [None, "", "soon"])
def test_an_invalid_time_is_shown_as_empty(value: str | None) -> None:
    assert (moment(value), age(value, NOW), moment_and_age(value, NOW)) == ("", "", "")
    assert between(value, "2024-04-18T12:00:00Z") == ""


def test_a_time_in_the_future_has_no_age() -> None:
    assert moment_and_age("2024-04-18T12:00:01Z", NOW) == "2024-04-18 12:00:01Z"


def test_the_time_between_two_moments() -> None:
    assert between("2024-04-18T11:00:00Z", "2024-04-18T11:00:03.5Z") == "3 s"
