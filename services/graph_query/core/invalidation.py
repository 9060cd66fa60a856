"""Determines when a fact ends: as stated, unless a caller or a contradicting episode ended it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from services.graph_query.core.intervals import end_of

CALLER = ""
"""The cause of an ending that a caller asked for; any other one is the uuid of an episode."""


NOT_AFTER_START = (
    "must be after the time since when the fact holds; withdraw a fact that has never been true"
)
"""Why a fact cannot end at its start."""


class Ending(NamedTuple):
    """A record that a cause ends a fact at an instant."""

    cause: str
    at: datetime


class End(NamedTuple):
    """When a fact ends, and the episode that caused it: "" if the end is as stated or set by a caller."""

    at: datetime | None
    told_by: str = ""


def effective_end(stated: datetime | None, endings: Iterable[Ending]) -> End:
    """Returns the end set by a caller if any, else the earliest of the stated one and those set by episodes."""
    parameters = {ending.cause: ending.at for ending in endings}
    if CALLER in parameters:
        return End(parameters[CALLER])
    ends = [End(stated), *(End(parameters[cause], cause) for cause in sorted(parameters))]
    return min(ends, key=lambda end: end_of(end.at))
