"""When a fact ends: as stated, unless a caller has ended it, unless episodes that contradict it have."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from services.graph_query.intervals import end_of

CALLER = ""
"""The cause of an ending that a caller asked for; any other one is the uuid of an episode."""


class Ending(NamedTuple):
    """That a fact ends at an instant, and what says so."""

    cause: str
    at: datetime


def effective_end(stated: datetime | None, endings: Iterable[Ending]) -> datetime | None:
    """The caller's word if there is one, else the earliest of what is stated and what episodes say."""
    told = {ending.cause: ending.at for ending in endings}
    if CALLER in told:
        return told[CALLER]
    return min([stated, *told.values()], key=end_of)
