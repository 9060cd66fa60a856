"""When two ranked lists count as the same."""

from tests.benchmarks.exhaustive import same_list

_BEST = [("a", 3.0), ("b", 2.0), ("c", 1.0)]


def test_equal_lists_are_the_same() -> None:
    assert same_list(_BEST, _BEST)


def test_a_tie_at_the_end_may_be_broken_either_way() -> None:
    assert same_list([("a", 3.0), ("b", 2.0), ("d", 1.0)], _BEST)


def test_lists_differ_if_a_hit_is_missing_or_has_a_lower_score() -> None:
    assert not same_list(_BEST[:2], _BEST)
    assert not same_list([("a", 3.0), ("b", 2.0), ("d", 0.9)], _BEST)


def test_lists_differ_if_a_chunk_above_the_last_score_differs() -> None:
    assert not same_list([("a", 3.0), ("x", 2.0), ("c", 1.0)], _BEST)
