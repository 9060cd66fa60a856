"""An answer contains only the requested lists, and metadata of omitted chunks moves to the fused list."""

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


def complete_answer() -> search_pb2.ComprehensiveSearchResponse:
    """Returns an answer with every list, in which only the chunk has metadata."""
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


def test_without_a_selection_the_answer_is_complete() -> None:
    assert keep_parts(complete_answer(), []) == complete_answer()


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
def test_lists_that_are_not_requested_are_omitted(included: Parts, kept: set[str]) -> None:
    answer = keep_parts(complete_answer(), included)
    assert {name for name in LISTS if len(getattr(answer, name))} == kept


@pytest.mark.parametrize("included", search_pb2.AnswerPart.values()[1:])
def test_every_answer_has_the_leg_reports_and_the_result_count(
    included: search_pb2.AnswerPart.ValueType,
) -> None:
    answer = keep_parts(complete_answer(), [included])
    assert (answer.legs, answer.result_count) == (complete_answer().legs, 2)
    assert answer.embedding_source == retrieval_pb2.EMBEDDING_SOURCE_COMPUTED


def test_fused_results_carry_the_metadata_of_omitted_chunks() -> None:
    chunk, fact = keep_parts(complete_answer(), [ANSWER_PART_RESULTS]).results
    assert dict(chunk.metadata) == {"team": "payments"}
    assert not fact.HasField("metadata")


def test_metadata_is_not_sent_twice() -> None:
    answer = keep_parts(complete_answer(), [ANSWER_PART_RESULTS, ANSWER_PART_VECTOR_RESULTS])
    assert not answer.results[0].HasField("metadata")
