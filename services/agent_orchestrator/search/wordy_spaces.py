"""Spaces whose facts have no vectors: there the graph leg need not wait for the query's vector."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from braid.common.v1 import legs_pb2
from braid.graph.v1 import query_pb2

if TYPE_CHECKING:
    from braid.graph.v1.query_pb2 import SearchFactsResponse

MAX_SPACES = 10_000
_LEFT_OUT = frozenset({legs_pb2.LEG_STATUS_DEGRADED, legs_pb2.LEG_STATUS_TIMED_OUT})


class WordySpaces:
    """What the graph tier's last answer for a space said of vectors. A guess, and checked: see `needed_vectors`."""

    def __init__(self) -> None:
        self._without: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, space: str) -> bool:
        return space in self._without

    def note(self, space: str, answer: SearchFactsResponse) -> None:
        """Learns from an answer."""
        self._without.pop(space, None)
        if needed_vectors(answer):
            return
        self._without[space] = None
        if len(self._without) > MAX_SPACES:
            self._without.popitem(last=False)


def needed_vectors(answer: SearchFactsResponse) -> bool:
    """Whether the space's facts have vectors: they were compared, were late, or lacked the query's to compare with."""
    return (
        answer.vector_path != query_pb2.FACT_VECTOR_PATH_UNSPECIFIED or answer.status in _LEFT_OUT
    )
