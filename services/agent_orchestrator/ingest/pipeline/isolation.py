"""Finds out which items of a batch are to blame for a failure, or that all fail alike and the tier is to blame.

Some failures say whose fault they are: a refused field is the item's own, an unavailable store is the tier's. For any
other, such as an internal error, the evidence decides. If several different items fail and none succeeds, also not in
other spaces at the same time, the tier is to blame: the items wait, and are tried again later. An item is to blame only
if it keeps failing alone while others succeed, or for a long time while nothing else is tried: then there will be no
evidence, and it must not wait forever.
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
# An item that is the only one to be tried is given up after so many rounds of attempts, over at least so long.
LONE_ROUNDS = 20
LONE_SECONDS = 3600.0

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
class _LoneFailure:
    """The item that alone has failed since a time of the event loop's clock, in how many rounds of attempts."""

    key: Hashable
    since: float
    rounds: int = 0


class Evidence:
    """What a stage in this process, in any space, shows about its tier: the last success, and an item failing alone."""

    def __init__(self, tier: str) -> None:
        """`tier` is the tier's name for users, such as `the graph tier`."""
        self.tier = tier
        self._succeeded = float("-inf")
        self._lone: _LoneFailure | None = None

    def note_success(self) -> None:
        """Records that the tier has accepted something."""
        self._succeeded = asyncio.get_running_loop().time()
        self._lone = None

    def note_several_failures(self) -> None:
        """Records that different items fail alike: the tier is to blame, so no attempt of one of them counts."""
        self._lone = None

    def is_exhausted(self, key: Hashable) -> bool:
        """Counts a round of attempts of an item that failed alone; returns whether it was the last one.

        Rounds count for as long as no other item is tried. A round that found the tier unavailable does not get here.
        """
        now = asyncio.get_running_loop().time()
        if self._lone is None or self._lone.key != key:
            self._lone = _LoneFailure(key, now)
        self._lone.rounds += 1
        exhausted = self._lone.rounds >= LONE_ROUNDS and now - self._lone.since >= LONE_SECONDS
        if exhausted:
            self._lone = None  # if it is retried, it has all attempts again
        return exhausted

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
            self._evidence.note_several_failures()
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
        if self._evidence.is_exhausted(self._key(item)):
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
