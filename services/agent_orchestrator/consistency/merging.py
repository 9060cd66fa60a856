"""Two sorted streams of ids compared in one pass: what only one of them has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple

from services.agent_orchestrator.consistency.inventories import Ref


class OneSided(NamedTuple):
    """What only one stream has: the first, if `first`."""

    first: bool
    ref: Ref


@dataclass(slots=True)
class Seen:
    """How many each stream had so far."""

    first: int = 0
    second: int = 0


async def one_sided(
    first: AsyncIterator[Ref], second: AsyncIterator[Ref], seen: Seen
) -> AsyncIterator[OneSided]:
    """What only one of two streams has, in order; both are sorted by id, and read once."""
    left, right = await anext(first, None), await anext(second, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left.id < right.id):
            assert left is not None  # noqa: S101 - for the type checker
            yield OneSided(True, left)
        elif left is None or right.id < left.id:
            yield OneSided(False, right)
        if left is None or (right is not None and right.id < left.id):
            seen.second += 1
            right = await anext(second, None)
        elif right is None or left.id < right.id:
            seen.first += 1
            left = await anext(first, None)
        else:
            seen.first, seen.second = seen.first + 1, seen.second + 1
            left, right = await anext(first, None), await anext(second, None)
