"""What searches at a known time ask of the graph's store. Neo4j and a fake in memory pass one suite of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from services.graph_query.domain import FactFilter
from services.graph_query.store import Hit, SpaceState, WordHits


class Known(NamedTuple):
    """What is asked for: facts that pass the filter by what was known at `known`, in epoch seconds; at most so many."""

    only: FactFilter
    known: float
    limit: int


class PastStore(Protocol):
    """Stated facts as they were known at an instant. Raises what `GraphStore` says.

    Facts that were taken back since are found by their words, not by their vectors.
    """

    async def words_known(
        self,
        space: str,
        terms: Sequence[str],
        link_keys: Sequence[str],
        at: Known,
    ) -> WordHits:
        """Facts by words and by the entities whose linking keys are given."""

    async def near_known(
        self,
        space: str,
        vector: Sequence[float],
        at: Known,
        state: SpaceState,
    ) -> tuple[list[Hit], bool]:
        """Facts by cosine similarity, best first, and whether every one was compared."""
