"""Withdrawals, corrections and sources of facts in Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from services.graph_query.core.fact_changes import (
    CorrectedFact,
    FactCorrection,
    FactState,
    Outcome,
    Provenance,
    Settlement,
    Vector,
)
from services.graph_query.corrections.correction import correct_fact, stored_fact
from services.graph_query.corrections.withdrawal import take_back, withdraw_facts
from services.graph_query.facts.identities import source_key
from services.graph_query.history.neo4j_store import Neo4jHistory
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.space_writer import SpaceWriter, Write
from services.runtime.errors import NotFoundError

LISTED = 100


# Facts that one transaction takes back when a source no longer states them.
_AT_ONCE = 500


class Neo4jCorrections:
    """Implements `CorrectionStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write
        self._history = Neo4jHistory(database)

    async def withdraw_facts(
        self, space: str, uuids: Sequence[str], by: Provenance
    ) -> tuple[Mapping[str, Outcome], int]:
        """Withdraws facts in one transaction."""
        return await self._write(space, lambda writer: withdraw_facts(writer, uuids, by))

    async def stated(self, space: str, uuid: str) -> FactState:
        """Returns a standing fact."""
        return (await stored_fact(partial(self._database.read, space=space), uuid)).state

    async def correct_fact(
        self,
        space: str,
        uuid: str,
        correction: FactCorrection,
        by: Provenance,
        vector: Vector | None = None,
    ) -> CorrectedFact:
        """Corrects a fact in one transaction."""
        target, revision = await self._write(
            space,
            lambda writer: correct_fact(writer, uuid, correction, by, vector),
            vector.model if vector else "",
            len(vector.values) if vector else 0,
        )
        found = await self._history.facts_known(space, [target.uuid], None)
        if target.uuid not in found:  # Deleted concurrently by another call.
            raise NotFoundError("fact")
        replaced = uuid if target.uuid != uuid else ""
        return CorrectedFact(found[target.uuid], target.changed, replaced, revision)

    async def settle_source(
        self, space: str, source: str, first_revision: int, by: Provenance | None
    ) -> Settlement:
        """Finds what a source no longer states and, if `by` is given, withdraws it, a part in each transaction."""
        parameters = {"source": source_key(source), "first": first_revision}
        rows = await self._database.read(
            "missing_from_source", space=space, limit=LISTED, **parameters
        )
        facts = await self._history.facts_known(space, rows[0]["uuids"], None)
        missing = tuple(facts[uuid] for uuid in rows[0]["uuids"] if uuid in facts)
        total, withdrawn, revision = rows[0]["total"], 0, rows[0]["revision"]
        taken = total if by is not None else 0
        while by is not None and taken:
            (taken, gone), revision = await self._write(
                space, lambda writer: _take_missing(writer, parameters, by)
            )
            withdrawn += gone
        return Settlement(missing, total, withdrawn, revision)


async def _take_missing(
    writer: SpaceWriter, parameters: Mapping[str, object], by: Provenance
) -> tuple[int, int]:
    """Withdraws some of the facts that a source no longer states; returns how many it looked at and withdrew."""
    rows = await writer.write("take_missing_from_source", limit=_AT_ONCE, **parameters)
    gone = sorted(row["uuid"] for row in rows if not row["supported"])
    standings = await writer.read("fact_standings", uuids=gone) if gone else []
    standing = [row["uuid"] for row in standings if row["stands"]]
    await take_back(writer, standing, by)
    return len(rows), len(standing)
