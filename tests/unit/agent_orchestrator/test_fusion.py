"""How chunks and facts become one ranked list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.agent.v1 import search_pb2
from braid.graph.v1 import facts_pb2
from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.search.fusion import fuse
from tests.stubs.graph_tier import fact_hit
from tests.stubs.vector_tier import chunk_hit

LOCAL = facts_pb2.FACT_ORIGIN_LOCAL
GIVEN = facts_pb2.FACT_ORIGIN_GIVEN
EXTRACTED = facts_pb2.FACT_ORIGIN_EXTRACTED

CHUNK_IDS = [f"c{number:02}" for number in range(60)]

chunk_lists = st.lists(st.sampled_from(CHUNK_IDS), unique=True, max_size=50).map(
    lambda ids: [chunk_hit(one) for one in ids]
)


def fact_lists(
    *origins: facts_pb2.FactOrigin.ValueType,
) -> st.SearchStrategy[list[facts_pb2.FactHit]]:
    one = st.tuples(st.lists(st.sampled_from(CHUNK_IDS), max_size=4), st.sampled_from(origins))
    return st.lists(one, max_size=50).map(
        lambda facts: [
            fact_hit(f"f{rank:02}", chunks, origin=origin)
            for rank, (chunks, origin) in enumerate(facts)
        ]
    )


any_facts = fact_lists(LOCAL, GIVEN, EXTRACTED)
limits = st.integers(min_value=1, max_value=50)


def ids(results: list[search_pb2.SearchResult]) -> list[str]:
    return [result.id for result in results]


@given(chunk_lists, any_facts, limits)
def test_results_are_distinct_ordered_by_score_then_id_and_within_the_limit(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit], limit: int
) -> None:
    results = fuse(chunks, facts, limit)
    assert len(results) <= limit
    assert len(set(ids(results))) == len(results)
    keys = [(-result.score, result.id) for result in results]
    assert keys == sorted(keys)


@given(chunk_lists, any_facts, limits)
def test_a_shorter_list_is_the_beginning_of_a_longer_one(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit], limit: int
) -> None:
    assert fuse(chunks, facts, limit) == fuse(chunks, facts, 200)[:limit]


@given(chunk_lists, any_facts)
def test_every_hit_is_found_again_and_every_result_explains_its_score(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit]
) -> None:
    results = fuse(chunks, facts, 200)
    assert {hit.chunk.id for hit in chunks} <= set(ids(results))
    assert {hit.fact.uuid for hit in facts} == {f.uuid for r in results for f in r.facts}
    for result in results:
        legs = [part.leg for part in result.contributions]
        assert legs in (["vector"], ["graph"], ["vector", "graph"])
        assert result.score == pytest.approx(sum(part.share for part in result.contributions))
        assert ("graph" in legs) == bool(result.facts)


@given(chunk_lists)
def test_without_facts_the_chunks_keep_their_order(chunks: list[chunks_pb2.ChunkHit]) -> None:
    assert ids(fuse(chunks, [], 50)) == [hit.chunk.id for hit in chunks]


@given(chunk_lists, fact_lists(LOCAL))
def test_local_facts_move_a_chunk_by_two_places_at_most_and_never_past_the_first(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit]
) -> None:
    before = [hit.chunk.id for hit in chunks]
    known = set(before)
    after = [one for one in ids(fuse(chunks, facts, 200)) if one in known]
    assert after[:1] == before[:1]
    for old, chunk_id in enumerate(before):
        assert old - after.index(chunk_id) <= (1 if old < 20 else 2)


@given(chunk_lists, fact_lists(LOCAL))
def test_what_only_local_facts_found_comes_after_every_chunk(
    chunks: list[chunks_pb2.ChunkHit], facts: list[facts_pb2.FactHit]
) -> None:
    results = fuse(chunks, facts, 200)
    assert set(ids(results)[: len(chunks)]) == {hit.chunk.id for hit in chunks}


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_a_chunk_that_states_a_found_fact_beats_chunks_and_facts_that_stand_alone(
    shared_rank: int, fact_rank: int, others: int
) -> None:
    chunks = [chunk_hit(f"c{rank:02}") for rank in range(1, shared_rank + others + 1)]
    shared = f"c{shared_rank:02}"
    facts = [fact_hit(f"f{rank:02}") for rank in range(1, fact_rank)]
    facts.append(fact_hit("shared", [shared]))
    assert ids(fuse(chunks, facts, 1)) == [shared]


def test_stated_facts_without_chunks_alternate_with_the_chunks() -> None:
    chunks = [chunk_hit("z1"), chunk_hit("z2")]
    facts = [fact_hit("a1"), fact_hit("a2", origin=EXTRACTED)]
    assert ids(fuse(chunks, facts, 10)) == ["z1", "a1", "z2", "a2"]


def test_a_fact_and_its_source_chunk_are_one_result_with_two_contributions() -> None:
    chunks = [chunk_hit("other"), chunk_hit("source", score=0.7, content="the passage")]
    [best, _] = fuse(chunks, [fact_hit("fact", ["source"], score=0.9)], 10)
    assert best.id == "source"
    assert best.content == "the passage"
    assert [(p.leg, p.rank, p.score) for p in best.contributions] == [
        ("vector", 2, 0.7),
        ("graph", 1, 0.9),
    ]
    assert [fact.uuid for fact in best.facts] == ["fact"]


def test_a_fact_with_many_sources_adds_one_result_for_the_first() -> None:
    assert ids(fuse([], [fact_hit("fact", ["c1", "c2", "c3"])], 10)) == ["c1"]


def test_a_fact_joins_every_found_chunk_that_it_cites_and_adds_none() -> None:
    chunks = [chunk_hit("c2"), chunk_hit("c3")]
    results = fuse(chunks, [fact_hit("fact", ["c1", "c2", "c3"])], 10)
    assert ids(results) == ["c2", "c3"]
    assert all(len(result.contributions) == 2 for result in results)


def test_several_facts_of_a_chunk_count_once_by_the_strongest() -> None:
    facts = [fact_hit("hint", ["c"], origin=LOCAL), fact_hit("stated", ["c"])]
    [result] = fuse([], facts, 10)
    [part] = result.contributions
    assert part.rank == 2
    assert [fact.uuid for fact in result.facts] == ["hint", "stated"]


def test_what_only_the_graph_found_is_told_by_the_facts_sentence() -> None:
    [result] = fuse([], [fact_hit("fact", ["c1"])], 10)
    assert (result.content, result.document_id) == ("sentence fact", "doc-c1")


def test_what_only_a_local_fact_found_is_told_by_the_sentence_it_cites() -> None:
    [result] = fuse([], [fact_hit("fact", ["c1"], origin=LOCAL)], 10)
    assert result.content == "quote c1"


def test_a_fact_of_a_document_without_a_chunk_keeps_its_document() -> None:
    hit = fact_hit("fact")
    hit.fact.sources.add(document_id="notes")
    [result] = fuse([], [hit], 10)
    assert (result.id, result.document_id) == ("fact", "notes")
