"""Measures of retrieval quality and of spread, over ranked lists of ids."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence


def distinct(ids: Iterable[str]) -> list[str]:
    """The ids in their order, each at its best rank: several chunks of a document are one hit."""
    return list(dict.fromkeys(ids))


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of `gold` among the first `k`, 0-1. ValueError without gold: nothing could be found."""
    if not gold:
        raise ValueError("a question without gold ids cannot be scored")
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def precision_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the first `k` that is in `gold`, 0-1; places that are not filled count as wrong."""
    return len(set(ranked[:k]) & set(gold)) / k


def ndcg_at(ranked: Sequence[str], relevance: Mapping[str, float], k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, 0-1, with linear gain.

    Ids without an entry are not relevant. ValueError when nothing is relevant.
    """
    ideal = _discounted(sorted(relevance.values(), reverse=True)[:k])
    if ideal <= 0:
        raise ValueError("a question without relevant ids cannot be scored")
    return _discounted([relevance.get(each, 0.0) for each in distinct(ranked)[:k]]) / ideal


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean. ValueError when there are no values."""
    if not values:
        raise ValueError("no values to average")
    return math.fsum(values) / len(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which `percent` of the values lie, interpolated between neighbors.

    ValueError when there are no values or `percent` is outside 0-100.
    """
    if not values:
        raise ValueError("no values to rank")
    if not 0 <= percent <= 100:
        raise ValueError("percent must be between 0 and 100")
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def reciprocal_rank(matches: Iterable[bool]) -> float:
    """1 / the place of the first match in a ranked list, from 1; 0 without any."""
    return next((1 / rank for rank, match in enumerate(matches, start=1) if match), 0.0)


def is_limit_stable(lists: Mapping[int, Sequence[str]]) -> bool:
    """Whether the list of each limit is the head of the list of the largest. ValueError without lists."""
    longest = lists[max(lists)]
    return all(list(found) == list(longest[:limit]) for limit, found in lists.items())


def share(matches: Sequence[bool]) -> float:
    """Percentage that is true, 0-100. ValueError when there are none to count."""
    return 100 * mean([float(match) for match in matches])
