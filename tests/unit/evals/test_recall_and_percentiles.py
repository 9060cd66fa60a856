"""Metrics of ranking quality and of the spread of times."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.metrics import distinct, mean, ndcg_at, percentile, recall_at

_IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_recall_is_the_share_of_gold_in_the_first_k() -> None:
    assert recall_at(["a", "x", "b"], {"a", "b"}, 2) == 0.5
    assert recall_at(["a", "x", "b"], {"a", "b"}, 3) == 1.0
    assert recall_at([], {"a"}, 5) == 0.0


def test_a_repeated_gold_id_counts_once() -> None:
    assert recall_at(["a", "b"], ["a", "a", "c"], 2) == 0.5


def test_recall_without_gold_is_rejected() -> None:
    with pytest.raises(ValueError, match="without gold"):
        recall_at(["a"], [], 5)


@given(ranked=_IDS, gold=_IDS.filter(bool))
def test_recall_never_decreases_with_k(ranked: list[str], gold: list[str]) -> None:
    values = [recall_at(ranked, gold, k) for k in range(1, 10)]
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    assert ndcg_at(["x", "a"], {"a": 1}, 10) == pytest.approx(1 / math.log2(3))
    assert ndcg_at(["a", "x", "b"], {"a": 1, "b": 1}, 10) == pytest.approx(
        1.5 / (1 + 1 / math.log2(3))
    )


def test_ndcg_counts_a_document_only_at_its_best_rank() -> None:
    assert ndcg_at(["a", "a"], {"a": 1}, 10) == 1.0


def test_ndcg_weights_graded_relevance() -> None:
    better = ndcg_at(["a", "b"], {"a": 2, "b": 1}, 10)
    worse = ndcg_at(["b", "a"], {"a": 2, "b": 1}, 10)
    assert better == 1.0
    assert worse < better


def test_ndcg_without_relevant_documents_is_rejected() -> None:
    with pytest.raises(ValueError, match="without relevant"):
        ndcg_at(["a"], {}, 10)


@given(gold=_IDS.filter(bool))
def test_the_ideal_order_has_an_ndcg_of_one(gold: list[str]) -> None:
    relevance = dict(zip(gold, range(1, 9), strict=False))
    ideal = sorted(relevance, key=lambda each: -relevance[each])
    assert ndcg_at(ideal, relevance, 10) == pytest.approx(1.0)


def test_distinct_keeps_the_best_rank_of_each_id() -> None:
    assert distinct(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


def test_percentiles_are_interpolated() -> None:
    assert percentile([4, 1, 3, 2], 50) == 2.5
    assert percentile([1, 2, 3], 0) == 1
    assert percentile([1, 2, 3], 100) == 3
    assert percentile([7], 95) == 7


@pytest.mark.parametrize("percent", [-1, 101])
def test_a_percentile_outside_0_to_100_is_rejected(percent: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        percentile([1], percent)


def test_an_empty_list_has_neither_mean_nor_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean([])
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_a_mean_lies_between_the_extremes(values: list[float]) -> None:
    assert min(values) - 1e-6 <= mean(values) <= max(values) + 1e-6
