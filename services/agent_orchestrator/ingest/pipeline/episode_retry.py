"""Sends episodes to the graph; retries one whose model answer is unusable alone, then gives it up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from braid.graph.v1 import ingest_pb2
from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.clients.tiers import GraphTier
from services.agent_orchestrator.jobs.adaptive_batch import AdaptiveBatch
from services.agent_orchestrator.jobs.retries import Retries, reason_of
from services.models.errors import is_unusable
from services.runtime.errors import BraidError

# Failures in a row after which a document or passage is given up: of a document sent alone while the graph works, or
# unusable model output for a passage. Unavailable stores and rate limits do not count.
MAX_ATTEMPTS = 5
AGAIN_SECONDS = 0.25

Episodes = Sequence[ingest_pb2.EpisodeInput]


class EpisodeSender:
    """Sends episodes to the graph; on an unusable model answer, it splits them until the failing one is alone."""

    def __init__(self, graph: GraphTier, retries: Retries, batch_size: AdaptiveBatch) -> None:
        self._graph = graph
        self._retries = retries
        self._batch_size = batch_size

    async def send(self, episodes: Episodes) -> dict[str, str]:
        """Sends episodes; returns the reasons for those given up, by chunk id. All others are in the graph."""
        try:
            await self._add(episodes)
        except BraidError as error:
            if not is_unusable(error):
                raise
            if len(episodes) == 1:
                return await self._try_again(episodes)
            half = (len(episodes) + 1) // 2
            return {**await self.send(episodes[:half]), **await self.send(episodes[half:])}
        return {}

    async def _try_again(self, episode: Episodes) -> dict[str, str]:
        reason = ""
        for attempt in range(1, MAX_ATTEMPTS):
            await asyncio.sleep(AGAIN_SECONDS * 2 ** (attempt - 1))
            try:
                await self._add(episode)
            except BraidError as error:
                if not is_unusable(error):
                    raise
                reason = reason_of(error)
            else:
                return {}
        return {episode[0].chunk_id: reason}

    async def _add(self, episodes: Episodes) -> None:
        if episodes:
            with self._batch_size.measured():
                patience = self._batch_size.patience
                await self._retries.run(
                    lambda: self._graph.add_episodes(episodes, patience=patience)
                )


def episode_of(chunk: chunks_pb2.Chunk) -> ingest_pb2.EpisodeInput:
    """Maps a stored chunk of the visible version to an episode."""
    return ingest_pb2.EpisodeInput(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        document_title=chunk.document_title,
        source=chunk.source,
        content=chunk.content,
        reference_time=chunk.valid_time,
        version_time=chunk.valid_time if chunk.HasField("valid_time") else None,
    )
