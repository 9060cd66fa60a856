"""Measures whether a function's time grows linearly with its text."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

FACTOR = 4
# Linear growth is the factor itself, quadratic its square: the limit is between, for what memory and caches cost.
MAX_GROWTH = 2.2 * FACTOR
# A text that takes no longer shows no growth that matters.
_QUICK_SECONDS = 0.02
_ATTEMPTS = 4

Texts = Callable[[int], Iterator[str]]


def slow_texts(read: Callable[[str], Any], texts: Texts, size: int) -> list[str]:
    """Returns a sample of each text of `size` characters whose reading takes over `MAX_GROWTH` times that of a
    quarter."""
    short = texts(size // FACTOR)
    return [
        f"{long[:30]!r}…"
        for long, quarter in zip(texts(size), short, strict=True)
        if _seconds(read, long) > _QUICK_SECONDS and not _grows_linearly(read, quarter, long)
    ]


def _grows_linearly(read: Callable[[str], Any], short: str, long: str) -> bool:
    """Compares the least times of some attempts: other processes only ever make a reading slower."""
    least_short, least_long = float("inf"), float("inf")
    for _ in range(_ATTEMPTS):
        least_short = min(least_short, _seconds(read, short))
        least_long = min(least_long, _seconds(read, long))
        if least_long <= MAX_GROWTH * max(least_short, _QUICK_SECONDS / FACTOR):
            return True
    return False


def _seconds(read: Callable[[str], Any], text: str) -> float:
    start = time.process_time()
    try:
        result = read(text)
        if isinstance(result, Iterator):
            deque(result, maxlen=0)
    except Exception:  # noqa: BLE001, S110 - a refusal of the text takes time as well
        pass
    return time.process_time() - start
