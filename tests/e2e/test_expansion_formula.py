"""The score of a passage that a document search reaches through an explicit relation."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from braid.common.v1 import expansion_pb2
from braid.graph.v1 import relations_pb2
from braid_client import Braid
from tests.e2e.conftest import BEN_KEY, System

ERROR = "The checkout answers with timeouts because its pool of connections is empty."
# Far from the question, so that its own score is below its share on every processor: vectors differ in the third digit.
FIX = "Forty became the new ceiling on Tuesday."
QUESTION = "Why does the checkout answer with timeouts?"
# FIXES has weight 1, so one hop away a passage gets 0.6 · 0.8 of the score of its seed: 0.456 for a seed with 0.95.
SHARE = 1.0 * 0.6 * 0.8


@pytest.fixture
def error_and_fix(system: System) -> Iterator[tuple[Braid, str, str]]:
    """A client and the ids of two passages: an error and its fix."""
    addresses = system.stack.addresses
    with Braid(
        addresses["agent_orchestrator"],
        vector_target=addresses["vector_search"],
        graph_target=addresses["graph_query"],
        api_key=BEN_KEY,
        timeout=30,
    ) as braid:
        for name, text in (("error", ERROR), ("fix", FIX)):
            job = braid.ingest_document(text, document_id=name)
            braid.wait_for_job(job.id, timeout=60)
        ids = [
            next(hit.chunk.id for hit in braid.text_search(text).hits if hit.chunk.content == text)
            for text in (ERROR, FIX)
        ]
        fixes = relations_pb2.ChunkRelationInput(
            source_id=ids[1],
            target_id=ids[0],
            relation_type=relations_pb2.CHUNK_RELATION_TYPE_FIXES,
        )
        braid.put_relations([fixes])
        try:
            yield braid, ids[0], ids[1]
        finally:
            for name in ("error", "fix"):
                braid.delete_document(name)


def test_a_fix_one_hop_away_has_its_share_of_the_score(
    system: System, error_and_fix: tuple[Braid, str, str]
) -> None:
    braid, error, fix = error_and_fix
    hits = braid.expanded_hybrid_search(
        QUESTION, expansion=expansion_pb2.EXPANSION_MODE_FORMULA, min_score=0.3
    ).hits
    found = {one.hit.chunk.id: one.hit.score for one in hits}
    assert found.keys() == {error, fix}
    assert found[fix] == pytest.approx(SHARE * found[error], abs=1e-6)
    body = {"query": QUESTION, "expansion": "formula", "min_score": 0.3}
    with system.client(BEN_KEY) as client:
        shown: httpx2.Response = client.post("/api/search/hybrid", json=body)
    results = {one["id"]: one for one in shown.json()["results"]}
    assert results[fix]["score"] == pytest.approx(found[fix], abs=1e-6)
    [step] = results[fix]["expansion"]["steps"]
    assert step["relation_type"] == "FIXES"
