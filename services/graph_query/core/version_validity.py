"""The validity of a passage from the versions of its document, any of which may contain it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from services.graph_query.core.intervals import OPEN


class Period(NamedTuple):
    """A period from `since` to `until` in epoch seconds, except `gaps`: start and end of each, alternating."""

    since: float = -OPEN
    until: float = OPEN
    gaps: tuple[float, ...] = ()

    def meets(self, since: float, until: float) -> bool:
        """Returns whether the period overlaps a range whose ends are both inclusive."""
        if self.since > until or self.until <= since:
            return False
        ends = zip(self.gaps[::2], self.gaps[1::2], strict=True)
        return not any(begin <= since and until < end for begin, end in ends)


ALWAYS = Period()


def period_of(
    starts: Collection[float], versions: Collection[float], own_start: float = -OPEN
) -> Period:
    """Returns when a passage is valid, in a document with versions from `versions`, of which those in `starts` contain
    it.

    A version ends where the next one begins. A passage in no known version is valid without a start. No passage is
    valid before `own_start`: if that is later than all its versions, the period is empty.
    """
    own = sorted(starts) or [-OPEN]
    ends = dict(pairwise(sorted({*versions, *own})))
    spans = _joined([(start, ends.get(start, OPEN)) for start in own])
    last = spans[-1][1]
    spans = [(max(since, own_start), until) for since, until in spans if until > own_start]
    if not spans:
        return Period(last, last)
    gaps = tuple(end for former, later in pairwise(spans) for end in (former[1], later[0]))
    return Period(spans[0][0], spans[-1][1], gaps)


def _joined(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    joined = [spans[0]]
    for since, until in spans[1:]:
        if since == joined[-1][1]:
            joined[-1] = (joined[-1][0], until)
        else:
            joined.append((since, until))
    return joined
