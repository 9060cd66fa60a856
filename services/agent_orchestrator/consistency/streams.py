"""Compares two sorted streams of ids in constant memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple

from services.agent_orchestrator.clients.inventories import Ref


class UnmatchedRef(NamedTuple):
    """An item that only one stream has: the first stream if `first` is true."""

    first: bool
    ref: Ref


@dataclass(slots=True)
class Seen:
    """Number of items that each stream has yielded so far."""

    first: int = 0
    second: int = 0


async def symmetric_difference(
    first: AsyncIterator[Ref], second: AsyncIterator[Ref], seen: Seen
) -> AsyncIterator[UnmatchedRef]:
    """Yields the items that only one of two streams has, in order; both must be sorted by id, and are read once."""
    left, right = await anext(first, None), await anext(second, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left.id < right.id):
            assert left is not None  # noqa: S101 - for the type checker
            yield UnmatchedRef(True, left)
        elif left is None or right.id < left.id:
            yield UnmatchedRef(False, right)
        if left is None or (right is not None and right.id < left.id):
            seen.second += 1
            right = await anext(second, None)
        elif right is None or left.id < right.id:
            seen.first += 1
            left = await anext(first, None)
        else:
            seen.first, seen.second = seen.first + 1, seen.second + 1
            left, right = await anext(first, None), await anext(second, None)
