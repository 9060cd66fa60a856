"""A reference implementation of a bitemporal table, which every store of facts must match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from services.graph_query.core.domain import FactFilter, GivenFact
from services.graph_query.core.intervals import OPEN, end_of, start_of

# Subject, relation, object, start, end.
Row = tuple[str, str, str, float, float]


@dataclass(slots=True)
class Span:
    """A row and the range of writes during which it was known."""

    row: Row
    known_from: int
    known_until: int | None = None


@dataclass(slots=True)
class Table:
    """Rows in valid time and in knowledge time; knowledge time is the number of the write."""

    spans: list[Span] = field(default_factory=list)
    now: int = 0

    def record_write(self, rows: Iterable[Row]) -> None:
        """Records the next write, after which exactly these rows are known."""
        self.now += 1
        current = set(rows)
        for span in self.spans:
            if span.known_until is None and span.row not in current:
                span.known_until = self.now
        known_now = {span.row for span in self.spans if span.known_until is None}
        self.spans += [Span(row, self.now) for row in sorted(current - known_now)]

    def known(self, at: int) -> set[Row]:
        """Returns the rows that were known after write number `at`."""
        return {
            span.row
            for span in self.spans
            if span.known_from <= at and (span.known_until is None or at < span.known_until)
        }

    def valid_at(self, at: int, only: FactFilter) -> set[Row]:
        """Returns the known rows that are valid at a time."""
        return {row for row in self.known(at) if row[3] <= only.until and row[4] > only.since}


def row_of(fact: GivenFact, end: float | None = None) -> Row:
    """Converts a given fact to a row; `end`, unless None, replaces its end."""
    until = end_of(fact.invalid_at) if end is None else end
    return fact.subject.name, fact.relation, fact.object.name, start_of(fact.valid_at), until


def statement(row: Row) -> tuple[str, str, str]:
    """Returns a row without its validity."""
    return row[:3]


def differences(
    table: Table, at: int, before: FactFilter, after: FactFilter
) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """Returns the statements valid only at the first time, and those valid only at the second."""
    first = {statement(row) for row in table.valid_at(at, before)}
    second = {statement(row) for row in table.valid_at(at, after)}
    return first - second, second - first


ALWAYS = FactFilter(-OPEN, OPEN)
