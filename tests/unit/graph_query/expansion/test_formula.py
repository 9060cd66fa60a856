"""The expansion formula: weight × seed score × factor × 0.8 per hop, duplicates, contradictions, limits, counts."""

from __future__ import annotations

from typing import Any

import pytest

from services.graph_query.expansion.domain import WEIGHTS, Edge, Neighborhood, RelationType
from services.graph_query.expansion.formula import Expanded, Ranking, expand


def edge(start: str, kind: str, end: str, strength: float = 1.0) -> Edge:
    return Edge(start, end, RelationType(kind), strength, forward=True)


def expanded(
    seeds: dict[str, float], *levels: list[Edge], incident: int = 10, **options: object
) -> Expanded:
    padded = [*levels, *([[]] * (3 - len(levels)))]
    around = Neighborhood(padded, incident, truncated=False, revision=1, timed=False)
    return expand(seeds, around, Ranking(**{"limit": 50, **options}))  # type: ignore[arg-type]


def scores(found: Expanded) -> dict[str, Any]:
    return {item.chunk: pytest.approx(item.score) for item in found.items}


def test_a_neighbor_that_fixes_a_seed_of_095_gets_0456() -> None:
    found = expanded({"error": 0.95}, [edge("error", "FIXES", "fix")])
    assert scores(found) == {"error": 0.95, "fix": 0.456}
    neighbor = found.items[1]
    assert (neighbor.initial, len(neighbor.path)) == (None, 1)


@pytest.mark.parametrize(
    ("kind", "weight"),
    [
        ("FIXES", 1.0),
        ("SUPPORTS", 0.9),
        ("FOLLOWS", 0.8),
        ("RELATED", 0.7),
        ("SIMILAR_TO", 0.6),
        ("PART_OF", 0.5),
        ("CAUSES", 0.4),
    ],
)
def test_each_type_has_its_weight(kind: str, weight: float) -> None:
    found = expanded({"a": 1.0}, [edge("a", kind, "b")])
    assert scores(found)["b"] == weight * 0.6 * 0.8
    assert WEIGHTS[RelationType(kind)] == weight


def test_strength_multiplies_the_weight() -> None:
    assert scores(expanded({"a": 1.0}, [edge("a", "FIXES", "b", 0.5)]))["b"] == 0.24


def test_the_second_hop_multiplies_both_weights_and_decays_twice() -> None:
    found = expanded({"a": 1.0}, [edge("a", "FIXES", "b")], [edge("b", "RELATED", "c")])
    assert scores(found)["c"] == 0.7 * 0.6 * 0.64
    assert [step.end for step in found.items[-1].path] == ["b", "c"]


def test_the_best_of_several_paths_to_a_chunk_counts() -> None:
    paths = [edge("a", "CAUSES", "c"), edge("b", "FIXES", "c"), edge("a", "FIXES", "b")]
    found = expanded({"a": 0.9, "b": 0.8}, paths)
    assert scores(found) == {"a": 0.9, "b": 0.8, "c": 0.8 * 0.6 * 0.8}
    assert len({item.chunk for item in found.items}) == len(found.items)


def test_a_weak_seed_is_raised_by_a_strong_one() -> None:
    found = expanded({"a": 1.0, "b": 0.1}, [edge("a", "FIXES", "b")])
    assert scores(found)["b"] == 0.48
    assert found.items[1].initial == 0.1


def test_only_the_strongest_contradiction_lowers_a_score_and_none_adds_a_chunk() -> None:
    against = [edge("a", "CONTRADICTS", "b"), edge("c", "CONTRADICTS", "b")]
    found = expanded({"a": 1.0, "b": 0.9, "c": 0.5}, [*against, edge("a", "CONTRADICTS", "new")])
    assert scores(found) == {"a": 1.0, "b": 0.9 - 0.24, "c": 0.5}
    assert [step.start for step in found.items[1].penalty_path] == ["a"]


def test_a_contradiction_is_subtracted_from_the_best_positive_score() -> None:
    level = [edge("a", "FIXES", "new"), edge("b", "CONTRADICTS", "new")]
    found = expanded({"a": 1.0, "b": 0.5}, level)
    assert scores(found)["new"] == 0.48 - 0.12


def test_no_score_falls_below_0() -> None:
    assert scores(expanded({"a": 1.0, "b": 0.1}, [edge("a", "CONTRADICTS", "b")]))["b"] == 0.0


def test_a_path_back_to_its_seed_neither_raises_nor_lowers_the_seed() -> None:
    there, back = (
        [edge("a", "FIXES", "b")],
        [edge("b", "CONTRADICTS", "a"), edge("b", "FIXES", "a")],
    )
    found = expanded({"a": 1.0}, there, back)
    assert scores(found) == {"a": 1.0, "b": 0.48}


def test_nothing_is_reached_through_a_contradiction() -> None:
    found = expanded({"a": 1.0}, [edge("a", "CONTRADICTS", "b")], [edge("b", "FIXES", "c")])
    assert scores(found) == {"a": 1.0}


def test_with_the_adaptive_factor_weak_seeds_pass_on_a_larger_share_of_their_score() -> None:
    level = [edge("a", "FIXES", "x"), edge("b", "FIXES", "y")]
    found = scores(expanded({"a": 1.0, "b": 0.5}, level, adaptive=True))
    assert found["x"] == 1.0 * 0.3 * 0.8
    assert found["y"] == 0.5 * 0.6 * 0.8


def test_the_results_are_reranked_limited_and_counted() -> None:
    level = [edge("a", "FIXES", "x"), edge("a", "RELATED", "y")]
    found = expanded({"a": 1.0, "b": 0.3}, level, limit=3, incident=4)
    assert [item.chunk for item in found.items] == ["a", "x", "y"]
    stats = found.stats
    assert (stats.initial, stats.expanded, stats.new, stats.kept, stats.dropped) == (2, 4, 2, 1, 1)
    assert (stats.rate, stats.utilisation) == (1.0, 0.5)


def test_context_does_not_change_the_ranking() -> None:
    level = [edge("b", "FIXES", "x"), edge("b", "FIXES", "a"), edge("a", "CONTRADICTS", "b")]
    found = expanded({"b": 0.9, "a": 0.2}, level, keep=True)
    assert scores(found) == {"b": 0.9, "a": 0.2}
    assert [item.chunk for item in found.items] == ["b", "a"]
    assert [item.chunk for item in found.context] == ["x"]
    assert found.context[0].score == pytest.approx(0.432)
    assert (found.stats.new, found.stats.kept) == (0, 2)
