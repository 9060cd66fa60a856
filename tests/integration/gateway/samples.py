"""Sample responses of the services, and their JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from google.protobuf.struct_pb2 import Struct

from braid.agent.v1 import jobs_pb2, search_pb2
from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import facts_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2
from services.runtime.times import to_timestamp

DAY = datetime(2024, 4, 18, tzinfo=UTC)
JOB_ID = "7d9f1c1e-5b0f-4c43-9e0a-0b6f5f1d4a11"
CHUNK_ID = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"


def struct(**values: Any) -> Struct:
    """Returns a JSON object as a message."""
    message = Struct()
    message.update(values)
    return message


CHUNK_HIT = chunks_pb2.ChunkHit(
    chunk=chunks_pb2.Chunk(
        id=CHUNK_ID,
        document_id="inc-104.md",
        document_title="INC-104",
        source="incident/INC-104",
        content="The Ledger Service caused INC-104.",
        start_char=10,
        end_char=44,
        page=3,
        metadata=struct(year=2024, tags=["incident", None], nested={"open": False, "share": 0.5}),
    ),
    score=0.75,
    scores=chunks_pb2.ChunkScores(vector=0.5, vector_rank=1),
)
CHUNK_JSON = {
    "id": CHUNK_ID,
    "document_id": "inc-104.md",
    "title": "INC-104",
    "source": "incident/INC-104",
    "content": "The Ledger Service caused INC-104.",
    "start_char": 10,
    "end_char": 44,
    "page": 3,
    "score": 0.75,
    "scores": {
        "vector": 0.5,
        "text": None,
        "vector_fused": None,
        "text_fused": None,
        "vector_rank": 1,
        "text_rank": None,
        "reading": None,
    },
    "metadata": {
        "year": 2024,
        "tags": ["incident", None],
        "nested": {"open": False, "share": 0.5},
    },
}
FACT = facts_pb2.Fact(
    id="f-1",
    statement="Jonas Weber owned the Ledger Service.",
    relation_type="OWNS",
    subject=facts_pb2.EntityRef(id="e-1", name="Jonas Weber", type="Person"),
    object=facts_pb2.EntityRef(id="e-2", name="Ledger Service", type="Service"),
    valid_time=to_timestamp(DAY),
    sources=[
        retrieval_pb2.Citation(
            chunk_id=CHUNK_ID, document_id="inc-104.md", document_title="INC-104", quote="He did."
        )
    ],
    origin=facts_pb2.FACT_ORIGIN_GIVEN,
)
FACT_JSON = {
    "uuid": "f-1",
    "fact": "Jonas Weber owned the Ledger Service.",
    "relation": "OWNS",
    "source_entity": {"uuid": "e-1", "name": "Jonas Weber", "type": "Person"},
    "target_entity": {"uuid": "e-2", "name": "Ledger Service", "type": "Service"},
    "valid_at": "2024-04-18T00:00:00Z",
    "invalid_at": None,
    "event": False,
    "mentioned_at": None,
    "sources": [
        {
            "chunk_id": CHUNK_ID,
            "document_id": "inc-104.md",
            "document_title": "INC-104",
            "source": "",
            "quote": "He did.",
        }
    ],
    "origin": "given",
    "score": None,
}
FACT_HIT = facts_pb2.FactHit(
    fact=FACT,
    score=0.5,
    scores=facts_pb2.FactScores(text_rank=1, words=0.5, support=0.0),
)
FACT_HIT_JSON = FACT_JSON | {
    "score": 0.5,
    "scores": {
        "vector": None,
        "vector_rank": None,
        "text_rank": 1,
        "words": 0.5,
        "support": 0.0,
        "reading": None,
    },
}
ENTITY = facts_pb2.Entity(id="e-1", name="Jonas Weber", type="Person", mention_count=3)
ENTITY_JSON = {
    "uuid": "e-1",
    "name": "Jonas Weber",
    "type": "Person",
    "summary": "",
    "mentions": 3,
}


def report(name: str, status: str, reason: str = "UNSPECIFIED") -> legs_pb2.LegReport:
    """Returns the report of a leg that took 1.5 ms."""
    leg_report = legs_pb2.LegReport(
        leg=legs_pb2.Leg.Value(f"LEG_{name.upper()}"),
        status=legs_pb2.LegStatus.Value(f"LEG_STATUS_{status}"),
        reason=legs_pb2.LegReason.Value(f"LEG_REASON_{reason}"),
    )
    leg_report.elapsed.FromMicroseconds(1500)
    return leg_report


COMPREHENSIVE = search_pb2.ComprehensiveSearchResponse(
    vector_results=[CHUNK_HIT],
    graph_results=[FACT_HIT],
    results=[
        search_pb2.SearchResult(
            id=CHUNK_ID,
            document_id="inc-104.md",
            title="INC-104",
            source="incident/INC-104",
            content="The Ledger Service caused INC-104.",
            score=0.9,
            contributions=[
                search_pb2.Contribution(leg=legs_pb2.LEG_VECTOR, rank=1, score=0.75, share=0.9)
            ],
            facts=[FACT],
        ),
        search_pb2.SearchResult(id="f-2", content="A fact without a chunk.", score=0.1),
    ],
    legs=[report("vector", "OK"), report("graph", "UNAVAILABLE", "STORE_UNAVAILABLE")],
    result_count=2,
    embedding_source=retrieval_pb2.EMBEDDING_SOURCE_MEMORY,
)
LEGS_JSON = [
    {"name": "vector", "status": "OK", "reason": None, "took_ms": 1.5, "cached": False},
    {
        "name": "graph",
        "status": "UNAVAILABLE",
        "reason": "STORE_UNAVAILABLE",
        "took_ms": 1.5,
        "cached": False,
    },
]
COMPREHENSIVE_JSON = {
    "vector_results": [CHUNK_JSON],
    "graph_results": [FACT_HIT_JSON],
    "results": [
        {
            "id": CHUNK_ID,
            "document_id": "inc-104.md",
            "title": "INC-104",
            "source": "incident/INC-104",
            "content": "The Ledger Service caused INC-104.",
            "score": 0.9,
            "scores": {"vector": {"rank": 1, "score": 0.75, "share": 0.9}},
            "metadata": CHUNK_JSON["metadata"],
            "facts": [FACT_JSON],
            "expansion": None,
            "memory_type": None,
        },
        {
            "id": "f-2",
            "document_id": "",
            "title": "",
            "source": "",
            "content": "A fact without a chunk.",
            "score": 0.1,
            "scores": {},
            "metadata": {},
            "facts": [],
            "expansion": None,
            "memory_type": None,
        },
    ],
    "legs": LEGS_JSON,
    "total_results": 2,
    "embedding": "memory",
    "expansion": None,
    "reranking": None,
    "nearest": [],
}
JOB = jobs_pb2.Job(
    id=JOB_ID,
    state=jobs_pb2.JOB_STATE_RUNNING,
    unit_count=2,
    searchable_count=1,
    failed_count=1,
    failures=[
        jobs_pb2.JobFailure(document_id="b.txt", reason="is empty", stage=jobs_pb2.JOB_STAGE_SEARCH)
    ],
    warnings=[
        jobs_pb2.JobWarning(
            document_id="a.pdf",
            reason=jobs_pb2.JOB_WARNING_REASON_PAGES_WITHOUT_TEXT,
            text="1 of 2 pages contain no text, such as scanned ones: 2.",
            where="pages 2",
        )
    ],
    warning_count=1,
    kind=jobs_pb2.JOB_KIND_UPLOAD,
    waiting_for="neo4j cannot be reached now.",
    searchable_per_second=2.5,
    title="Notes",
    source="notes.md",
    create_time=to_timestamp(DAY),
    start_time=to_timestamp(DAY),
)
JOB_JSON = {
    "id": JOB_ID,
    "state": "RUNNING",
    "documents_total": 2,
    "documents_searchable": 1,
    "documents_graph_ready": 0,
    "documents_unchanged": 0,
    "removed": [],
    "inferred": None,
    "documents_failed": 1,
    "chunks_written": 0,
    "failures": [{"id": "b.txt", "reason": "is empty", "stage": "search"}],
    "warnings": [
        {
            "id": "a.pdf",
            "reason": "pages_without_text",
            "text": "1 of 2 pages contain no text, such as scanned ones: 2.",
            "where": "pages 2",
        }
    ],
    "warnings_total": 1,
    "kind": "upload",
    "waiting_for": "neo4j cannot be reached now.",
    "searchable_per_second": 2.5,
    "graph_ready_per_second": 0.0,
    "document_id": None,
    "title": "Notes",
    "source": "notes.md",
    "created_at": "2024-04-18T00:00:00Z",
    "updated_at": None,
    "started_at": "2024-04-18T00:00:00Z",
    "ended_at": None,
}
DOCUMENT = documents_pb2.Document(
    document_id="notes/a.md",
    title="A",
    metadata=struct(kind="note"),
    version=2,
    valid_time=to_timestamp(DAY),
    create_time=to_timestamp(DAY),
    chunk_count=1,
)
DOCUMENT_JSON = {
    "id": "notes/a.md",
    "title": "A",
    "source": "",
    "metadata": {"kind": "note"},
    "version": 2,
    "valid_at": "2024-04-18T00:00:00Z",
    "created_at": "2024-04-18T00:00:00Z",
    "chunk_count": 1,
}
