"""An answer holds the lists that were asked for, and nothing of the others is lost that only they held."""

from __future__ import annotations

import pytest

from braid.agent.v1 import search_pb2
from braid.agent.v1.search_pb2 import (
    ANSWER_PART_GRAPH_RESULTS,
    ANSWER_PART_LEGS,
    ANSWER_PART_RESULTS,
    ANSWER_PART_VECTOR_RESULTS,
)
from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import facts_pb2
from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.search.answer_parts import keep_parts

Parts = list[search_pb2.AnswerPart.ValueType]
LISTS = {"results", "vector_results", "graph_results"}


def whole_answer() -> search_pb2.ComprehensiveSearchResponse:
    """An answer with every list; only the chunk has metadata."""
    chunk = chunks_pb2.Chunk(id="c")
    chunk.metadata["team"] = "payments"
    return search_pb2.ComprehensiveSearchResponse(
        vector_results=[chunks_pb2.ChunkHit(chunk=chunk)],
        graph_results=[facts_pb2.FactHit(fact=facts_pb2.Fact(id="f"))],
        results=[search_pb2.SearchResult(id="c"), search_pb2.SearchResult(id="f")],
        legs=[legs_pb2.LegReport(leg=legs_pb2.LEG_VECTOR)],
        result_count=2,
        embedding_source=retrieval_pb2.EMBEDDING_SOURCE_COMPUTED,
    )


def test_without_a_choice_the_answer_is_whole() -> None:
    assert keep_parts(whole_answer(), []) == whole_answer()


@pytest.mark.parametrize(
    ("included", "kept"),
    [
        ([ANSWER_PART_RESULTS], {"results"}),
        ([ANSWER_PART_RESULTS, ANSWER_PART_LEGS], {"results"}),
        ([ANSWER_PART_VECTOR_RESULTS], {"vector_results"}),
        ([ANSWER_PART_GRAPH_RESULTS, ANSWER_PART_GRAPH_RESULTS], {"graph_results"}),
        ([ANSWER_PART_LEGS], set()),
        ([ANSWER_PART_RESULTS, ANSWER_PART_VECTOR_RESULTS, ANSWER_PART_GRAPH_RESULTS], LISTS),
    ],
)
def test_the_lists_that_are_not_included_are_left_out(included: Parts, kept: set[str]) -> None:
    answer = keep_parts(whole_answer(), included)
    assert {name for name in LISTS if len(getattr(answer, name))} == kept


@pytest.mark.parametrize("included", search_pb2.AnswerPart.values()[1:])
def test_how_each_leg_ended_is_in_every_answer(included: search_pb2.AnswerPart.ValueType) -> None:
    answer = keep_parts(whole_answer(), [included])
    assert (answer.legs, answer.result_count) == (whole_answer().legs, 2)
    assert answer.embedding_source == retrieval_pb2.EMBEDDING_SOURCE_COMPUTED


def test_the_fused_list_has_the_metadata_that_the_left_out_chunks_held() -> None:
    chunk, fact = keep_parts(whole_answer(), [ANSWER_PART_RESULTS]).results
    assert dict(chunk.metadata) == {"team": "payments"}
    assert not fact.HasField("metadata")


def test_metadata_is_not_sent_twice() -> None:
    answer = keep_parts(whole_answer(), [ANSWER_PART_RESULTS, ANSWER_PART_VECTOR_RESULTS])
    assert not answer.results[0].HasField("metadata")
