"""A plain bitemporal table: what any store of facts must equal, by the simplest loops there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from services.graph_query.core.domain import FactFilter, GivenFact
from services.graph_query.core.intervals import OPEN, end_of, start_of

# Subject, relation, object, start, end.
Row = tuple[str, str, str, float, float]


@dataclass(slots=True)
class Span:
    """A row and the span of time over which it was known."""

    row: Row
    known_from: int
    known_until: int | None = None


@dataclass(slots=True)
class Table:
    """Rows with both clocks; the known clock counts writes."""

    spans: list[Span] = field(default_factory=list)
    now: int = 0

    def becomes(self, rows: Iterable[Row]) -> None:
        """The next write leaves these rows."""
        self.now += 1
        current = set(rows)
        for span in self.spans:
            if span.known_until is None and span.row not in current:
                span.known_until = self.now
        there = {span.row for span in self.spans if span.known_until is None}
        self.spans += [Span(row, self.now) for row in sorted(current - there)]

    def known(self, at: int) -> set[Row]:
        """The rows that were known after write number `at`."""
        return {
            span.row
            for span in self.spans
            if span.known_from <= at and (span.known_until is None or at < span.known_until)
        }

    def holding(self, at: int, only: FactFilter) -> set[Row]:
        """Of those, the rows that held at a time."""
        return {row for row in self.known(at) if row[3] <= only.until and row[4] > only.since}


def row_of(fact: GivenFact, end: float | None = None) -> Row:
    """A given fact as a row, ended at `end` when that is given."""
    until = end_of(fact.invalid_at) if end is None else end
    return fact.subject.name, fact.relation, fact.object.name, start_of(fact.valid_at), until


def statement(row: Row) -> tuple[str, str, str]:
    """What a row says."""
    return row[:3]


def differences(
    table: Table, at: int, before: FactFilter, after: FactFilter
) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """What was said at the first time only, and at the second time only."""
    first = {statement(row) for row in table.holding(at, before)}
    second = {statement(row) for row in table.holding(at, after)}
    return first - second, second - first


ALWAYS = FactFilter(-OPEN, OPEN)
