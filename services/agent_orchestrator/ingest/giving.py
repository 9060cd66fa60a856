"""Episodes given to the graph once more: one that a language model gives no usable answer to holds up no other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from braid.graph.v1 import ingest_pb2
from services.agent_orchestrator.ingest.in_hand import MOST_ATTEMPTS
from services.agent_orchestrator.ingest.pace import Pace
from services.agent_orchestrator.ingest.retries import Retries, told
from services.agent_orchestrator.tiers import GraphTier
from services.models.errors import is_unusable
from services.runtime.errors import BraidError

AGAIN_SECONDS = 0.25

Episodes = Sequence[ingest_pb2.EpisodeInput]


class Giver:
    """Gives episodes to the graph, in parts that it takes at the given pace."""

    def __init__(self, graph: GraphTier, retries: Retries, pace: Pace) -> None:
        self._graph = graph
        self._retries = retries
        self._pace = pace

    async def give(self, episodes: Episodes) -> dict[str, str]:
        """Why episodes are given up, by uuid; all others are in the graph."""
        try:
            await self._add(episodes)
        except BraidError as error:
            if not is_unusable(error):
                raise
            if len(episodes) == 1:
                return await self._try_again(episodes)
            half = (len(episodes) + 1) // 2
            return {**await self.give(episodes[:half]), **await self.give(episodes[half:])}
        return {}

    async def _try_again(self, episode: Episodes) -> dict[str, str]:
        reason = ""
        for attempt in range(1, MOST_ATTEMPTS):
            await asyncio.sleep(AGAIN_SECONDS * 2 ** (attempt - 1))
            try:
                await self._add(episode)
            except BraidError as error:
                if not is_unusable(error):
                    raise
                reason = told(error)
            else:
                return {}
        return {episode[0].uuid: reason}

    async def _add(self, episodes: Episodes) -> None:
        if episodes:
            with self._pace.measured():
                await self._retries.run(lambda: self._graph.add_episodes(episodes))
