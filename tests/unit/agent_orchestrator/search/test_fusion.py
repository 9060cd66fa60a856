"""Chunks and facts are fused into one ranked list."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.agent.v1 import search_pb2
from braid.common.v1 import legs_pb2
from braid.graph.v1 import facts_pb2
from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.search.fusion import (
    Passages,
    ScoredChunk,
    fuse,
    ranked_chunks,
    unscored_chunks,
)
from services.models.embedding.relevance import bend
from tests.stubs.graph_tier import fact_hit
from tests.stubs.vector_tier import chunk_hit

LOCAL = facts_pb2.FACT_ORIGIN_LOCAL
CHUNK_IDS = [f"c{number:02}" for number in range(60)]
UNANSWERED = Passages({}, answered=False)

scores = st.floats(min_value=0, max_value=0.99)
chunk_lists = st.lists(
    st.tuples(st.sampled_from(CHUNK_IDS), scores), unique_by=lambda one: one[0], max_size=50
).map(lambda found: [chunk_hit(one, score) for one, score in sorted(found, key=lambda x: -x[1])])
fact_lists = st.lists(
    st.tuples(st.lists(st.sampled_from(CHUNK_IDS), max_size=4), scores, scores), max_size=50
).map(
    lambda facts: [
        fact_hit(f"f{rank:02}", chunks, score, support=support)
        for rank, (chunks, score, support) in enumerate(facts)
    ]
)
limits = st.integers(min_value=1, max_value=50)


def passages_of(chunks: Sequence[chunks_pb2.ChunkHit], *more: chunks_pb2.ChunkHit) -> Passages:
    """Returns the hits of the vector leg and `more` chunks, which were scored for facts."""
    scored = {hit.chunk.id: ScoredChunk(hit.chunk, hit.score) for hit in more}
    return Passages({**scored, **ranked_chunks(chunks)})


def ids(results: list[search_pb2.SearchResult]) -> list[str]:
    return [result.id for result in results]


@given(chunk_lists, fact_lists, limits)
def test_results_are_distinct_ordered_by_score_then_id_and_within_the_limit(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit], limit: int
) -> None:
    results = fuse(passages_of(chunks), facts, limit)
    assert len(results) <= limit
    assert len(set(ids(results))) == len(results)
    keys = [(-result.score, result.id) for result in results]
    assert keys == sorted(keys)
    assert all(0 <= result.score <= 1 for result in results)


@given(chunk_lists, fact_lists, limits)
def test_a_shorter_list_is_a_prefix_of_a_longer_one(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit], limit: int
) -> None:
    assert fuse(passages_of(chunks), facts, limit) == fuse(passages_of(chunks), facts, 200)[:limit]


@given(chunk_lists, fact_lists)
def test_every_chunk_is_listed_and_every_result_explains_its_score(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit]
) -> None:
    results = fuse(passages_of(chunks), facts, 200)
    assert {hit.chunk.id for hit in chunks} <= set(ids(results))
    for result in results:
        legs = [part.leg for part in result.contributions]
        assert legs in (
            [legs_pb2.LEG_VECTOR],
            [legs_pb2.LEG_GRAPH],
            [legs_pb2.LEG_VECTOR, legs_pb2.LEG_GRAPH],
        )
        assert result.score == pytest.approx(sum(part.share for part in result.contributions))
        assert all(part.share >= 0 for part in result.contributions)
        assert (legs_pb2.LEG_GRAPH in legs) == bool(result.facts)


@given(chunk_lists, fact_lists)
def test_no_fact_lowers_the_score_of_a_passage(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit]
) -> None:
    before = {hit.chunk.id: hit.score for hit in chunks}
    for result in fuse(passages_of(chunks), facts, 200):
        assert result.score >= before.get(result.id, 0) - 1e-9


@given(chunk_lists)
def test_facts_without_support_keep_the_order_of_the_chunks(
    chunks: list[chunks_pb2.ChunkHit],
) -> None:
    cited = [hit.chunk.id for hit in chunks]
    facts = [fact_hit("f1", cited[-3:], 0.9), fact_hit("f2", cited[5:9], 0.6, origin=LOCAL)]
    alone = fuse(passages_of(chunks), [], 50)
    assert [
        result.id for result in fuse(passages_of(chunks), facts, 50) if result.id in set(cited)
    ] == ids(alone)
    assert [result.score for result in alone] == [hit.score for hit in chunks]


def test_a_passage_gains_the_support_of_its_best_fact() -> None:
    chunks = [chunk_hit("other", 0.55), chunk_hit("source", 0.5, content="the passage")]
    facts = [
        fact_hit("weak", ["source"], 0.6, support=0.02),
        fact_hit("strong", ["source"], 0.7, support=0.1),
    ]
    [best, second] = fuse(passages_of(chunks), facts, 10)
    assert (best.id, best.content, best.score) == ("source", "the passage", bend(0.6))
    assert [(p.leg, p.rank, p.score) for p in best.contributions] == [
        (legs_pb2.LEG_VECTOR, 2, 0.5),
        (legs_pb2.LEG_GRAPH, 2, 0.7),
    ]
    assert [p.share for p in best.contributions] == pytest.approx([0.5, 0.1])
    assert [fact.id for fact in best.facts] == ["weak", "strong"]
    assert (second.id, second.score) == ("other", 0.55)


def test_a_chunk_found_only_by_facts_is_scored_by_itself_and_their_support() -> None:
    facts = [fact_hit("fact", ["brought"], 0.8, support=0.3)]
    [first, second] = fuse(
        passages_of([chunk_hit("hit", 0.6)], chunk_hit("brought", 0.35)), facts, 10
    )
    assert first.id == "brought"
    assert first.score == pytest.approx(0.65)
    assert [(p.leg, p.rank) for p in first.contributions] == [
        (legs_pb2.LEG_VECTOR, 0),
        (legs_pb2.LEG_GRAPH, 1),
    ]
    assert second.id == "hit"


@pytest.mark.parametrize(
    ("score", "support", "matched", "listed"),
    [
        (0.24, 0.0, True, False),
        (0.25, 0.0, True, True),
        (0.25, 0.0, False, False),
        (0.10, 0.01, False, True),
    ],
)
def test_a_chunk_found_only_by_facts_needs_support_or_the_score_of_a_hit(
    score: float, support: float, *, matched: bool, listed: bool
) -> None:
    scored = {"brought": ScoredChunk(chunk_hit("brought").chunk, score)}
    passages = Passages(scored, floor=0.25, matched=matched)
    facts = [fact_hit("fact", ["brought"], 0.4, support=support)]
    assert ids(fuse(passages, facts, 10)) == (["brought"] if listed else [])


@given(chunk_lists, fact_lists, st.integers(1, 20), st.integers(1, 20))
def test_results_of_all_legs_for_a_limit_are_a_prefix_of_those_for_a_larger_limit(
    hits: list[chunks_pb2.ChunkHit],
    facts: list[facts_pb2.FactHit],
    one: int,
    other: int,
) -> None:
    """The vector leg returns as many hits as requested; other chunks are scored for the facts that cite them."""

    def results(limit: int) -> list[search_pb2.SearchResult]:
        leg = [hit for hit in hits if hit.score >= 0.25][:limit]
        found = ranked_chunks(leg)
        wanted = unscored_chunks(found, facts, 100)
        stored = {hit.chunk.id: ScoredChunk(hit.chunk, hit.score) for hit in hits}
        scored = {key: stored[key] for key in wanted if key in stored}
        missing = frozenset(wanted) - scored.keys()
        passages = Passages(found | scored, missing=missing, floor=0.25, matched=bool(found))
        return fuse(passages, facts, limit)

    fewer, more = sorted((one, other))
    assert [(r.id, r.score) for r in results(fewer)] == [
        (r.id, r.score) for r in results(more)[:fewer]
    ]


def test_without_a_chunk_the_best_fact_counts_not_the_one_with_most_support() -> None:
    facts = [fact_hit("lead", ["c"], 0.7), fact_hit("other", ["c"], 0.48, support=0.03)]
    [result] = fuse(UNANSWERED, facts, 10)
    assert (result.content, result.score) == ("sentence lead", 0.7)
    assert [(p.leg, p.rank) for p in result.contributions] == [(legs_pb2.LEG_GRAPH, 1)]


def test_a_passage_that_is_not_in_force_scores_less_and_gains_no_support() -> None:
    scored = {"later": ScoredChunk(chunk_hit("later").chunk, 0.4, in_force=False)}
    [result] = fuse(Passages(scored), [fact_hit("fact", ["later"], 0.8, support=0.3)], 10)
    assert result.score == pytest.approx(0.7 * 0.4)
    assert [fact.id for fact in result.facts] == ["fact"]


def test_a_fact_adds_no_passage_that_the_vector_tier_found_less_relevant() -> None:
    results = fuse(passages_of([chunk_hit("hit")]), [fact_hit("fact", ["beyond"], 0.9)], 10)
    assert ids(results) == ["hit"]


@pytest.mark.parametrize("passages", [UNANSWERED, Passages({}, missing=frozenset({"gone"}))])
def test_a_fact_with_an_unknown_passage_is_a_separate_result(passages: Passages) -> None:
    [result] = fuse(passages, [fact_hit("fact", ["gone"], 0.7, support=0.4)], 10)
    assert (result.id, result.score, result.content) == ("gone", 0.7, "sentence fact")
    assert [(p.leg, p.share) for p in result.contributions] == [(legs_pb2.LEG_GRAPH, 0.7)]


def test_a_fact_without_a_document_is_ranked_among_the_chunks() -> None:
    facts = [fact_hit("fact", score=0.6)]
    results = fuse(passages_of([chunk_hit("high", 0.7), chunk_hit("low", 0.5)]), facts, 10)
    assert ids(results) == ["high", "fact", "low"]


def test_a_fact_with_many_sources_adds_one_result_for_the_first() -> None:
    assert ids(fuse(UNANSWERED, [fact_hit("fact", ["c1", "c2", "c3"])], 10)) == ["c1"]


def test_a_fact_is_attached_to_every_found_chunk_that_it_cites_and_adds_none() -> None:
    chunks = [chunk_hit("c2"), chunk_hit("c3")]
    results = fuse(passages_of(chunks), [fact_hit("fact", ["c1", "c2", "c3"])], 10)
    assert ids(results) == ["c2", "c3"]
    assert all(len(result.contributions) == 2 for result in results)


def test_passages_that_no_leg_found_are_scored_in_the_order_of_their_support() -> None:
    facts = [
        fact_hit("f1", ["known", "new"], support=0.3),
        fact_hit("f2", ["unsupported"]),
        fact_hit("f3", ["new", "later"], support=0.1),
    ]
    known = ranked_chunks([chunk_hit("known")])
    assert unscored_chunks(known, facts, 100) == ["new", "later", "unsupported"]
    assert unscored_chunks(known, facts, 1) == ["new"]
