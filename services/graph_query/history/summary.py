"""Summaries of histories: differences of facts, and periods of an entity's history."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from services.graph_query.core.intervals import OPEN
from services.graph_query.core.names import relation_key
from services.graph_query.history.domain import CURRENT, Difference, EntityHistory, FactSummary

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Changed:
    """One subject and relation: facts that are no longer valid, and those that are valid instead."""

    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """Uuids of facts; the lists are truncated, the totals are not."""

    added: tuple[str, ...]
    ended: tuple[str, ...]
    changed: tuple[Changed, ...]
    added_total: int
    ended_total: int
    changed_total: int

    def uuids(self) -> list[str]:
        """Returns all facts to be shown."""
        both = [uuid for one in self.changed for uuid in (*one.before, *one.after)]
        return [*self.added, *self.ended, *both]


def grouped(found: Iterable[Difference], limit: int) -> Diff:
    """Groups differences; at most `limit` of each kind."""
    groups: defaultdict[tuple[str, str], list[Difference]] = defaultdict(list)
    for one in found:
        groups[one.subject, one.relation].append(one)
    added: list[Difference] = []
    ended: list[Difference] = []
    changed: list[list[Difference]] = []
    for group in groups.values():
        if len({one.held_before for one in group}) > 1:
            changed.append(group)
        else:
            (ended if group[0].held_before else added).extend(group)
    changed.sort(key=lambda group: _place(min(_after(group), key=_place)))
    return Diff(
        added=_uuids(added, limit),
        ended=_uuids(ended, limit),
        changed=tuple(_changed(group) for group in changed[:limit]),
        added_total=len(added),
        ended_total=len(ended),
        changed_total=len(changed),
    )


def _changed(group: list[Difference]) -> Changed:
    before = [one for one in group if one.held_before]
    return Changed(_uuids(before, _SHOWN), _uuids(_after(group), _SHOWN))


def _after(group: list[Difference]) -> list[Difference]:
    return [one for one in group if not one.held_before]


def _uuids(found: list[Difference], limit: int) -> tuple[str, ...]:
    return tuple(one.uuid for one in sorted(found, key=_place)[:limit])


def _place(one: Difference) -> tuple[float, str]:
    return one.valid_from, one.uuid


_ROWS = 200


_YEARS = 20


_DECADES = 200


_LAST_YEAR = 9_999


# Floating point would round the last microseconds of the year 9999 up, beyond the last date.
_LAST_SECOND = datetime(_LAST_YEAR, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()


class Period(NamedTuple):
    """A relation's facts in the `length` years from `year` on; year None counts open ends."""

    relation: str
    year: int | None
    length: int
    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole history; instants in epoch seconds, None if unknown."""

    total: int
    current_total: int
    current: tuple[str, ...]
    first_seen: float | None
    earliest: float | None
    never_changed: bool
    unchanged_since: float | None
    periods: tuple[Period, ...]
    truncated: bool


def summarize(life: EntityHistory, moments: Sequence[FactSummary], reference: float) -> Summary:
    """Summarizes the history of these facts; `reference` is the current time."""
    current = [one for one in moments if one.holds(reference)]
    begun = [one for one in moments if one.valid_from <= reference]
    latest = sorted(current, key=lambda one: (-one.valid_from, one.uuid))
    starts = [one.valid_from for one in moments if one.valid_from > -OPEN]
    seen = starts if life.first_seen is None else [*starts, life.first_seen]
    dates = [date for one in moments for date in (one.valid_from, one.valid_until)]
    periods = sorted(_periods(moments), key=lambda row: (row.relation, row.year or 0))
    return Summary(
        total=len(moments),
        current_total=len(current),
        current=tuple(one.uuid for one in latest[:CURRENT]),
        first_seen=min(seen, default=None),
        earliest=min(starts, default=None),
        never_changed=all(one.valid_until > reference for one in begun),
        unchanged_since=max((date for date in dates if -OPEN < date <= reference), default=None),
        periods=tuple(periods[:_ROWS]),
        truncated=len(periods) > _ROWS,
    )


def _periods(moments: Sequence[FactSummary]) -> Iterator[Period]:
    """Yields rows by relation and period; the row without a year counts open ends."""
    spelt: dict[str, str] = {}
    began: Counter[tuple[str, int | None]] = Counter()
    ended: Counter[tuple[str, int | None]] = Counter()
    length = _length([year for one in moments for year in _years(one) if year is not None])
    for one in sorted(moments):
        relation = spelt.setdefault(relation_key(one.relation), one.relation)
        start, end = _years(one)
        began[relation, _first(start, length)] += 1
        ended[relation, _first(end, length)] += 1
    for relation, year in {*began, *ended}:
        yield Period(relation, year, length, began[relation, year], ended[relation, year])


def _years(one: FactSummary) -> tuple[int | None, int | None]:
    """Returns the years of a fact's first and last moments."""
    return _year(one.valid_from), _last_year(one.valid_until)


def _year(seconds: float) -> int | None:
    if abs(seconds) >= OPEN:
        return None
    return datetime.fromtimestamp(min(seconds, _LAST_SECOND), UTC).year


def _last_year(until: float) -> int | None:
    """Returns the year of the last moment before an end; an end at the start of a year is in the previous one."""
    year = _year(until)
    if year is None or until != datetime(year, 1, 1, tzinfo=UTC).timestamp():
        return year
    return max(1, year - 1)


def _length(years: Iterable[int]) -> int:
    known = sorted(years)
    span = known[-1] - known[0] if known else 0
    if span < _YEARS:
        return 1
    return 10 if span < _DECADES else 100


def _first(year: int | None, length: int) -> int | None:
    return None if year is None else max(1, year - year % length)


def period_bounds(period: Period) -> tuple[datetime, datetime] | None:
    """Returns the first instant of a period and the first one after it; None for the row without a year."""
    if period.year is None:
        return None
    after = min(period.year - period.year % period.length + period.length, _LAST_YEAR)
    return datetime(period.year, 1, 1, tzinfo=UTC), datetime(after, 1, 1, tzinfo=UTC)
