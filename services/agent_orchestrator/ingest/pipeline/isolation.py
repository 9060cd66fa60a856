"""Finds out which items of a batch are to blame for a failure, or that all fail alike and the tier is to blame.

Some failures say whose fault they are: a refused field is the item's own, an unavailable store is the tier's. For any
other, such as an internal error, the evidence decides. If different items fail and none succeeds, also not in other
spaces at the same time, the tier is to blame: the items wait, and are tried again later. An item is to blame only if it
keeps failing alone while others succeed, or if for a long time a few items are all that is tried: then there will be no
evidence, and they must not wait forever.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
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
# If no more than `SAMPLE` items are tried, each is given up after so many rounds of attempts, over at least so long.
FEW_ROUNDS = 20
FEW_SECONDS = 3600.0
# An item that was not tried for so long is no longer among those that fail.
_FORGOTTEN_SECONDS = 3600.0

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


@dataclass(slots=True)
class _Failing:
    """Since when an item has failed, in how many rounds, and when it last did, by the event loop's clock."""

    since: float
    last: float
    rounds: int = 0


class Evidence:
    """What a stage in this process, in any space, shows about its tier: its last success, and what failed since."""

    def __init__(self, tier: str) -> None:
        """`tier` is the tier's name for users, such as `the graph tier`."""
        self.tier = tier
        self._succeeded = float("-inf")
        self._failing: dict[Hashable, _Failing] = {}

    def note_success(self) -> None:
        """Records that the tier has accepted something."""
        self._succeeded = asyncio.get_running_loop().time()
        self._failing.clear()

    def are_exhausted(self, keys: Sequence[Hashable]) -> bool:
        """Counts a round of attempts of items that all failed; returns whether it was the last one of each.

        While more than `SAMPLE` different items fail, the tier is to blame, and rounds do not count. A round that found
        the tier unavailable does not get here.
        """
        now = asyncio.get_running_loop().time()
        self._failing = {
            key: one for key, one in self._failing.items() if now - one.last <= _FORGOTTEN_SECONDS
        }
        # One more than a few is enough to know that there are many.
        tried = [self._failing.setdefault(key, _Failing(now, now)) for key in keys[: SAMPLE + 1]]
        if len(self._failing) > SAMPLE:
            self._failing = {key: _Failing(now, one.last) for key, one in self._failing.items()}
            return False
        for one in tried:
            one.rounds, one.last = one.rounds + 1, now
        if any(one.rounds < FEW_ROUNDS or now - one.since < FEW_SECONDS for one in tried):
            return False
        for key in keys:
            del self._failing[key]  # if it is retried, it has all attempts again
        return True

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
        key: Callable[[Item], Hashable],
        blame: Callable[[BraidError], Blame] = blame_of,
    ) -> None:
        """`work` may be repeated on the same items; `key` identifies an item in later runs, among all spaces."""
        self._work = work
        self._key = key
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
            return self._given_up(items, error)
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
        return self._given_up([item], error)

    def _given_up(self, items: Sequence[Item], error: BraidError) -> list[Refused[Item]]:
        """Returns items that all failed if each has had its last attempt. Raises WaitingError otherwise."""
        if self._evidence.are_exhausted([self._key(item) for item in items]):
            return [Refused(item, error) for item in items]
        waiting = f"{self._evidence.tier} accepts nothing now: {reason_of(error)}"
        raise WaitingError(waiting, None)

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
