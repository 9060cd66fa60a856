"""`AddEpisode` of a tier with a language model: its response, and what a search finds afterwards."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest

from braid.graph.v1 import facts_pb2, ingest_pb2, query_pb2
from services.graph_query.app import build_extractor
from services.graph_query.llm_extraction.episode_extractor import load_session
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.errors import BraidError
from services.runtime.status import error_from_rpc, reason_name
from tests.integration.graph_query.conftest import Tier, serve_tier
from tests.integration.graph_query.messages import episode
from tests.stubs.language import Script
from tests.stubs.language_model import scripted_model
from tests.stubs.openai_server import OpenAIStub, raw

NOTE = "Mira Okafor has led the Payments Guild since March 2020."


@dataclass
class TierWithModel:
    """A tier whose language model is a stub, and the stub."""

    tier: Tier
    stub: OpenAIStub
    script: Script
    chunk: str = field(default_factory=lambda: str(uuid.uuid4()))

    async def add(self) -> ingest_pb2.EpisodeCounts:
        """Adds the note's chunk."""
        request = ingest_pb2.AddEpisodeRequest(
            episode=episode("note", "Guilds", NOTE, chunk_id=self.chunk)
        )
        answer = await self.tier.ingest.AddEpisode(request, metadata=self.tier.ours, timeout=30)
        return answer.counts

    async def refused(self) -> BraidError:
        """Returns the error that adding the chunk fails with."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.add()
        return error_from_rpc(caught.value)

    async def extracted(self) -> list[facts_pb2.Fact]:
        """Returns the extracted facts that a search finds."""
        request = query_pb2.SearchFactsRequest(query="Who leads the Payments Guild?")
        found = await self.tier.query.SearchFacts(request, metadata=self.tier.ours, timeout=30)
        facts = [hit.fact for hit in found.hits]
        return [one for one in facts if one.origin == facts_pb2.FACT_ORIGIN_EXTRACTED]


@asynccontextmanager
async def reading_tier(store: Neo4jStore, folder: Path) -> AsyncIterator[TierWithModel]:
    script = Script(
        entities=[("Mira Okafor", ""), ("Payments Guild", "")],
        facts=[("Mira Okafor", "LEADS", "Payments Guild", {"valid_at": "2020-03-01T00:00:00Z"})],
    )
    await asyncio.to_thread(load_session)  # takes seconds, once in a process
    async with scripted_model(script) as (language, stub):
        reader = build_extractor(store, language)
        async with serve_tier(store, folder, reader) as tier:
            yield TierWithModel(tier, stub, script)


async def test_facts_extracted_from_a_chunk_are_found_with_their_dates(
    store: Neo4jStore, tmp_path: Path
) -> None:
    async with reading_tier(store, tmp_path) as running:
        counts = await running.add()
        assert (counts.added_episode_count, counts.added_fact_count, counts.ended_fact_count) == (
            1,
            1,
            0,
        )
        [led] = await running.extracted()
        assert (led.relation_type, led.subject.name, led.object.name) == (
            "LEADS",
            "Mira Okafor",
            "Payments Guild",
        )
        assert led.valid_time.ToJsonString() == "2020-03-01T00:00:00Z"
        assert [source.document_id for source in led.sources] == ["note"]


async def test_a_chunk_is_sent_to_the_model_only_once(store: Neo4jStore, tmp_path: Path) -> None:
    async with reading_tier(store, tmp_path) as running:
        await running.add()
        asked = len(running.script.asked)
        counts = await running.add()
        assert (counts.added_episode_count, counts.added_fact_count) == (0, 0)
        assert len(running.script.asked) == asked > 0


async def test_a_chunk_is_added_without_the_model_if_the_caller_skips_it(
    store: Neo4jStore, tmp_path: Path
) -> None:
    async with reading_tier(store, tmp_path) as running:
        one = episode("note", "Guilds", NOTE, chunk_id=running.chunk)
        request = ingest_pb2.BatchAddEpisodesRequest(episodes=[one], skip_language_model=True)
        answer = await running.tier.ingest.BatchAddEpisodes(request, metadata=running.tier.ours)
        assert (answer.counts.added_episode_count, answer.counts.added_fact_count) == (1, 0)
        assert running.script.asked == []
        # A later call without the option sends it to the model.
        assert (await running.add()).added_fact_count == 1


async def test_a_chunk_with_an_unusable_response_of_the_model_is_refused_entirely(
    store: Neo4jStore, tmp_path: Path
) -> None:
    async with reading_tier(store, tmp_path) as running:
        usual = dict(running.stub.routes)
        running.stub.routes["/v1/chat/completions"] = raw(b"not JSON at all")
        error = await running.refused()
        assert NOTE not in str(error)
        assert await running.extracted() == []
        running.stub.routes |= usual
        assert (await running.add()).added_fact_count == 1
        assert reason_name(error) != "INTERNAL"
