"""Compares facts and findings with the documents that state them, and reads the state of the graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from services.agent_orchestrator.clients.inventories import (
    DOCUMENTS,
    FactPage,
    FactSources,
    GraphInventory,
    VectorInventory,
)
from services.agent_orchestrator.consistency.confirmation import Confirmation, Work
from services.agent_orchestrator.consistency.report import (
    FINDING,
    OLDER_GRAPH,
    ONTOLOGY,
    UNDOCUMENTED_FACT,
    UNSTATED_FACT,
    Inconsistency,
    InconsistencyReport,
)
from services.runtime.context import current_call

ONTOLOGY_ID = "ontology"

Found = AsyncIterator[Sequence[Inconsistency]]


class FactChecks:
    """Checks stated facts, findings and the ontology of the current call's space."""

    def __init__(
        self, vector: VectorInventory, graph: GraphInventory, work: Work, confirmation: Confirmation
    ) -> None:
        self._work = work
        self._vector = vector
        self._graph = graph
        self._confirmation = confirmation

    async def state(self, _report: InconsistencyReport) -> Found:
        """Yields a graph that is older than one seen before, and an ontology that cannot be read."""
        seen = await self._work.seen_graph(current_call().space)
        state = await self._graph.state()
        if state.space_revision < seen:
            yield [Inconsistency(OLDER_GRAPH, str(state.space_revision))]
        if not state.ontology_readable:
            yield [Inconsistency(ONTOLOGY, ONTOLOGY_ID)]

    async def facts(self, report: InconsistencyReport) -> Found:
        """Yields facts all of whose documents do not exist, and facts that nobody states."""
        token, more = "", True
        while more:
            page = await self._graph.facts(token)
            report.facts += len(page.facts)
            suspects = await self._suspects(page)
            if suspects:
                await self._confirmation.settle()
                confirmed = await self._confirmed(token, suspects)
                yield [one for one in confirmed if one.kind == UNSTATED_FACT]
                yield [one for one in confirmed if one.kind == UNDOCUMENTED_FACT]
            token, more = page.next_token, bool(page.next_token)

    async def findings(self, report: InconsistencyReport) -> Found:
        """Yields findings that come from an episode which does not exist."""
        token, more = "", True
        while more:
            page = await self._graph.findings(token)
            report.findings += page.looked_through
            if page.without_episode:
                await self._confirmation.settle()
                again = set((await self._graph.findings(token)).without_episode)
                yield [Inconsistency(FINDING, one) for one in page.without_episode if one in again]
            token, more = page.next_token, bool(page.next_token)

    async def _suspects(self, page: FactPage) -> set[str]:
        """Returns the facts of a page that no existing document states."""
        known = await self._known({one for fact in page.facts for one in fact.document_ids})
        return {fact.id for fact in page.facts if not _is_stated(fact, known)}

    async def _confirmed(self, token: str, suspects: set[str]) -> list[Inconsistency]:
        """Reads the page again: what unfinished jobs write and what exists by now is consistent."""
        facts = [one for one in (await self._graph.facts(token)).facts if one.id in suspects]
        documents = sorted({one for fact in facts for one in fact.document_ids})
        busy = set(documents) - set(await self._confirmation.idle(documents))
        known = busy | await self._known(documents)
        return [_inconsistency(fact) for fact in facts if not _is_stated(fact, known)]

    async def _known(self, documents: set[str] | Sequence[str]) -> set[str]:
        wanted, known = sorted(documents), set[str]()
        for start in range(0, len(wanted), DOCUMENTS):
            known |= await self._vector.find_documents(wanted[start : start + DOCUMENTS])
        return known


def _is_stated(fact: FactSources, known: set[str]) -> bool:
    return fact.without_document or not known.isdisjoint(fact.document_ids)


def _inconsistency(fact: FactSources) -> Inconsistency:
    if not fact.document_ids:
        return Inconsistency(UNSTATED_FACT, fact.id)
    return Inconsistency(UNDOCUMENTED_FACT, fact.id, fact.document_ids[0])
