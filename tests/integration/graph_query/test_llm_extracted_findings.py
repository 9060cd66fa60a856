"""Findings that a language model extracts from an episode are stored once, and deleted with it."""

from __future__ import annotations

from services.graph_query.findings.domain import FindingFilter, FindingOrigin, Subject
from services.graph_query.neo4j_store import Neo4jStore
from tests.integration.graph_query.llm_extraction import reading

TEXT = "Mira Okafor owns the Payments Service. The logs show that it fails at night."
FAILS = {
    "kind": "finding",
    "statement": "The Payments Service fails at night",
    "confidence": 0.9,
    "methodology": "log review",
    "entities": ["Payments Service"],
}


async def test_findings_are_extracted_before_facts_and_stored_and_deleted_with_the_episode(
    store: Neo4jStore,
) -> None:
    async with reading(store) as found:
        found.script.entities = [("Mira Okafor", ""), ("Payments Service", "")]
        found.script.facts = [("Mira Okafor", "Payments Service", "OWNS", {})]
        found.script.findings = [FAILS]
        note = found.episode("d1", TEXT)
        for _ in range(2):
            await found.intake.add(found.space, [note])
        assert found.script.asked[0] == "findings"
        assert found.script.asked.count("findings") == 1
        only = FindingFilter(about=Subject("payments service"), episode=note.uuid)
        (place,) = await store.findings.list_findings(found.space, only, None, 10)
        stored = (await store.findings.findings(found.space, [place.uuid]))[place.uuid]
        assert (stored.origin, stored.fields.confidence) == (FindingOrigin.EXTRACTED, 0.9)
        assert [(end.name, bool(end.uuid)) for end in stored.about] == [("Payments Service", True)]
        assert [cited.chunk_id for cited in stored.citations] == [note.uuid]
        assert (await store.findings.finding_state(found.space)).vectors == 1
        assert (await store.delete_episodes(found.space, [note.uuid])).findings == 1
