"""Metrics of retrieval quality over ranked lists of ids, and statistics."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence


def distinct(ids: Iterable[str]) -> list[str]:
    """Returns the ids in order, each at its best rank, as several chunks of a document are one hit."""
    return list(dict.fromkeys(ids))


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Returns the share of `gold` among the first `k`, 0-1. Raises ValueError without gold."""
    if not gold:
        raise ValueError("a question without gold ids cannot be scored")
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def precision_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Returns the share of the first `k` that is in `gold`, 0-1; missing places count as wrong."""
    return len(set(ranked[:k]) & set(gold)) / k


def ndcg_at(ranked: Sequence[str], relevance: Mapping[str, float], k: int) -> float:
    """Returns the normalized discounted cumulative gain of the first `k`, 0-1, with linear gain.

    Ids without an entry are not relevant. Raises ValueError if nothing is relevant.
    """
    ideal = _discounted(sorted(relevance.values(), reverse=True)[:k])
    if ideal <= 0:
        raise ValueError("a question without relevant ids cannot be scored")
    return _discounted([relevance.get(each, 0.0) for each in distinct(ranked)[:k]]) / ideal


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def mean(values: Sequence[float]) -> float:
    """Returns the arithmetic mean. Raises ValueError without values."""
    if not values:
        raise ValueError("no values to average")
    return math.fsum(values) / len(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """Returns the value below which `percent` of the values are, interpolated between neighbors.

    Raises ValueError without values, or if `percent` is outside 0-100.
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
    """Returns 1 / rank of the first match in a ranked list, 0 without a match."""
    return next((1 / rank for rank, match in enumerate(matches, start=1) if match), 0.0)


def is_limit_stable(lists: Mapping[int, Sequence[str]]) -> bool:
    """Returns whether each limit's list is a prefix of the largest limit's. Raises ValueError without lists."""
    longest = lists[max(lists)]
    return all(list(found) == list(longest[:limit]) for limit, found in lists.items())


def share(matches: Sequence[bool]) -> float:
    """Returns the percentage of true values, 0-100. Raises ValueError without values."""
    return 100 * mean([float(match) for match in matches])
