"""The summary of an entity's history in numbers."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.domain import Entity
from services.graph_query.core.intervals import OPEN
from services.graph_query.history.domain import EntityHistory, FactSummary
from services.graph_query.history.summary import period_bounds, summarize

HISTORY = EntityHistory(Entity("e", "Anna Bell"), first_seen=5.0)


def year(number: int) -> float:
    return datetime(number, 1, 1, tzinfo=UTC).timestamp()


def moment(
    uuid: str, since: float = -OPEN, until: float = OPEN, relation: str = "IS", created: float = 9.0
) -> FactSummary:
    return FactSummary(uuid, relation, since, until, created)


def test_current_facts_are_listed_latest_first() -> None:
    moments = [moment("a", year(2000)), moment("b", year(2005)), moment("c", until=year(2001))]
    result = summarize(HISTORY, moments, year(2010))
    assert result.current == ("b", "a")
    assert (result.total, result.current_total) == (3, 2)
    assert (result.earliest, result.unchanged_since) == (year(2000), year(2005))
    assert not result.never_changed


def test_a_history_without_dates_has_never_changed() -> None:
    result = summarize(HISTORY, [moment("a")], year(2010))
    assert (result.never_changed, result.unchanged_since, result.earliest) == (True, None, None)
    assert result.first_seen == 5.0


def test_an_end_in_the_future_is_not_a_change() -> None:
    result = summarize(HISTORY, [moment("a", year(2000), year(2030))], year(2010))
    assert (result.never_changed, result.unchanged_since) == (True, year(2000))


def test_an_empty_history_has_no_last_change() -> None:
    result = summarize(HISTORY, [], year(2010))
    assert (result.total, result.never_changed, result.periods) == (0, True, ())


def test_the_length_of_periods_depends_on_the_length_of_the_history() -> None:
    for last, length in ((2019, 1), (2020, 10), (2199, 10), (2200, 100)):
        result = summarize(HISTORY, [moment("a", year(2000)), moment("b", year(last))], year(2300))
        assert {period.length for period in result.periods} == {length}


instants = st.integers(1, 9_998).map(year)


@given(
    st.lists(
        st.builds(
            lambda uuid, since, length, relation: moment(
                uuid, since, OPEN if length is None else since + length, relation
            ),
            st.uuids().map(str),
            instants | st.just(-OPEN),
            st.none() | st.integers(1, 10**9),
            st.sampled_from(("IS", "is", "OWNS")),
        ).filter(lambda one: one.valid_until > 0 or one.valid_from > -OPEN),
        max_size=30,
    )
)
def test_periods_count_every_start_and_end_once(moments: list[FactSummary]) -> None:
    moments = [one for one in moments if one.valid_until < year(9_999) or one.valid_until == OPEN]
    result = summarize(HISTORY, moments, year(2000))
    if not result.truncated:
        assert sum(period.began for period in result.periods) == len(moments)
        assert sum(period.ended for period in result.periods) == len(moments)
    for period in result.periods:
        bounds = period_bounds(period)
        if bounds is not None:
            assert bounds[0] <= bounds[1]


def test_an_entity_is_first_seen_when_anything_first_says_something_about_it() -> None:
    """Neither the day on which a fact was stored nor a fact without a start matters."""
    moments = [moment("a", year(2005), created=1.0), moment("b", created=2.0)]
    mentioned = EntityHistory(Entity("e", "Anna Bell"), first_seen=year(2003))
    later = EntityHistory(Entity("e", "Anna Bell"), first_seen=year(2025))
    assert summarize(mentioned, moments, year(2010)).first_seen == year(2003)
    assert summarize(later, moments, year(2010)).first_seen == year(2005)
