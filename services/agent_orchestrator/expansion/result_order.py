"""Orders results as the expansion ranks them, with descending scores. Pure.

The displayed score stays on the relevance scale: the first result shows the best own score of all ordered results, the
second the second best, and so on. The difference to a result's own score is the expansion's share. Results that the
expansion did not order follow; facts without a chunk are placed by their score.

A search often finds the answer itself. Those of its first results that answer directly, by a stated fact close to the
question or by a score near 1, keep their order before the results that the expansion orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2
from services.agent_orchestrator.expansion.query_aware import ReachedPassage
from services.models.embedding.relevance import unbend

# How many of the first results may stay first; the score from which a passage answers by itself (where the relevance
# scale begins to bend); and the support that a fact close to the question adds to a passage's score.
_FIRST = 3
_DIRECT_SCORE = 0.8
_DIRECT_SUPPORT = 0.075


def arrange(
    results: Sequence[search_pb2.SearchResult],
    reached: Sequence[ReachedPassage],
    fresh: Mapping[str, search_pb2.SearchResult],
    chunk_ids: frozenset[str],
    *,
    by_value: bool = False,
) -> list[search_pb2.SearchResult]:
    """Returns all results, best first.

    `fresh` are the results of reached passages that are not in `results`; `chunk_ids` are those of `results` that are
    passages. Passages in neither are not listed. `by_value` shows the mode's own values, which are scores.
    """
    known = {one.id: one for one in results if one.id in chunk_ids} | dict(fresh)
    ordered = [one for one in reached if one.chunk_id in known]
    if not by_value:
        ordered = _direct_first(ordered, results, chunk_ids)
    named = {one.chunk_id for one in ordered}
    rest = [one for one in results if one.id not in named]
    own = [one.value if by_value else known[one.chunk_id].score for one in ordered]
    shown = sorted(own, reverse=True)
    listed = []
    for rank, (one, score) in enumerate(zip(ordered, shown, strict=True), 1):
        result = known[one.chunk_id]
        _move(result, score, rank)
        if one.trace is not None:
            result.expansion.CopyFrom(one.trace)
        listed.append(result)
    least = shown[-1] if shown else 1.0
    for result in rest:
        if result.id in chunk_ids and result.score > least:
            _move(result, least, 0)
    return _merged(listed, rest)


def _direct_first(
    ordered: Sequence[ReachedPassage],
    results: Sequence[search_pb2.SearchResult],
    chunk_ids: frozenset[str],
) -> list[ReachedPassage]:
    passages = [one for one in results if one.id in chunk_ids][:_FIRST]
    direct = [one.id for one in passages if _answers_directly(one)]
    by_id = {one.chunk_id: one for one in ordered}
    first = [by_id[key] for key in direct if key in by_id]
    return [*first, *(one for one in ordered if one.chunk_id not in direct)]


def _answers_directly(result: search_pb2.SearchResult) -> bool:
    share = sum(one.share for one in result.contributions if one.leg == legs_pb2.LEG_GRAPH)
    support = unbend(result.score) - unbend(result.score - share)
    return support >= _DIRECT_SUPPORT or result.score >= _DIRECT_SCORE


def report_lists(
    report: expansion_pb2.ExpansionReport, before: Iterable[str], after: Iterable[str]
) -> None:
    """Records in the report how the listed results changed."""
    old, new = set(before), set(after)
    report.initial_count = len(old)
    report.expanded_count = len(new)
    report.new_count = len(new - old)
    report.kept_count = len(new & old)
    report.dropped_count = len(old - new)
    report.expansion_rate = len(new - old) / len(old) if old else 0.0


def _move(result: search_pb2.SearchResult, score: float, rank: int) -> None:
    share = score - result.score
    # The mode's own value has no scale of its own: the contribution has the score that it leads to.
    result.contributions.append(
        search_pb2.Contribution(leg=legs_pb2.LEG_EXPANSION, rank=rank, score=score, share=share)
    )
    result.score = score


def _merged(
    listed: Sequence[search_pb2.SearchResult], rest: Sequence[search_pb2.SearchResult]
) -> list[search_pb2.SearchResult]:
    """Merges both lists by descending score; with equal scores, those of the expansion come first."""
    merged = [*listed, *rest]
    merged.sort(key=lambda one: -one.score)  # the sort is stable
    return merged
