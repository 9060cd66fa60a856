"""Reduces an answer to the requested parts; metadata that only a removed list contains moves to the fused list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from braid.agent.v1 import search_pb2

if TYPE_CHECKING:
    from collections.abc import Collection

    Answer = search_pb2.ComprehensiveSearchResponse
    ListName = Literal["results", "vector_results", "graph_results"]

_LISTS: dict[search_pb2.AnswerPart.ValueType, ListName] = {
    search_pb2.ANSWER_PART_RESULTS: "results",
    search_pb2.ANSWER_PART_VECTOR_RESULTS: "vector_results",
    search_pb2.ANSWER_PART_GRAPH_RESULTS: "graph_results",
}


def includes_results(included: Collection[search_pb2.AnswerPart.ValueType]) -> bool:
    """Whether the fused list is requested."""
    return not included or search_pb2.ANSWER_PART_RESULTS in included


def keep_parts(answer: Answer, included: Collection[search_pb2.AnswerPart.ValueType]) -> Answer:
    """Keeps only the included lists of the answer; all of them if none is named. Changes `answer` itself."""
    if not included:
        return answer
    if search_pb2.ANSWER_PART_VECTOR_RESULTS not in included:
        _move_metadata(answer)
    for part, name in _LISTS.items():
        if part not in included:
            answer.ClearField(name)
    return answer


def _move_metadata(answer: Answer) -> None:
    chunks = {hit.chunk.id: hit.chunk for hit in answer.vector_results}
    for result in answer.results:
        chunk = chunks.get(result.id)
        if chunk is not None and chunk.HasField("metadata"):
            result.metadata.CopyFrom(chunk.metadata)
