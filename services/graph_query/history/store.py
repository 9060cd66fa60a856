"""What histories ask of the graph's store. Neo4j and a fake in memory pass one suite of tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.graph_query.domain import Fact, FactFilter
from services.graph_query.history.domain import (
    NO_PAGE,
    Difference,
    Life,
    Page,
    Position,
    Scope,
    Selector,
    Times,
    Version,
)


class HistoryStore(Protocol):
    """Stated facts of every space over both clocks. Raises what `GraphStore` says."""

    async def list_facts(
        self, space: str, scope: Scope, only: FactFilter, after: Position | None, limit: int
    ) -> list[Fact]:
        """Facts by start and uuid after a position. Of `only`, the times count."""

    async def life(
        self,
        space: str,
        entity: Selector,
        relation: str,
        known: float | None,
        page: Page = NO_PAGE,
    ) -> Life:
        """An entity's facts at any time, a page of them in full. NotFoundError("entity") when there is none."""

    async def facts_known(
        self, space: str, uuids: Sequence[str], known: float | None
    ) -> dict[str, Fact]:
        """Those of the facts that were known, as they were known."""

    async def differences(
        self, space: str, scope: Scope, times: Times, limit: int
    ) -> list[Difference]:
        """Facts that hold at one of two times only, and that no other fact says at the other time.

        At most `limit`, in no order.
        """

    async def versions(self, space: str, uuid: str, limit: int) -> list[Version]:
        """The last versions of a fact in the order in which they became known."""
