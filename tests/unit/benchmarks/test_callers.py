"""Comparing several targets with one caller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import pairwise

from tests.benchmarks.callers import compare


async def calls_of(items: int, block: int) -> list[tuple[str, int]]:
    """Returns which target was called with which item, in order."""
    calls: list[tuple[str, int]] = []

    def target(name: str) -> Callable[[int], Awaitable[None]]:
        async def ask(item: int) -> None:
            calls.append((name, item))

        return ask

    samples = await compare({name: target(name) for name in "abc"}, range(items), block)
    assert {name: len(sample.times_ms) for name, sample in samples.items()} == dict.fromkeys(
        "abc", items
    )
    return calls


async def test_every_item_is_sent_to_every_target_once() -> None:
    assert Counter(await calls_of(7, 3)) == {(name, item): 1 for name in "abc" for item in range(7)}


async def test_no_item_is_sent_to_two_targets_in_a_row() -> None:
    items = [item for _, item in await calls_of(6, 2)]

    assert all(one != other for one, other in pairwise(items))


async def test_each_target_is_called_first_for_an_equal_number_of_items() -> None:
    first: dict[int, str] = {}
    for name, item in await calls_of(6, 2):
        first.setdefault(item, name)

    assert Counter(first.values()) == {"a": 2, "b": 2, "c": 2}
