"""Mentions and events in the tier's responses, among them the events of the sample."""

from __future__ import annotations

import json
from pathlib import Path

import deploy.local
from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import (
    entities_pb2,
    facts_pb2,
    history_pb2,
    ingest_pb2,
    ontology_pb2,
    query_pb2,
)
from gateway.cli.sample import Sample, put_if_absent
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import episode, fact, stamp, stream

EVENTS = {"CAUSED", "FIXED_BY", "REPLACED_BY"}
FACTS = Path(deploy.local.__file__).parent / "sample" / "facts.jsonl"


async def search(tier: Tier, query: str, day: str) -> list[facts_pb2.Fact]:
    """Returns the facts that a question finds as of a day."""
    as_of = retrieval_pb2.TimeSelector(instant=stamp(day))
    request = query_pb2.SearchFactsRequest(query=query, as_of=as_of)
    return [hit.fact for hit in (await tier.query.SearchFacts(request, metadata=tier.ours)).hits]


def test_the_sample_ontology_marks_relations_of_its_facts_as_events() -> None:
    marked = {one.name for one in Sample.of_the_stack().ontology().relation_types if one.event}
    stated = {json.loads(line)["relation"] for line in FACTS.read_text().splitlines()}
    assert marked == EVENTS
    assert marked < stated


async def test_an_event_happens_on_its_day_and_does_not_last(tier: Tier) -> None:
    await put_if_absent(tier.query, tier.ingest, Sample.of_the_stack().ontology(), tier.ours)
    result = stream(
        fact("Ledger Service", "CAUSED", "INC-104", valid_time=stamp("2024-04-18")),
        fact("Jonas Weber", "OWNS", "Ledger Service", valid_time=stamp("2023-02-20")),
    )
    await tier.ingest.AddFacts(result, metadata=tier.ours)
    asked = "who owns the Ledger Service, and what has it caused?"
    found = await search(tier, asked, "2025-01-01")
    assert {one.relation_type: one.event for one in found} == {"CAUSED": True, "OWNS": False}
    assert [one.relation_type for one in await search(tier, asked, "2024-04-17")] == ["OWNS"]
    for day, relations in (("2024-04-18", {"CAUSED", "OWNS"}), ("2025-01-01", {"OWNS"})):
        snapshot = await tier.query.GetSnapshot(
            history_pb2.GetSnapshotRequest(
                as_of=retrieval_pb2.TimeSelector(instant=stamp(day)),
                entity=entities_pb2.EntitySelector(name="Ledger Service"),
            ),
            metadata=tier.ours,
        )
        assert {one.relation_type for one in snapshot.facts} == relations
    history = await tier.query.GetEntityHistory(
        history_pb2.GetEntityHistoryRequest(
            entity=entities_pb2.EntitySelector(name="Ledger Service")
        ),
        metadata=tier.ours,
    )
    assert [one.relation_type for one in history.facts] == ["OWNS", "CAUSED"]
    assert [one.relation_type for one in history.summary.current] == ["OWNS"]
    change = history_pb2.DiffGraphRequest(
        before=retrieval_pb2.TimeSelector(instant=stamp("2024-01-01"))
    )
    diff = (await tier.query.DiffGraph(change, metadata=tier.ours)).diff
    assert [one.relation_type for one in diff.added] == ["CAUSED"]


async def test_the_sample_does_not_replace_an_existing_ontology(tier: Tier) -> None:
    own = ontology_pb2.Ontology(relation_types=[ontology_pb2.RelationType(name="MET", event=True)])
    for ontology in (own, Sample.of_the_stack().ontology()):
        await put_if_absent(tier.query, tier.ingest, ontology, tier.ours)
    asked = ontology_pb2.GetOntologyRequest()
    stored = await tier.query.GetOntology(asked, metadata=tier.ours)
    assert (stored.ontology, stored.version) == (own, 1)


async def test_a_mention_has_its_documents_date_and_no_period(tier: Tier) -> None:
    text = "Jonas Weber has owned the Ledger Service since 20 February 2023."
    page = episode("d1", "Ledger Service", text, version_time=stamp("2023-02-20"))
    request = [page, episode("d2", "Ledger Handbook", "Mira Okafor wrote of the Ledger Service.")]
    await tier.ingest.BatchAddEpisodes(
        ingest_pb2.BatchAddEpisodesRequest(episodes=request), metadata=tier.ours
    )
    near = await tier.query.GetNeighborhood(
        query_pb2.GetNeighborhoodRequest(entity_name="Ledger Service"), metadata=tier.ours
    )
    (dated,) = [one for one in near.edges if one.statement == text]
    (undated,) = [one for one in near.edges if one.sources[0].document_id == "d2"][:1]
    assert dated.mention_time == stamp("2023-02-20")
    for one in (dated, undated):
        assert one.origin == facts_pb2.FACT_ORIGIN_LOCAL
        assert not one.HasField("valid_time")
        assert not one.HasField("invalid_time")
        assert not one.event
    assert not undated.HasField("mention_time")


async def test_a_mention_of_an_ended_stated_fact_is_found_only_as_of_its_period(
    tier: Tier,
) -> None:
    text = "Jonas Weber has owned the Ledger Service since 20 February 2023."
    page = episode("d1", "Ledger Service", text, version_time=stamp("2023-02-20"))
    await tier.ingest.BatchAddEpisodes(
        ingest_pb2.BatchAddEpisodesRequest(episodes=[page]), metadata=tier.ours
    )
    times = {"valid_time": stamp("2023-02-20"), "invalid_time": stamp("2024-06-10")}
    result = stream(fact("Jonas Weber", "OWNS", "Ledger Service", **times))
    await tier.ingest.AddFacts(result, metadata=tier.ours)
    origins = {facts_pb2.FACT_ORIGIN_GIVEN, facts_pb2.FACT_ORIGIN_LOCAL}
    for day, shown in (("2024-01-01", origins), ("2025-01-01", set())):
        found = await search(tier, "who owns the Ledger Service?", day)
        assert {one.origin for one in found} == shown
        near = await tier.query.GetNeighborhood(
            query_pb2.GetNeighborhoodRequest(
                entity_name="Ledger Service",
                as_of=retrieval_pb2.TimeSelector(instant=stamp(day)),
            ),
            metadata=tier.ours,
        )
        assert {one.origin for one in near.edges} == shown
