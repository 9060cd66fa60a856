"""The bidirectional search finds the same paths as an exhaustive search."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.entities import paths
from services.graph_query.entities.domain import Step
from services.graph_query.entities.paths import shortest

Graph = dict[str, set[str]]
NODES = "abcdefgh"
edges = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=16)


def graph_of(pairs: list[tuple[str, str]]) -> Graph:
    graph: Graph = {node: set() for node in NODES}
    for a, b in pairs:
        if a != b:
            graph[a].add(b)
            graph[b].add(a)
    return graph


async def paths_between(graph: Graph, ends: tuple[str, str], hops: int, limit: int) -> list[str]:
    async def steps(frontier: Sequence[str], _limit: int) -> list[Step]:
        return [Step(a, b, len(graph[b])) for a in frontier for b in sorted(graph[a])]

    found = await shortest(ends, steps, hops, limit)
    assert not found.incomplete
    return ["".join(path) for path in found.ways]


def all_shortest_paths(graph: Graph, ends: tuple[str, str], hops: int) -> list[str]:
    """Returns all shortest paths in the documented order."""
    ways = [ends[0]]
    for _ in range(hops + 1):
        complete = [path for path in ways if path[-1] == ends[1]]
        if complete:
            return sorted(
                complete, key=lambda path: (sum(len(graph[one]) for one in path[1:-1]), path)
            )
        ways = [
            path + successor
            for path in ways
            for successor in graph[path[-1]]
            if successor not in path
        ]
    return []


@given(
    pairs=edges,
    ends=st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)),
    hops=st.integers(1, 6),
    limit=st.integers(1, 5),
)
async def test_the_best_of_the_shortest_paths_are_found(
    pairs: list[tuple[str, str]], ends: tuple[str, str], hops: int, limit: int
) -> None:
    graph = graph_of(pairs)
    assert (
        await paths_between(graph, ends, hops, limit)
        == all_shortest_paths(graph, ends, hops)[:limit]
    )


async def test_a_search_that_exceeds_its_step_limit_is_marked_incomplete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paths, "MAX_STEPS", 2_000)

    async def steps(frontier: Sequence[str], limit: int) -> list[Step]:
        return [Step(frontier[0], f"{frontier[0]}{number}", 1) for number in range(limit)]

    found = await shortest(("a", "b"), steps, 6, 1)
    assert (found.ways, found.incomplete) == ([], True)
