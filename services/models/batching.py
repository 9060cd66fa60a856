"""Groups sequences of similar length, to reduce padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Returns positions of `lengths`, longest first, in batches of at most `budget` padded tokens each.

    A sequence longer than the budget is a batch of its own. Longest first balances the workers, as the last batches are
    small.
    """
    batch: list[int] = []
    longest = 0
    for position in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and longest * (len(batch) + 1) > budget:
            yield batch
            batch = []
        if not batch:
            longest = lengths[position]
        batch.append(position)
    if batch:
        yield batch


def by_size(sizes: Sequence[int], count: int, total: int) -> Iterator[range]:
    """Groups consecutive positions: at most `count` per group, with sizes of at most `total` in sum (or one item)."""
    start, held = 0, 0
    for position, size in enumerate(sizes):
        if position > start and (position - start == count or held + size > total):
            yield range(start, position)
            start, held = position, 0
        held += size
    if start < len(sizes):
        yield range(start, len(sizes))
