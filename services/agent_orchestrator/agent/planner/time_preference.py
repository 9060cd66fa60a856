"""Prefers, of statements that answer alike, the one that is in force at the time of the question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from services.agent_orchestrator.agent.planner.dates.expressions import TimeExpression, find_times
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.statements import Statement
from services.agent_orchestrator.agent.results import ResultItem
from services.runtime.patterns import compile_linear

# Statements within this many logits of the best one answer alike.
ALIKE: Final = 3.0
_CORRECTS: Final = compile_linear(
    r"\b(?:correction|corrigendum|erratum|errata|corrected)\b", ignore_case=True
)
_ASKS_FIRST: Final = compile_linear(
    r"\b(?:first|original|originally|initial|initially|earliest|oldest)\b", ignore_case=True
)
# A period that a date opens: "From 1 April 2025 the probe costs £120".
_OPENS: Final = compile_linear(
    r"^(?:from|since|starting|beginning|effective|as of|as from)\b", ignore_case=True
)
_CLOSES: Final = compile_linear(r"\b(?:to|until|till|through|and)\b|[-–—]", ignore_case=True)
_OPENING_WORD: Final = compile_linear(
    r"\b(?:effective|starting|beginning)(?: on| from)?\s*$", ignore_case=True
)


def in_force(statements: Sequence[Statement], question: Question) -> list[Statement]:
    """Returns statements about the question's time, best first; those that answer alike with the latest first.

    A correction precedes what it corrects. A statement without a date is never newer than one with a date. Statements
    that only hold later than the question's time are left out, unless nothing else answers.
    """
    fitting = [one for one in statements if _is_about(one, question)]
    if not fitting:
        return []
    best = fitting[0].score
    alike = [one for one in fitting if one.score >= best - ALIKE]
    rest = [one for one in fitting if one.score < best - ALIKE]
    reverse = not _ASKS_FIRST.search(question.text)
    return sorted(alike, key=lambda one: _age(one, question.clock), reverse=reverse) + rest


def began(one: Statement, clock: Clock) -> datetime | None:
    """Returns when a statement came into force: the date that opens its own period, otherwise that of its document."""
    opened = [
        time.range.start or time.range.end
        for time in _named_times(one, clock)
        if opens_period(time, one.text)
    ]
    starts = [start for start in opened if start is not None]
    return max(starts) if starts else given_date(one.item)


def given_date(item: ResultItem) -> datetime | None:
    """Returns the date that somebody gave a document or fact; None for one that is valid from when it was written.

    Only the time of a write has a fraction of a second.
    """
    since = item.valid_from
    return None if since is None or since.microsecond else since


def opens_period(time: TimeExpression, text: str) -> bool:
    """Whether a time expression is the beginning of a period that is still open: "from D", "since D", "as of D"."""
    if time.kind in {"since", "as_of"}:
        return True
    said = text[time.start : time.end]
    if _OPENING_WORD.search(text[: time.start]):
        return True
    return time.kind == "range" and bool(_OPENS.search(said)) and not _CLOSES.search(said)


def _age(one: Statement, clock: Clock) -> tuple[bool, int, float]:
    """Returns a key that grows: corrections last, then by day, then by score."""
    since = began(one, clock)
    title = one.citation.title if one.citation is not None else ""
    corrects = bool(_CORRECTS.search(title) or _CORRECTS.search(one.text[:40]))
    return corrects, since.toordinal() if since is not None else 0, one.score


def _is_about(one: Statement, question: Question) -> bool:
    """Whether the period that a statement names includes the question's time; one that names none always does."""
    clock = question.clock
    start, end = _asked_period(question)
    named = _named_times(one, clock)
    if not named:
        return True
    if not question.times:
        opening = [began(one, clock)] if any(opens_period(t, one.text) for t in named) else []
        return all(since is None or since <= clock.now for since in opening)
    return any(_overlaps(time, one.text, start, end) for time in named)


def _named_times(one: Statement, clock: Clock) -> list[TimeExpression]:
    """Returns the times in a statement; "yesterday" in a message means the day before the message."""
    written = clock.now if one.message is None else one.message.time
    return list(find_times(one.text, written, clock.zone))


def _asked_period(question: Question) -> tuple[datetime | None, datetime | None]:
    if not question.times:
        return None, None
    asked = question.times[0].range
    return asked.start, asked.end


def _overlaps(
    time: TimeExpression, text: str, start: datetime | None, end: datetime | None
) -> bool:
    """Whether the named period and the question's have a moment in common."""
    if opens_period(time, text):
        since = time.range.start or time.range.end
        return since is None or end is None or since < end
    begins, ends = time.range.start, time.range.end
    return (end is None or begins is None or begins < end) and (
        start is None or ends is None or ends > start
    )
