"""Ingests a stream of facts: embeds their sentences with the space's model and sends them to the graph in batches.

Each call to the tier is a short unary call: with one long stream, the tier's reason for a refusal could be lost while
the next message is being written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
from services.runtime.context import current_call
from services.runtime.errors import BraidError, FieldError, InvalidFieldError
from services.runtime.status import reason_name
from services.runtime.telemetry import get_logger

FACTS_AT_ONCE = 500
MAX_REFUSED = 1000

Requests = AsyncIterator[ingest_pb2.IngestFactsRequest]


class FactSlice(NamedTuple):
    """A slice of a stream of facts: the position of the first one, and the model of the vectors given with them."""

    facts: Sequence[graph_pb2.FactInput]
    start: int
    model: str


class StatedSource(NamedTuple):
    """What states the facts of a stream: its name ("" for none), and what the stream says of it."""

    name: str
    replace: bool
    more_follows: bool
    first_revision: int

    @classmethod
    def of(cls, first: ingest_pb2.IngestFactsRequest) -> StatedSource:
        """Maps the first message. Raises InvalidFieldError for a replacement of what no source states."""
        if first.replace and not first.source:
            raise InvalidFieldError(FieldError("source", "is needed to replace what it stated"))
        return cls(first.source, first.replace, first.more_follows, first.first_revision)


class FactIngestion:
    """Ingests dated facts. Facts without a vector get one, or are stored without one if none is available."""

    def __init__(
        self,
        *,
        graph: GraphTier,
        vectors: Callable[[], FactVectors],
        configured: str,
        note_seen_graph: Callable[[str, int], Awaitable[None]],
    ) -> None:
        """`vectors` is called for each stream; `configured` is the model assumed for vectors that name none.

        `note_seen_graph` records the revision of a space's graph after a write.
        """
        self._graph = graph
        self._note_seen_graph = note_seen_graph
        self._vectors = vectors
        self._configured = configured

    async def run(self, requests: Requests) -> ingest_pb2.IngestFactsResponse:
        """Sends all facts to the graph, embedding some while others are stored; returns the total outcome.

        Then compares them with what their source stated before. Raises InvalidFieldError if no source is named although
        what it no longer states is to be withdrawn.
        """
        first = await anext(requests, ingest_pb2.IngestFactsRequest())
        source = StatedSource.of(first)
        total = ingest_pb2.IngestFactsResponse(first_revision=source.first_revision)
        await self._send_all(_after(first, requests), source, total)
        await self._settle(source, total)
        return total

    async def _send_all(
        self, requests: Requests, source: StatedSource, total: ingest_pb2.IngestFactsResponse
    ) -> None:
        sending: asyncio.Task[None] | None = None
        vectors = self._vectors()
        try:
            async with asyncio.TaskGroup() as group:
                async for some in _slices(requests, self._configured):
                    made = await vectors.fill(some.facts, some.model)
                    if sending is not None:
                        await sending
                    sent = self._send(some, vectors, made, source, total)
                    sending = group.create_task(sent)
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _settle(self, source: StatedSource, total: ingest_pb2.IngestFactsResponse) -> None:
        """Compares what the source states now with what it stated before, once it is complete."""
        if not source.name or source.more_follows:
            return
        withdraw = source.replace and not total.refused_count
        settled = await self._graph.settle_fact_source(
            source.name, total.first_revision, withdraw=withdraw
        )
        total.missing.extend(settled.missing)
        total.missing_count = settled.missing_count
        total.withdrawn_count = settled.withdrawn_count

    async def _send(
        self,
        some: FactSlice,
        vectors: FactVectors,
        made: EmbeddedFacts,
        source: StatedSource,
        total: ingest_pb2.IngestFactsResponse,
    ) -> None:
        answer = await self._give(some, vectors, made, source.name)
        await self._note_seen_graph(current_call().space, answer.space_revision)
        if source.name and not total.first_revision:
            total.first_revision = answer.source_revision
        total.added_count += answer.added_count
        total.unchanged_count += answer.unchanged_count
        total.refused_count += answer.refused_count
        for one in answer.refused[: MAX_REFUSED - len(total.refused)]:
            total.refused.add(index=some.start + one.index, reason=one.reason)

    async def _give(
        self, some: FactSlice, vectors: FactVectors, made: EmbeddedFacts, source: str
    ) -> graph_pb2.AddFactsResponse:
        """Sends the facts; sends them again without the vectors made here if the graph has changed to another model."""
        made = vectors.kept(made)
        try:
            return await self._graph.add_facts(some.facts, some.model or made.model, source)
        except BraidError as error:
            if some.model or not await vectors.refused(made, error):
                raise
        return await self._graph.add_facts(some.facts, "", source)


async def _after(first: ingest_pb2.IngestFactsRequest, requests: Requests) -> Requests:
    yield first
    async for request in requests:
        yield request


async def _slices(requests: Requests, configured: str) -> AsyncIterator[FactSlice]:
    """Yields the facts in order, `FACTS_AT_ONCE` at a time across message boundaries; one model for each slice."""
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
# Slices that are sent without vectors after a failure, doubled each time, so that a long stream does not wait again
# and again for an embedder that hangs.
FIRST_REST = 9


class SpaceModel(NamedTuple):
    """A space's model, "" if it has none yet, its dimension in the space (0 if unknown), and the model of its graph."""

    model: str
    dimension: int
    of_graph: str


