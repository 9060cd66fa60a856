"""Ingests a stream of facts: embeds their sentences with the space's model and sends them to the graph in batches.

Each call to the tier is short and complete: with one long stream, the tier's reason for a refusal would be lost while
the next message is being written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple

from braid.agent.v1 import ingest_pb2
from braid.common.v1 import errors_pb2
from braid.graph.internal.v1 import embeddings_pb2
from braid.graph.v1 import ingest_pb2 as graph_pb2
from services.agent_orchestrator.clients.model_migration import GraphModels, VectorModels
from services.agent_orchestrator.clients.space_models import Recorded
from services.agent_orchestrator.clients.tiers import GraphTier
from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import embedder_of, length_of
from services.runtime.errors import BraidError
from services.runtime.status import reason_name
from services.runtime.telemetry import get_logger

FACTS_AT_ONCE = 500
MAX_REFUSED = 1000

Requests = AsyncIterator[ingest_pb2.IngestFactsRequest]


class FactSlice(NamedTuple):
    """Some facts of a stream: the first one's place in it, and the model of the vectors that some were given with."""

    facts: Sequence[graph_pb2.FactInput]
    start: int
    model: str


class FactIngestion:
    """Takes dated facts. Those without a vector get one, or go without while none is to be had."""

    def __init__(
        self, *, graph: GraphTier, vectors: Callable[[], FactVectors], configured: str
    ) -> None:
        """`vectors` is called for each stream; `configured` is the model of vectors whose model is not said."""
        self._graph = graph
        self._vectors = vectors
        self._configured = configured

    async def run(self, requests: Requests) -> ingest_pb2.IngestFactsResponse:
        """Passes all facts on, some being embedded while others are stored; what became of them all."""
        total = ingest_pb2.IngestFactsResponse()
        sending: asyncio.Task[None] | None = None
        vectors = self._vectors()
        try:
            async with asyncio.TaskGroup() as group:
                async for some in _slices(requests, self._configured):
                    made = await vectors.fill(some.facts, some.model)
                    if sending is not None:
                        await sending
                    sending = group.create_task(self._send(some, vectors, made, total))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return total

    async def _send(
        self,
        some: FactSlice,
        vectors: FactVectors,
        made: EmbeddedFacts,
        total: ingest_pb2.IngestFactsResponse,
    ) -> None:
        answer = await self._give(some, vectors, made)
        total.added_count += answer.added_count
        total.unchanged_count += answer.unchanged_count
        total.refused_count += answer.refused_count
        for one in answer.refused[: MAX_REFUSED - len(total.refused)]:
            total.refused.add(index=some.start + one.index, reason=one.reason)

    async def _give(
        self, some: FactSlice, vectors: FactVectors, made: EmbeddedFacts
    ) -> graph_pb2.AddFactsResponse:
        """Without the vectors made here when the graph has come to another model; given ones are never left out."""
        made = vectors.kept(made)
        try:
            return await self._graph.add_facts(some.facts, some.model or made.model)
        except BraidError as error:
            if some.model or not await vectors.refused(made, error):
                raise
        return await self._graph.add_facts(some.facts, "")


async def _slices(requests: Requests, configured: str) -> AsyncIterator[FactSlice]:
    """The stream's facts in order, `FACTS_AT_ONCE` at a time however its messages are cut; vectors of one model."""
    waiting: list[graph_pb2.FactInput] = []
    model, start = "", 0
    async for request in requests:
        said = request.embedding_model or configured
        if waiting and said != model:
            yield _slice(waiting, start, model)
            start += len(waiting)
            waiting = []
        model = said
        waiting.extend(request.facts)
        while len(waiting) >= FACTS_AT_ONCE:
            yield _slice(waiting[:FACTS_AT_ONCE], start, model)
            start += FACTS_AT_ONCE
            del waiting[:FACTS_AT_ONCE]
    if waiting:
        yield _slice(waiting, start, model)


def _slice(facts: Sequence[graph_pb2.FactInput], start: int, model: str) -> FactSlice:
    return FactSlice(facts, start, model if any(fact.embedding for fact in facts) else "")


EMBED_SECONDS = 30.0
# Slices that go without before somebody is asked again; twice as many each time: a long stream shall not wait for an
# embedder that hangs as often as it has slices.
FIRST_REST = 9


class SpaceModel(NamedTuple):
    """A space's model, "" for none yet, how many values the space has of it (0: not known), and that of its graph."""

    model: str
    dimension: int
    of_graph: str


class EmbeddedFacts(NamedTuple):
    """Facts that were given vectors here, the vectors' model, and the space as it was then."""

    facts: Sequence[graph_pb2.FactInput] = ()
    model: str = ""
    space: SpaceModel | None = None


