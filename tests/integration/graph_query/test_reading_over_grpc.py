"""`AddEpisode` of a tier with a language model: what the call answers with, and what a search finds then."""

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
class Reads:
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
        """The error that adding a chunk ends with."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.add()
        return error_from_rpc(caught.value)

    async def extracted(self) -> list[facts_pb2.Fact]:
        """What a search finds of what the model read."""
        request = query_pb2.SearchFactsRequest(query="Who leads the Payments Guild?")
        found = await self.tier.query.SearchFacts(request, metadata=self.tier.ours, timeout=30)
        facts = [hit.fact for hit in found.hits]
        return [one for one in facts if one.origin == facts_pb2.FACT_ORIGIN_EXTRACTED]


@asynccontextmanager
async def reading_tier(store: Neo4jStore, folder: Path) -> AsyncIterator[Reads]:
    script = Script(
        entities=[("Mira Okafor", ""), ("Payments Guild", "")],
        facts=[("Mira Okafor", "LEADS", "Payments Guild", {"valid_at": "2020-03-01T00:00:00Z"})],
    )
    await asyncio.to_thread(load_session)  # takes seconds, once in a process
    async with scripted_model(script) as (language, stub):
        reader = build_extractor(store, language)
        async with serve_tier(store, folder, reader) as tier:
            yield Reads(tier, stub, script)


async def test_a_chunk_is_read_and_its_facts_are_found_with_their_dates(
    store: Neo4jStore, tmp_path: Path
) -> None:
    async with reading_tier(store, tmp_path) as reads:
        counts = await reads.add()
        assert (counts.added_episode_count, counts.added_fact_count, counts.ended_fact_count) == (
            1,
            1,
            0,
        )
        [led] = await reads.extracted()
        assert (led.relation_type, led.subject.name, led.object.name) == (
            "LEADS",
            "Mira Okafor",
            "Payments Guild",
        )
        assert led.valid_time.ToJsonString() == "2020-03-01T00:00:00Z"
        assert [source.document_id for source in led.sources] == ["note"]


async def test_a_chunk_that_was_read_is_not_read_again(store: Neo4jStore, tmp_path: Path) -> None:
    async with reading_tier(store, tmp_path) as reads:
        await reads.add()
        asked = len(reads.script.asked)
        counts = await reads.add()
        assert (counts.added_episode_count, counts.added_fact_count) == (0, 0)
        assert len(reads.script.asked) == asked > 0


async def test_a_chunk_is_added_without_the_model_where_the_caller_wants_that(
    store: Neo4jStore, tmp_path: Path
) -> None:
    async with reading_tier(store, tmp_path) as reads:
        one = episode("note", "Guilds", NOTE, chunk_id=reads.chunk)
        request = ingest_pb2.BatchAddEpisodesRequest(episodes=[one], skip_language_model=True)
        answer = await reads.tier.ingest.BatchAddEpisodes(request, metadata=reads.tier.ours)
        assert (answer.counts.added_episode_count, answer.counts.added_fact_count) == (1, 0)
        assert reads.script.asked == []
        # Asked for later, the model reads it.
        assert (await reads.add()).added_fact_count == 1


async def test_a_chunk_that_the_model_answers_unusably_is_refused_whole(
    store: Neo4jStore, tmp_path: Path
) -> None:
    async with reading_tier(store, tmp_path) as reads:
        usual = dict(reads.stub.routes)
        reads.stub.routes["/v1/chat/completions"] = raw(b"not JSON at all")
        error = await reads.refused()
        assert NOTE not in str(error)
        assert await reads.extracted() == []
        reads.stub.routes |= usual
        assert (await reads.add()).added_fact_count == 1
        assert reason_name(error) != "INTERNAL"