class EmbeddedFacts(NamedTuple):
    """Facts that received vectors here, the vectors' model, and the state of the space at that time."""

    facts: Sequence[graph_pb2.FactInput] = ()
    model: str = ""
    space: SpaceModel | None = None


class _WithoutError(Exception):
    """Why facts are stored without vectors, without text from other services; `passing` if a retry may help soon."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


class FactVectors:
    """Vectors for one stream of facts. The space's model is requested once, and again after a failure."""

    def __init__(self, graph: GraphModels, vector: VectorModels, embedder: Embedder) -> None:
        """`embedder` is the configured one; it may give access to other models."""
        self._graph = graph
        self._vector = vector
        self._embedder = embedder
        self._space: SpaceModel | None = None
        self._left = 0
        self._rest = FIRST_REST
        self._logged: set[str] = set()

    async def fill(self, facts: Sequence[graph_pb2.FactInput], given: str) -> EmbeddedFacts:
        """Adds vectors to facts without one. If none are available, the facts stay unchanged and the result is empty.

        `given` is the model of the vectors that some of the facts have, "" if none has one.
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
        """Returns `made`; if the graph's model has changed since, removes the vectors and returns an empty result."""
        if not made.facts or made.space is self._space:
            return made
        _clear(made)
        return EmbeddedFacts()

    async def refused(self, made: EmbeddedFacts, error: BraidError) -> bool:
        """Returns whether the graph refused the facts because of vectors made here; if so, removes those vectors."""
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
        # If the length is known in advance, no text is embedded unnecessarily.
        _check(length, length_of(own))
        rows = await own.embed([sentence(fact) for fact in missing])
        _check(length, rows.shape[1])
        for fact, row in zip(missing, rows.tolist(), strict=True):
            fact.embedding.extend(row)
        return EmbeddedFacts(missing, own.model, space)

    def _chosen(self, space: SpaceModel, given: str, length: int) -> Embedder:
        """Returns the embedder to use with given vectors: never a model, or a length, that only the caller names."""
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
        """Returns the graph's model, otherwise that of the chunks."""
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
        # If the graph has no vectors, the configured model has its configured length, whatever length the chunks have.
        own = recorded.model == self._embedder.model
        return Recorded(recorded.model, 0) if own else recorded

    async def _has_moved(self, error: BraidError) -> bool:
        """Whether the graph's model has changed, or is being changed."""
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
        """Logs each reason once; after a temporary one, the next slices are sent without vectors."""
        if reason not in self._logged:
            self._logged.add(reason)
            get_logger("ingest").warning("facts not embedded", reason=reason)
        if passing:
            self._left = self._rest
            self._rest *= 2


def sentence(fact: graph_pb2.FactInput) -> str:
    """Returns the fact's statement; if it has none, subject, relation and object as text."""
    if fact.statement.strip():
        return fact.statement
    relation = fact.relation_type.replace("_", " ").lower()
    return f"{fact.subject.name} {relation} {fact.object.name}"


def _check(wanted: int, length: int | None) -> None:
    """Raises an error for vectors of another length than the space's or the given ones; 0 and None mean unknown."""
    if wanted and length not in (None, wanted):
        raise _WithoutError("the model's vectors have another length than those that are there")


def _clear(made: EmbeddedFacts) -> None:
    for fact in made.facts:
        fact.ClearField("embedding")