class _WithoutError(Exception):
    """Why facts go without vectors, in words of ours alone; `passing` when it may be otherwise before long."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


class FactVectors:
    """Vectors for one stream of facts. The space's model is asked for once, and again after a failure."""

    def __init__(self, graph: GraphModels, vector: VectorModels, embedder: Embedder) -> None:
        """`embedder` is the configured one; it may have others beside it."""
        self._graph = graph
        self._vector = vector
        self._embedder = embedder
        self._space: SpaceModel | None = None
        self._left = 0
        self._rest = FIRST_REST
        self._logged: set[str] = set()

    async def fill(self, facts: Sequence[graph_pb2.FactInput], given: str) -> EmbeddedFacts:
        """Gives vectors to facts that have none; nothing when none are to be had, and the facts stay as they are.

        `given` is the model of the vectors that some of the facts have, "" when none has one.
        """
        missing = [fact for fact in facts if not fact.embedding]
        if not missing or self._rests():
            return EmbeddedFacts()
        try:
            async with asyncio.timeout(EMBED_SECONDS):
                return await self._made(facts, missing, given)
        except _WithoutError as reason:
            self._without(str(reason), passing=reason.passing)
        except TimeoutError:
            self._without("the embedder takes too long", passing=True)
        except BraidError as error:
            self._without(reason_name(error), passing=True)
        return EmbeddedFacts()

    def kept(self, made: EmbeddedFacts) -> EmbeddedFacts:
        """What was made; nothing, if the graph was found with another model since, and the facts have none then."""
        if not made.facts or made.space is self._space:
            return made
        _clear(made)
        return EmbeddedFacts()

    async def refused(self, made: EmbeddedFacts, error: BraidError) -> bool:
        """Whether the graph took no facts because of the vectors made here, which are taken away from them then."""
        if not made.facts or not await self._has_moved(error):
            return False
        _clear(made)
        self._space = None
        self._without("the graph has come to another model", passing=True)
        return True

    async def _made(
        self,
        facts: Sequence[graph_pb2.FactInput],
        missing: Sequence[graph_pb2.FactInput],
        given: str,
    ) -> EmbeddedFacts:
        space = await self._of_space()
        known = space.dimension if space.of_graph else 0
        length = next((len(fact.embedding) for fact in facts if fact.embedding), known)
        own = self._chosen(space, given, length)
        # Where it is known before, no text is embedded in vain.
        _check(length, length_of(own))
        rows = await own.embed([sentence(fact) for fact in missing])
        _check(length, rows.shape[1])
        for fact, row in zip(missing, rows.tolist(), strict=True):
            fact.embedding.extend(row)
        return EmbeddedFacts(missing, own.model, space)

    def _chosen(self, space: SpaceModel, given: str, length: int) -> Embedder:
        """What embeds facts beside given vectors: never a model, or a length, that the caller alone names."""
        if given not in ("", self._embedder.model, space.model):
            raise _WithoutError("vectors were given of a model that is not the space's")
        if given and space.of_graph not in ("", given):
            raise _WithoutError("vectors were given of a model that the graph does not have")
        of_space = given in ("", space.model) and length in (0, space.dimension)
        own = embedder_of(
            self._embedder, given or space.model, space.dimension if of_space else None
        )
        if own is None:
            raise _WithoutError("the space's model is not to be had")
        return own

    async def _of_space(self) -> SpaceModel:
        """The graph's model, else that of the passages."""
        if self._space is None:
            held = await self._graph.state()
            if held.next_embedding_model:
                raise _WithoutError("the graph changes over to another model", passing=True)
            self._space = SpaceModel(*await self._known(held), held.embedding_model)
        return self._space

    async def _known(self, held: embeddings_pb2.GetGraphEmbeddingsResponse) -> Recorded:
        if held.embedding_model:
            return Recorded(held.embedding_model, held.dimension)
        recorded = await self._vector.recorded()
        # A graph without vectors takes the configured model's as long as the settings say, whatever the passages have.
        own = recorded.model == self._embedder.model
        return Recorded(recorded.model, 0) if own else recorded

    async def _has_moved(self, error: BraidError) -> bool:
        """Whether the graph has another model by now, or is changing over to one."""
        if error.reason == errors_pb2.ERROR_REASON_WRONG_STATE:
            return True
        overloaded = error.reason == errors_pb2.ERROR_REASON_OVERLOADED
        return overloaded and bool((await self._graph.state()).next_embedding_model)

    def _rests(self) -> bool:
        if not self._left:
            return False
        self._left -= 1
        return True

    def _without(self, reason: str, *, passing: bool) -> None:
        """Warns once of each reason."""
        if reason not in self._logged:
            self._logged.add(reason)
            get_logger("ingest").warning("facts not embedded", reason=reason)
        if passing:
            self._left = self._rest
            self._rest *= 2


def sentence(fact: graph_pb2.FactInput) -> str:
    """The statement: as given, else subject, relation and object in words."""
    if fact.statement.strip():
        return fact.statement
    relation = fact.relation_type.replace("_", " ").lower()
    return f"{fact.subject.name} {relation} {fact.object.name}"


def _check(wanted: int, length: int | None) -> None:
    """Refuses vectors of another length than the space has or was given; 0 and None are not known."""
    if wanted and length not in (None, wanted):
        raise _WithoutError("the model's vectors have another length than those that are there")


def _clear(made: EmbeddedFacts) -> None:
    for fact in made.facts:
        fact.ClearField("embedding")
