"""What an answer under a fault must not do: lie, hang, or end in a defect. Needs nothing that runs."""

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
_LOOKED = frozenset({"OK", "NO_MATCH"})
_ANSWERS = frozenset({CHAT, ASK, MODEL_ASK})
_SEARCHES = frozenset({SEARCH, RERANKED})
_STACK_TRACES = ("Traceback", 'File "', "Exception")


@dataclass(frozen=True)
class Attempt:
    """One request and its answer. `status` is HTTP's, 0 when none came within the caller's patience."""

    operation: str
    deadline: float
    elapsed: float
    status: int
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether it claims to have done what was asked."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def hangs(attempt: Attempt) -> bool:
    """Whether the answer came later than the request's deadline allows, or never."""
    return not attempt.status or attempt.elapsed > attempt.deadline + GRACE_SECONDS


def lies(attempt: Attempt, expected: Expected) -> Iterator[str]:
    """What the answer claims that cannot be true, or keeps to itself."""
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
    """What is wrong whatever is away: an internal error, a stack trace, a failure of what lacks nothing."""
    if attempt.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        yield f"{attempt.operation} ended in an internal error"
    if any(sign in str(attempt.body) for sign in _STACK_TRACES):
        yield f"{attempt.operation} shows a stack trace"
    answered = attempt.operation in _SEARCHES | _ANSWERS
    if answered and attempt.operation not in expected.failing and not attempt.succeeded:
        yield f"{attempt.operation} failed with {attempt.status}: {attempt.body.get('detail')}"


def is_whole(attempt: Attempt) -> bool:
    """Whether everything has taken part again."""
    if not attempt.succeeded:
        return False
    if attempt.operation in _SEARCHES:
        return all(_looked(leg) for leg in attempt.body["legs"]) and not _is_degraded(attempt)
    if attempt.operation in _ANSWERS:
        return not attempt.body["unavailable"]
    return True


def lacks(attempt: Attempt) -> str:
    """What an answer that is not whole lacks, in words."""
    if not attempt.succeeded:
        return f"{attempt.status} {attempt.body.get('detail', '')}"
    if attempt.operation in _SEARCHES:
        ended = [f"{leg['name']} {leg['status']} {leg['reason']}" for leg in attempt.body["legs"]]
        return ", ".join(ended)
    return f"without {attempt.body.get('unavailable')}"


def _lies_of_search(attempt: Attempt, expected: Expected) -> Iterator[str]:
    legs = {leg["name"]: leg for leg in attempt.body["legs"]}
    for name in sorted(expected.legs):
        if _looked(legs[name]):
            yield f"the leg {name} says {legs[name]['status']} and cannot have looked"
    if expected.degraded and attempt.operation == RERANKED and not _is_degraded(attempt):
        yield "the results are said to be reranked"


def _lies_of_answer(attempt: Attempt, expected: Expected) -> Iterator[str]:
    named = set(attempt.body["unavailable"])
    if not named & expected.parts:
        yield f"{attempt.operation} names {sorted(named)} as unavailable, not {sorted(expected.parts)}"
    if not attempt.body["answer"].strip():
        yield f"{attempt.operation} has an empty answer"


def _looked(leg: Mapping[str, Any]) -> bool:
    return leg["status"] in _LOOKED


def _is_degraded(attempt: Attempt) -> bool:
    reranking = attempt.body.get("reranking")
    return reranking is not None and reranking["status"] != "OK"
