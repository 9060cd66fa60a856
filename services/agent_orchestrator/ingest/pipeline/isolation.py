"""Finds out which items of a batch are to blame for a failure, or that all fail alike and the tier is to blame.

Some failures say whose fault they are: a refused field is the item's own, an unavailable store is the tier's. For any
other, such as an internal error, the evidence decides. If several different items fail and none succeeds, also not in
other spaces at the same time, the tier is to blame: the items wait, and are tried again later. An item is to blame only
if it keeps failing alone while others succeed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from braid.common.v1 import errors_pb2
from services.agent_orchestrator.ingest.pipeline.refusals import (
    is_of_the_model,
    is_of_the_whole_batch,
)
from services.agent_orchestrator.jobs.retries import is_transient, reason_of
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.errors import is_unusable
from services.runtime.errors import BraidError

# How many items of a batch are tried alone to find one that succeeds.
SAMPLE = 5
# Failures in a row of an item alone after which it may be to blame; the waits between them double.
ATTEMPTS = 5
AGAIN_SECONDS = 0.25

Item = TypeVar("Item")


class Blame(Enum):
    """Whose fault a failure is."""

    ITEM = "item"
    TIER = "tier"
    UNKNOWN = "unknown"


class Refused(NamedTuple, Generic[Item]):
    """An item that is to blame, and why."""

    item: Item
    error: BraidError


class Evidence:
    """The last success of a stage in this process, in any space."""

    def __init__(self, tier: str) -> None:
        """`tier` is the tier's name for users, such as `the graph tier`."""
        self.tier = tier
        self._succeeded = float("-inf")

    def note_success(self) -> None:
        """Records that the tier has accepted something."""
        self._succeeded = asyncio.get_running_loop().time()

    def has_succeeded_since(self, when: float) -> bool:
        """Whether the tier has accepted anything since a time of the event loop's clock."""
        return self._succeeded >= when


def blame_of(error: BraidError) -> Blame:
    """Returns whose fault a failure is, as far as it says so itself."""
    if is_transient(error) or is_unusable(error) or is_of_the_whole_batch(error):
        return Blame.TIER
    if is_of_the_model(error):  # vectors that a caller never sent
        return Blame.UNKNOWN
    if error.reason in (
        errors_pb2.ERROR_REASON_INVALID_FIELD,
        errors_pb2.ERROR_REASON_OVERLOADED,  # without a known wait: the message is too large
    ):
        return Blame.ITEM
    return Blame.UNKNOWN


class Isolation(Generic[Item]):
    """Does work on batches of items, in one call if possible."""

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Awaitable[object]],
        evidence: Evidence,
        blame: Callable[[BraidError], Blame] = blame_of,
    ) -> None:
        """`work` may be repeated on the same items."""
        self._work = work
        self._evidence = evidence
        self._blame = blame

    async def run(self, items: Sequence[Item]) -> list[Refused[Item]]:
        """Does the work on all items except those returned. Raises a tier's own failure; WaitingError if all fail."""
        if not items:
            return []
        began = asyncio.get_running_loop().time()
        error = await self._failure(items)
        if error is None:
            return []
        if len(items) == 1:
            return await self._alone(items[0], error, began)
        if self._blame(error) is Blame.UNKNOWN and not await self._works_for_any(items, began):
            raise self._all_fail(error)
        return await self._halves(items, began)

    async def _halves(self, items: Sequence[Item], began: float) -> list[Refused[Item]]:
        half = (len(items) + 1) // 2
        refused: list[Refused[Item]] = []
        for part in (items[:half], items[half:]):
            error = await self._failure(part)
            if error is not None and len(part) == 1:
                refused += await self._alone(part[0], error, began)
            elif error is not None:
                refused += await self._halves(part, began)
        return refused

    async def _works_for_any(self, items: Sequence[Item], began: float) -> bool:
        """Tries some items alone; returns whether the tier works for one of them, or for another space."""
        # At random, so that the next attempt at the same batch tries others.
        for item in random.sample(items, min(SAMPLE, len(items))):
            error = await self._failure([item])
            if error is None or self._blame(error) is Blame.ITEM:
                return True
        return self._evidence.has_succeeded_since(began)

    async def _alone(self, item: Item, error: BraidError, began: float) -> list[Refused[Item]]:
        for attempt in range(1, ATTEMPTS):
            if self._blame(error) is Blame.ITEM:
                return [Refused(item, error)]
            await asyncio.sleep(AGAIN_SECONDS * 2 ** (attempt - 1))
            failure = await self._failure([item])
            if failure is None:
                return []
            error = failure
        if self._evidence.has_succeeded_since(began) or self._blame(error) is Blame.ITEM:
            return [Refused(item, error)]
        raise self._all_fail(error)

    async def _failure(self, items: Sequence[Item]) -> BraidError | None:
        """Returns the failure of the work on the items; raises one that is the tier's own."""
        try:
            await self._work(items)
        except BraidError as error:
            if self._blame(error) is Blame.TIER:
                raise
            return error
        self._evidence.note_success()
        return None

    def _all_fail(self, error: BraidError) -> WaitingError:
        return WaitingError(f"{self._evidence.tier} accepts nothing now: {reason_of(error)}", None)
