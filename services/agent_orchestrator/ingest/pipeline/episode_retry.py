"""Sends episodes to the graph in batches that adapt to its speed; an unusable one is retried alone, then given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from braid.graph.v1 import ingest_pb2
from braid.vector.v1 import chunks_pb2
from services.agent_orchestrator.clients.tiers import GraphTier
from services.agent_orchestrator.jobs.retries import Retries, reason_of
from services.models.errors import is_unusable
from services.runtime.errors import BraidError

# Failures of a document alone while the graph serves, and answers to a passage that cannot be used, in a row. What is
# away, or at its limit, counts for nothing.
MAX_ATTEMPTS = 5
QUICK_SECONDS = 2.0
SLOW_SECONDS = 15.0
# A document that is to blame is alone after three failures.
FAILED_SHARE = 8


class AdaptiveBatch:
    """A batch's size, from 1 to `most`: an eighth after a failure, half after a slow one, double after a quick one."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self.size = max_size

    @property
    def is_full(self) -> bool:
        """Whether nothing has slowed it down."""
        return self.size == self._max_size

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Learns from the time that the block takes."""
        began = time.monotonic()
        try:
            yield
        except Exception:  # whatever it was, it goes on to the caller: less is sent next time
            self.size = max(1, self.size // FAILED_SHARE)
            raise
        took = time.monotonic() - began
        if took > SLOW_SECONDS:
            self.size = max(1, self.size // 2)
        elif took < QUICK_SECONDS:
            self.size = min(self._max_size, self.size * 2)


AGAIN_SECONDS = 0.25

Episodes = Sequence[ingest_pb2.EpisodeInput]


class EpisodeSender:
    """Gives episodes to the graph, in parts that it takes of the size that it takes."""

    def __init__(self, graph: GraphTier, retries: Retries, batch_size: AdaptiveBatch) -> None:
        self._graph = graph
        self._retries = retries
        self._batch_size = batch_size

    async def send(self, episodes: Episodes) -> dict[str, str]:
        """Why episodes are given up, by uuid; all others are in the graph."""
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
                await self._retries.run(lambda: self._graph.add_episodes(episodes))


def episode_of(chunk: chunks_pb2.Chunk) -> ingest_pb2.EpisodeInput:
    """A stored chunk as the graph takes it, of the version that is in view."""
    return ingest_pb2.EpisodeInput(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        document_title=chunk.document_title,
        source=chunk.source,
        content=chunk.content,
        reference_time=chunk.valid_time,
        version_time=chunk.valid_time if chunk.HasField("valid_time") else None,
    )
