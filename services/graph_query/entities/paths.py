"""The shortest paths between two entities: a bidirectional breadth-first search over the store's edges."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest

from services.graph_query.entities.domain import Step

MAX_ENTITIES = 50_000


MAX_STEPS = 200_000


Steps = Callable[[Sequence[str], int], Awaitable[Sequence[Step]]]


# The total number of facts of a path's entities, and the path.
Way = tuple[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """Paths of one length, best first; `incomplete` if the search was stopped."""

    ways: list[tuple[str, ...]] = field(default_factory=list)
    incomplete: bool = False


@dataclass(slots=True)
class _Side:
    """The entities reached from one end: by level, and each with its predecessors.

    Paths run from the source's end on both sides.
    """

    forward: bool
    levels: list[list[str]]
    before: dict[str, set[str]]
    degrees: dict[str, int]

    @classmethod
    def of(cls, uuid: str, *, forward: bool) -> _Side:
        return cls(forward, [[uuid]], {uuid: set()}, {uuid: 0})

    def grow(self, steps: Iterable[Step]) -> None:
        """Adds the next level."""
        level: dict[str, None] = {}
        for step in steps:
            if step.target in self.before and step.target not in level:
                continue
            level.setdefault(step.target)
            self.before.setdefault(step.target, set()).add(step.source)
            self.degrees[step.target] = step.degree
        self.levels.append(list(level))

    def best(self, limit: int, towards: Collection[str]) -> dict[str, list[Way]]:
        """Returns the best paths from this side's end to each of these entities of the last level."""
        wanted = self._on_the_way(towards)
        start = self.levels[0][0]
        ways: dict[str, list[Way]] = {start: [(0, (start,))]}
        for level in self.levels[1:]:
            for uuid in level:
                if uuid in wanted:
                    ways[uuid] = self._ways_to(uuid, ways, limit)
        return ways

    def _ways_to(self, uuid: str, ways: dict[str, list[Way]], limit: int) -> list[Way]:
        cost = self.degrees[uuid]
        longer = (
            (so_far + cost, (*way, uuid) if self.forward else (uuid, *way))
            for before in self.before[uuid]
            for so_far, way in ways[before]
        )
        return nsmallest(limit, longer)

    def _on_the_way(self, towards: Collection[str]) -> set[str]:
        wanted, frontier = set(towards), set(towards)
        while frontier:
            frontier = {before for uuid in frontier for before in self.before[uuid]} - wanted
            wanted |= frontier
        return wanted


async def shortest(ends: tuple[str, str], steps: Steps, max_hops: int, limit: int) -> Found:
    """Returns the `limit` best of the shortest paths: over entities with fewer facts, then by uuids."""
    if ends[0] == ends[1]:
        return Found([(ends[0],)])
    sides = (_Side.of(ends[0], forward=True), _Side.of(ends[1], forward=False))
    for _ in range(max_hops):
        side = min(sides, key=lambda one: len(one.levels[-1]))
        joined = await steps(side.levels[-1], MAX_STEPS)
        side.grow(joined)
        meeting = set(sides[0].levels[-1]) & set(sides[1].levels[-1])
        if meeting:
            given_up = len(joined) >= MAX_STEPS
            return Found(_joined(sides, meeting, limit), given_up)
        if not side.levels[-1]:
            return Found(incomplete=len(joined) >= MAX_STEPS)
        if len(joined) >= MAX_STEPS or sum(len(one.before) for one in sides) > MAX_ENTITIES:
            return Found(incomplete=True)
    return Found()


def _joined(
    sides: tuple[_Side, _Side], meeting: Collection[str], limit: int
) -> list[tuple[str, ...]]:
    heads, tails = (side.best(limit, meeting) for side in sides)
    ways = (
        (cost + more - sides[0].degrees[uuid], head + tail[1:])
        for uuid in meeting
        for cost, head in heads[uuid]
        for more, tail in tails[uuid]
    )
    return [way for _, way in nsmallest(limit, ways)]
