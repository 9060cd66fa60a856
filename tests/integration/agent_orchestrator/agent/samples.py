"""Sample data of a small company for the scripted tiers."""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import legs_pb2
from braid.graph.v1 import entities_pb2, facts_pb2, findings_pb2, history_pb2, query_pb2
from braid.vector.v1 import chunks_pb2, search_pb2
from tests.integration.agent_orchestrator.conftest import World

CHUNK = "11111111-1111-4111-8111-111111111111"
LATER_CHUNK = "22222222-2222-4222-8222-222222222222"
TEXT = "Mira Okafor owned the Ledger Service until 2023."
LATER_TEXT = "Jonas Weber owns the Ledger Service since March 2023."


def day(text: str) -> Timestamp:
    """The first instant of a day."""
    stamp = Timestamp()
    stamp.FromDatetime(datetime.fromisoformat(text).replace(tzinfo=UTC))
    return stamp


def chunk(chunk_id: str = CHUNK, text: str = TEXT) -> chunks_pb2.Chunk:
    """A passage of the document about owners."""
    return chunks_pb2.Chunk(
        id=chunk_id,
        document_id="owners",
        document_title="Owners",
        source="owners.md",
        content=text,
        start_char=100,
        end_char=100 + len(text),
    )


def fact(
    number: int = 1,
    *,
    owner: str = "Mira Okafor",
    start: str = "",
    end: str = "",
    chunk_id: str = CHUNK,
    quote: str = TEXT,
    type_name: str = "Entity",
) -> facts_pb2.Fact:
    """A stated fact."""
    stated = facts_pb2.Fact(
        id=f"00000000-0000-4000-8000-{number:012d}",
        statement=f"{owner} owns the Ledger Service",
        relation_type="OWNS",
        subject=facts_pb2.EntityRef(id="e1", name=owner, type=type_name),
        object=facts_pb2.EntityRef(id="e2", name="Ledger Service", type=type_name),
        origin=facts_pb2.FACT_ORIGIN_GIVEN,
        valid_time=day(start) if start else None,
        invalid_time=day(end) if end else None,
    )
    stated.sources.add(
        chunk_id=chunk_id,
        document_id="owners",
        document_title="Owners",
        source="owners.md",
        quote=quote,
    )
    return stated


FORMER = fact(1, start="2020-01-01", end="2023-03-01")
CURRENT = fact(2, owner="Jonas Weber", start="2023-03-01", chunk_id=LATER_CHUNK, quote=LATER_TEXT)
ENTITY = facts_pb2.Entity(
    id="33333333-3333-4333-8333-333333333333", name="Ledger Service", type="System"
)


def script_ledger_owners(world: World) -> None:
    """Scripts both tiers with the former and the current owner of the Ledger Service."""
    hits = [
        chunks_pb2.ChunkHit(chunk=chunk(LATER_CHUNK, LATER_TEXT), score=0.9),
        chunks_pb2.ChunkHit(chunk=chunk(), score=0.6),
    ]
    world.vector.answer = search_pb2.HybridSearchResponse(
        hits=hits, leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
    )
    world.graph.answer = query_pb2.SearchFactsResponse(
        hits=[facts_pb2.FactHit(fact=CURRENT, score=0.8)],
        leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
    )
    world.graph.linked = entities_pb2.LinkEntitiesResponse(
        entities=[entities_pb2.LinkedEntity(entity=ENTITY, text="Ledger Service")]
    )
    summary = history_pb2.HistorySummary(
        fact_count=2,
        current_fact_count=1,
        current=[CURRENT],
        first_seen_time=day("2020-01-01"),
        unchanged_since_time=day("2023-03-01"),
    )
    changed = history_pb2.ChangedFacts(before=[FORMER], after=[CURRENT])
    diff = history_pb2.GraphDiff(changed=[changed], changed_count=1)
    finding = findings_pb2.Finding(
        id="f1",
        finding=findings_pb2.FindingDetails(
            key_insight="Ownership moved in 2023", type="trend", confidence=0.9
        ),
        sources=CURRENT.sources,
    )
    world.graph.replies |= {
        "GetEntity": entities_pb2.GetEntityResponse(
            entities=[entities_pb2.EntityDetails(entity=ENTITY)]
        ),
        "GetEntityHistory": history_pb2.GetEntityHistoryResponse(
            entity=ENTITY, facts=[FORMER, CURRENT], summary=summary
        ),
        "GetSnapshot": history_pb2.GetSnapshotResponse(facts=[FORMER], changes=diff),
        "DiffGraph": history_pb2.DiffGraphResponse(diff=diff),
        "SearchFindings": findings_pb2.SearchFindingsResponse(
            hits=[findings_pb2.FindingHit(finding=finding, score=0.8)],
            leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK),
        ),
    }
