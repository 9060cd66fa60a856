"""Judges responses during a fault: false claims, late responses and defects. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from tests.faults.cases import (
    ASK,
    CHAT,
    MODEL_ASK,
    RERANKED,
    SEARCH,
    Expected,
)

GRACE_SECONDS = 0.05
_SEARCHED = frozenset({"OK", "NO_MATCH"})
_ANSWERS = frozenset({CHAT, ASK, MODEL_ASK})
_SEARCHES = frozenset({SEARCH, RERANKED})
_STACK_TRACES = ("Traceback", 'File "', "Exception")


@dataclass(frozen=True)
class Attempt:
    """One request and its response. `status` is the HTTP status, 0 if no response came in time."""

    operation: str
    deadline: float
    elapsed: float
    status: int
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Returns whether the response reports success."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def hangs(attempt: Attempt) -> bool:
    """Returns whether the response came after the request's deadline, or never."""
    return not attempt.status or attempt.elapsed > attempt.deadline + GRACE_SECONDS


def lies(attempt: Attempt, expected: Expected) -> Iterator[str]:
    """Yields false claims of the response, and failures that it does not report."""
    if not attempt.succeeded:
        return
    if attempt.operation in expected.failing:
        yield f"{attempt.operation} succeeded without what it needs"
        return
    if attempt.operation in _SEARCHES:
        yield from _lies_of_search(attempt, expected)
    if attempt.operation in _ANSWERS and expected.parts:
        yield from _lies_of_answer(attempt, expected)


def defects(attempt: Attempt, expected: Expected) -> Iterator[str]:
    """Yields defects that no fault excuses: internal errors, stack traces, failures of operations that should work."""
    if attempt.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        yield f"{attempt.operation} ended in an internal error"
    if any(sign in str(attempt.body) for sign in _STACK_TRACES):
        yield f"{attempt.operation} shows a stack trace"
    answered = attempt.operation in _SEARCHES | _ANSWERS
    if answered and attempt.operation not in expected.failing and not attempt.succeeded:
        yield f"{attempt.operation} failed with {attempt.status}: {attempt.body.get('detail')}"


def is_whole(attempt: Attempt) -> bool:
    """Returns whether the response is complete: a success with all legs and parts."""
    if not attempt.succeeded:
        return False
    if attempt.operation in _SEARCHES:
        return all(_has_searched(leg) for leg in attempt.body["legs"]) and not _is_degraded(attempt)
    if attempt.operation in _ANSWERS:
        return not attempt.body["unavailable"]
    return True


def missing_parts(attempt: Attempt) -> str:
    """Describes what is missing in an incomplete response."""
    if not attempt.succeeded:
        return f"{attempt.status} {attempt.body.get('detail', '')}"
    if attempt.operation in _SEARCHES:
        ended = [f"{leg['name']} {leg['status']} {leg['reason']}" for leg in attempt.body["legs"]]
        return ", ".join(ended)
    return f"without {attempt.body.get('unavailable')}"


def _lies_of_search(attempt: Attempt, expected: Expected) -> Iterator[str]:
    legs = {leg["name"]: leg for leg in attempt.body["legs"]}
    for name in sorted(expected.legs):
        if _has_searched(legs[name]):
            yield f"the leg {name} says {legs[name]['status']} and cannot have looked"
    if expected.degraded and attempt.operation == RERANKED and not _is_degraded(attempt):
        yield "the results are said to be reranked"


def _lies_of_answer(attempt: Attempt, expected: Expected) -> Iterator[str]:
    named = set(attempt.body["unavailable"])
    if not named & expected.parts:
        yield f"{attempt.operation} names {sorted(named)} as unavailable, not {sorted(expected.parts)}"
    if not attempt.body["answer"].strip():
        yield f"{attempt.operation} has an empty answer"


def _has_searched(leg: Mapping[str, Any]) -> bool:
    return leg["status"] in _SEARCHED


def _is_degraded(attempt: Attempt) -> bool:
    reranking = attempt.body.get("reranking")
    return reranking is not None and reranking["status"] != "OK"
