"""One pass over a space: compares the stores by id in constant memory, regardless of their size.

The stores are read at different times, and jobs write to one after the other. Apparent inconsistencies are therefore
checked again: first whether unfinished work concerns them, then, in the stores, whether they still exist. The memories
of each user are in a partition of the tiers, which is checked in the same way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple, Protocol

from services.agent_orchestrator.clients.inventories import (
    GraphInventory,
    VectorInventory,
    in_parts,
)
from services.agent_orchestrator.clients.model_migration import GraphModels, VectorModels
from services.agent_orchestrator.consistency.confirmation import Confirmation, Work
from services.agent_orchestrator.consistency.document_checks import DocumentChecks
from services.agent_orchestrator.consistency.embedding_checks import EmbeddingChecks
from services.agent_orchestrator.consistency.fact_checks import FactChecks
from services.agent_orchestrator.consistency.memory_checks import MemoryChecks, MemoryRows, Owner
from services.agent_orchestrator.consistency.report import DEAD, Inconsistency, InconsistencyReport
from services.runtime.context import call_scope, current_call

AT_ONCE = 1_000
# Longer than an undisturbed write takes from the first store to the second.
SETTLE_SECONDS = 0.5

Found = AsyncIterator[Sequence[Inconsistency]]


class Scope(NamedTuple):
    """A part of a space with a partition of the tiers: the space itself, or a user's memories."""

    partition: str
    owner: Owner


class Repairer(Protocol):
    """Repairs findings."""

    async def repair(self, findings: Sequence[Inconsistency]) -> int:
        """Repairs findings of one kind, as many as possible; returns how many."""
        ...

    @property
    def quarantine_id(self) -> str:
        """The id of the quarantine that was filled; "" if none was."""
        ...


class Check:
    """Checks the current call's space; with a repairer, it repairs findings immediately."""

    def __init__(
        self,
        vector: VectorInventory,
        graph: GraphInventory,
        *,
        work: Work,
        memories: MemoryRows,
        vector_models: VectorModels,
        graph_models: GraphModels,
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        self._work = work
        self._memories = memories
        confirmation = Confirmation(work, settle_seconds)
        self._documents = DocumentChecks(vector, graph, memories, confirmation)
        self._facts = FactChecks(vector, graph, work, confirmation)
        self._memory = MemoryChecks(vector, memories, confirmation)
        self._embeddings = EmbeddingChecks(vector_models, graph_models, confirmation)

    async def run(self, max_listed: int, repairer: Repairer | None = None) -> InconsistencyReport:
        """Runs the whole pass. Raises an error if a store is unavailable; repairs made before remain."""
        report = InconsistencyReport(current_call().user, max_listed)
        async for scope in self.scopes():
            with in_scope(scope):
                for found in self._checks(report, scope):
                    async for findings in found:
                        report.note(findings)
                        if repairer is not None and findings:
                            repaired = await repairer.repair(findings)
                            report.repaired[findings[0].kind] += repaired
        if repairer is not None:
            report.quarantine_id = repairer.quarantine_id
        return report

    async def scopes(self) -> AsyncIterator[Scope]:
        """Yields the space of the current call, then the partition of each of its users who have memories."""
        space = current_call().space
        yield Scope(space, Owner(space, None))
        for user, partition in await self._memories.owners(space):
            yield Scope(partition, Owner(space, user))

    def _checks(self, report: InconsistencyReport, scope: Scope) -> Iterator[Found]:
        """Yields the checks of a scope. Facts precede documents, because a document is quarantined with its facts."""
        if scope.owner.user is not None:
            yield self._memory.check(report, scope.owner)
        else:
            yield self._dead()
            yield self._facts.state(report)
            yield self._facts.facts(report)
            yield self._facts.findings(report)
        yield self._documents.documents(report, scope.owner)
        yield self._documents.pairs(report, scope.owner)
        yield self._documents.unjoined_entities(report)
        yield self._embeddings.check(scope.owner.user)

    async def _dead(self) -> Found:
        async for part in in_parts(self._work.dead(current_call().space), AT_ONCE):
            yield [Inconsistency(DEAD, one.job_id, one.document_id) for one in part]


@contextmanager
def in_scope(scope: Scope) -> Iterator[None]:
    """Makes the calls of the block use a scope's partition of the tiers."""
    if scope.partition == current_call().space:
        yield
        return
    with call_scope(replace(current_call(), space=scope.partition)):
        yield
