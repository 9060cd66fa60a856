"""The expanded result list: order, displayed scores, shares, and results that keep their place."""

from __future__ import annotations

import pytest

from braid.agent.v1 import search_pb2
from braid.common.v1 import expansion_pb2, legs_pb2
from services.agent_orchestrator.expansion.query_aware import ReachedPassage
from services.agent_orchestrator.expansion.result_order import arrange, report_lists


def result(name: str, score: float) -> search_pb2.SearchResult:
    part = search_pb2.Contribution(leg=legs_pb2.LEG_VECTOR, rank=1, score=score, share=score)
    return search_pb2.SearchResult(id=name, score=score, contributions=[part])


def reached(name: str, value: float, score: float = 0.0) -> ReachedPassage:
    trace = expansion_pb2.ExpansionTrace(seed_id="a", depth=1)
    return ReachedPassage(name, value, score, trace)


def shown(results: list[search_pb2.SearchResult]) -> list[tuple[str, float]]:
    return [(one.id, round(one.score, 3)) for one in results]


def test_results_follow_the_expansion_order_with_decreasing_scores() -> None:
    results = [result("a", 0.6), result("b", 0.5)]
    fresh = {"c": result("c", 0.2)}
    found = arrange(
        results, [reached("a", 9), reached("c", 8), reached("b", 7)], fresh, frozenset("ab")
    )
    assert shown(found) == [("a", 0.6), ("c", 0.5), ("b", 0.2)]


def test_the_shares_of_the_contributions_add_up_to_the_score() -> None:
    found = arrange(
        [result("a", 0.6), result("b", 0.5)],
        [reached("b", 9), reached("a", 8)],
        {},
        frozenset("ab"),
    )
    for one in found:
        assert sum(part.share for part in one.contributions) == pytest.approx(one.score)
    step = found[0].contributions[-1]
    assert (step.leg, step.rank, step.score) == (legs_pb2.LEG_EXPANSION, 1, found[0].score)
    assert found[0].expansion.seed_id == "a"


def test_passages_outside_the_expansion_order_come_last() -> None:
    results = [result("a", 0.6), result("b", 0.5), result("d", 0.4)]
    found = arrange(results, [reached("b", 9)], {}, frozenset("abd"))
    assert shown(found) == [("b", 0.5), ("a", 0.5), ("d", 0.4)]


def test_a_fact_without_a_passage_is_placed_by_its_score() -> None:
    results = [result("a", 0.6), result("fact", 0.55), result("b", 0.5)]
    found = arrange(results, [reached("b", 9), reached("a", 8)], {}, frozenset("ab"))
    assert shown(found) == [("b", 0.6), ("fact", 0.55), ("a", 0.5)]


def test_a_reached_passage_that_cannot_be_read_is_not_listed() -> None:
    found = arrange([result("a", 0.6)], [reached("a", 9), reached("gone", 8)], {}, frozenset("a"))
    assert [one.id for one in found] == ["a"]


def test_without_reached_passages_the_list_is_unchanged() -> None:
    results = [result("a", 0.6), result("b", 0.5)]
    assert shown(arrange(results, [], {}, frozenset("ab"))) == [("a", 0.6), ("b", 0.5)]


def test_the_values_of_the_fixed_formula_are_the_scores() -> None:
    found = arrange(
        [result("a", 0.95)],
        [reached("a", 0.95), reached("c", 0.456)],
        {"c": result("c", 0.1)},
        frozenset("a"),
        by_value=True,
    )
    assert shown(found) == [("a", 0.95), ("c", 0.456)]


def test_the_report_counts_new_kept_and_dropped_results() -> None:
    report = expansion_pb2.ExpansionReport()
    report_lists(report, ["a", "b"], ["a", "c", "d"])
    counts = (report.initial_count, report.expanded_count, report.new_count)
    assert counts == (2, 3, 2)
    assert (report.kept_count, report.dropped_count, report.expansion_rate) == (1, 1, 1.0)
    report_lists(report, [], [])
    assert report.expansion_rate == 0.0


def supported(name: str, score: float) -> search_pb2.SearchResult:
    found = result(name, score)
    found.contributions.add(leg=legs_pb2.LEG_GRAPH, rank=1, score=0.6, share=0.1)
    return found


@pytest.mark.parametrize("direct", [result("a", 0.9), supported("a", 0.5)])
def test_a_direct_answer_in_first_place_stays_before_reached_passages(
    direct: search_pb2.SearchResult,
) -> None:
    fresh = {"c": result("c", 0.2)}
    order = [reached("c", 9), reached("b", 8), reached("a", 7)]
    found = arrange([direct, result("b", 0.4)], order, fresh, frozenset("ab"))
    assert [one.id for one in found] == ["a", "c", "b"]


def test_a_passage_supported_by_an_irrelevant_fact_is_ordered_like_others() -> None:
    found = result("a", 0.5)
    found.contributions.add(leg=legs_pb2.LEG_GRAPH, rank=1, score=0.4, share=0.02)
    listed = arrange(
        [found, result("b", 0.4)], [reached("b", 5), reached("a", 4)], {}, frozenset("ab")
    )
    assert [one.id for one in listed] == ["b", "a"]


def test_direct_answers_beyond_the_first_results_are_ordered_like_others() -> None:
    results = [*(result(name, 0.5) for name in "abc"), supported("d", 0.4)]
    order = [reached(name, value) for name, value in (("a", 9), ("b", 8), ("c", 7), ("d", 6))]
    found = arrange(results, order, {}, frozenset("abcd"))
    assert [one.id for one in found] == ["a", "b", "c", "d"]


def test_the_fixed_formula_orders_direct_answers_like_others() -> None:
    order = [reached("b", 0.95), reached("a", 0.9)]
    found = arrange([result("a", 0.9), result("b", 0.4)], order, {}, frozenset("ab"), by_value=True)
    assert [one.id for one in found] == ["b", "a"]
