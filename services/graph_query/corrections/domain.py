"""The store interface of withdrawals, corrections and sources of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from services.graph_query.core.fact_changes import (
    CorrectedFact,
    FactCorrection,
    FactState,
    Outcome,
    Provenance,
    Settlement,
    Vector,
)


class CorrectionStore(Protocol):
    """Withdraws and corrects stated facts; what was known before stays so. Raises what `GraphStore` raises."""

    async def withdraw_facts(
        self, space: str, uuids: Sequence[str], by: Provenance
    ) -> tuple[Mapping[str, Outcome], int]:
        """Withdraws facts in one transaction; returns what happened to each, and the space's revision."""

    async def stated(self, space: str, uuid: str) -> FactState:
        """Returns a standing fact, or the one that replaced it. Raises NotFoundError("fact")."""

    async def correct_fact(
        self,
        space: str,
        uuid: str,
        correction: FactCorrection,
        by: Provenance,
        vector: Vector | None = None,
    ) -> CorrectedFact:
        """Corrects a fact, or the one that replaced it, in one transaction.

        `vector` is used if the corrected fact has its statement.

        Raises NotFoundError("fact"), and InvalidFieldError for an end at or before the start.
        """

    async def settle_source(
        self, space: str, source: str, first_revision: int, by: Provenance | None
    ) -> Settlement:
        """Finds standing facts that a source stated only before a revision, or at any time if that is 0.

        Withdraws them if `by` is given, except those that another source or a text also states.
        """
