"""What the findings layer asks of its store. Neo4j and a fake in memory pass one suite of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from services.graph_query.findings.domain import (
    Finding,
    FindingCounts,
    FindingFilter,
    GivenFinding,
)
from services.graph_query.store import Hit, SpaceState


class Position(NamedTuple):
    """Where a listing stands: creation in epoch seconds, descending, then uuid."""

    created: float
    uuid: str


class FindingStore(Protocol):
    """The findings of every space. Raises what `GraphStore` says."""

    async def add_findings(
        self, space: str, findings: Sequence[GivenFinding], model: str
    ) -> FindingCounts:
        """Adds findings in one transaction. WrongStateError when the space has vectors of another model."""

    async def finding_state(self, space: str) -> SpaceState:
        """The space's revision, its findings with vectors, and the model of its vectors."""

    async def findings_by_words(
        self, space: str, terms: Sequence[str], only: FindingFilter, limit: int
    ) -> list[Hit]:
        """Findings that pass the filter by their words, best first."""

    async def findings_near(
        self, space: str, vector: Sequence[float], only: FindingFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Findings that pass the filter by cosine similarity, best first."""

    async def list_findings(
        self, space: str, only: FindingFilter, after: Position | None, limit: int
    ) -> list[Position]:
        """Findings that pass the filter, newest first, after a position."""

    async def findings(self, space: str, uuids: Sequence[str]) -> dict[str, Finding]:
        """Those of the findings that are there, in full."""
