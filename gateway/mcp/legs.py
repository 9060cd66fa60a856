"""The outcome of the parts of a search, so that "no match" and "could not search" are distinguishable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from braid.common.v1 import legs_pb2
from gateway.mcp.results import Status

_LOOKED = frozenset(
    {legs_pb2.LEG_STATUS_OK, legs_pb2.LEG_STATUS_NO_MATCH, legs_pb2.LEG_STATUS_DEGRADED}
)
_WHOLE = frozenset(
    {legs_pb2.LEG_STATUS_OK, legs_pb2.LEG_STATUS_NO_MATCH, legs_pb2.LEG_STATUS_DISABLED}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A search's status, its sentence, and each leg's outcome by name."""

    status: Status
    legs: dict[str, str]
    lost: str

    def message(self, words: str) -> str:
        """Returns `words` about the results, with the parts that could not be searched."""
        if self.status == "no_match":
            return "Nothing in this space matches; every part was searched."
        if self.status == "could_not_search":
            return (
                f"Nothing could be searched ({self.lost}): whether there is a match is not known."
            )
        if self.status == "incomplete":
            return f"{words} A part could not be searched ({self.lost}): there may be more."
        return words


class LegEnd(NamedTuple):
    """The outcome of a part of a search, with the name that the tools use."""

    name: str
    status: legs_pb2.LegStatus.ValueType
    reason: legs_pb2.LegReason.ValueType


def outcome(legs: Sequence[LegEnd], *, found: bool) -> Outcome:
    """Returns the outcome of a search from those of its legs."""
    ends = {leg.name: _end(leg) for leg in legs}
    lost = "; ".join(f"{leg.name}: {ends[leg.name]}" for leg in legs if leg.status not in _WHOLE)
    return Outcome(_status(legs, found=found, lost=bool(lost)), ends, lost)


def reported(report: legs_pb2.LegReport) -> LegEnd:
    """Returns the outcome of one of several legs."""
    name = legs_pb2.Leg.Name(report.leg).removeprefix("LEG_").lower()
    return LegEnd(name, report.status, report.reason)


def expanded(answer: Any) -> list[LegEnd]:
    """How the step along the graph ended, of a search that took it."""
    if not answer.HasField("expansion"):
        return []
    return [LegEnd("expansion", answer.expansion.status, answer.expansion.reason)]


def only_leg(name: str, answer: Any) -> LegEnd:
    """Returns the outcome of a search with one leg."""
    return LegEnd(name, answer.leg.status, answer.leg.reason)


def _status(legs: Iterable[LegEnd], *, found: bool, lost: bool) -> Status:
    if not lost:
        return "found" if found else "no_match"
    looked = found or any(leg.status in _LOOKED for leg in legs)
    return "incomplete" if looked else "could_not_search"


def _end(leg: LegEnd) -> str:
    status = legs_pb2.LegStatus.Name(leg.status).removeprefix("LEG_STATUS_")
    if not leg.reason:
        return status
    return f"{status} ({legs_pb2.LegReason.Name(leg.reason).removeprefix('LEG_REASON_')})"
