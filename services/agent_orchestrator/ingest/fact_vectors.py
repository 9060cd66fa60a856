"""Vectors for facts that come without: of the model that the space is embedded with, so that the graph takes them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from braid.common.v1 import errors_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.remodelling.tiers import GraphModels, VectorModels
from services.models.embedder import Embedder
from services.models.registry import embedder_of
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

EMBED_SECONDS = 30.0


class Made(NamedTuple):
    """Facts that were given vectors here, and the vectors' model."""

    facts: Sequence[graph_pb2.FactInput] = ()
    model: str = ""


class FactVectors:
    """Vectors for one stream of facts. The space's model is asked for once.

    Once no vector is to be had nobody is asked again: a long stream would wait as often as it has slices.
    """

    def __init__(self, graph: GraphModels, vector: VectorModels, embedder: Embedder) -> None:
        """`embedder` is the configured one; it may have others beside it."""
        self._graph = graph
        self._vector = vector
        self._embedder = embedder
        self._had = True
        self._own: Embedder | None = None
        self._length = 0

    async def fill(self, facts: Sequence[graph_pb2.FactInput], given: str) -> Made:
        """Gives vectors to facts that have none; nothing when none are to be had, and the facts stay as they are.

        `given` is the model of the vectors that some of the facts have, "" when none has one.
        """
        missing = [fact for fact in facts if not fact.embedding]
        if not missing or not self._had:
            return Made()
        try:
            async with asyncio.timeout(EMBED_SECONDS):
                made = await self._made(facts, missing, given)
        except (BraidError, TimeoutError) as error:
            get_logger("ingest").warning("facts not embedded", error=type(error).__name__)
            made = Made()
        self._had = bool(made.facts)
        return made

    async def refused(self, made: Made, error: BraidError) -> bool:
        """Whether the graph took no facts because of the vectors made here, which are taken away from them then."""
        if not made.facts or not await self._has_moved(error):
            return False
        for fact in made.facts:
            fact.ClearField("embedding")
        self._had = False
        return True

    async def _made(
        self,
        facts: Sequence[graph_pb2.FactInput],
        missing: Sequence[graph_pb2.FactInput],
        given: str,
    ) -> Made:
        own = embedder_of(self._embedder, given) if given else await self._of_space()
        if own is None:
            return Made()
        rows = await own.embed([sentence(fact) for fact in missing])
        length = next((len(fact.embedding) for fact in facts if fact.embedding), self._length)
        if length not in (0, rows.shape[1]):
            return Made()
        for fact, row in zip(missing, rows.tolist(), strict=True):
            fact.embedding.extend(row)
        return Made(missing, own.model)

    async def _of_space(self) -> Embedder | None:
        """The embedder of the graph's model, else of the passages'; None while the graph changes over."""
        if self._own is None:
            held = await self._graph.state()
            if held.changing_to:
                return None
            model = held.model or await self._vector.recorded()
            self._own, self._length = embedder_of(self._embedder, model), held.dimension
        return self._own

    async def _has_moved(self, error: BraidError) -> bool:
        """Whether the graph has another model by now, or is changing over to one."""
        if error.reason == errors_pb2.ERROR_REASON_WRONG_STATE:
            return True
        overloaded = error.reason == errors_pb2.ERROR_REASON_OVERLOADED
        return overloaded and bool((await self._graph.state()).changing_to)


def sentence(fact: graph_pb2.FactInput) -> str:
    """The statement: as given, else subject, relation and object in words."""
    if fact.fact.strip():
        return fact.fact
    relation = fact.relation.replace("_", " ").lower()
    return f"{fact.subject.name} {relation} {fact.object.name}"
