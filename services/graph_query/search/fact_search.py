"""SearchFacts: always by words, and by vectors if the space has any and the embedder answers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from services.graph_query.core.domain import FactFilter
from services.graph_query.core.full_text import name_candidates, query_terms, question_stems
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.names import name_key
from services.graph_query.core.store import GraphStore, Hit, SpaceState, VectorPath, WordHits
from services.graph_query.embeddings.space_models import (
    EXACT_LIMIT,
    DegradationReason,
    QueryVector,
    embedder_as_read,
    query_vector,
)
from services.graph_query.history.domain import HistoryStore
from services.graph_query.search.as_known import AsKnownStore, Known
from services.graph_query.search.ranking import (
    FoundFact,
    Question,
    Ranked,
    current_first,
    fuse,
    nearest_stated,
    relevant,
)
from services.graph_query.search.reranking import FactReranker, Order, Ordering, RerankingStore
from services.models.embedding.calibration import Calibrations
from services.models.embedding.embedder import Embedder
from services.models.embedding.relevance import Relevance
from services.models.embedding.vectors import Matrix
from services.models.reranking.reading import MAX_READ, Reader, probability
from services.models.reranking.reranker import Reranker
from services.runtime.context import is_short_timeout, share_of_remaining
from services.runtime.errors import DeadlineError

# How many facts are ranked, whatever the limit, so that a short list is the beginning of a longer one.
_CANDIDATES = 50


# The share of the caller's time after which vectors are left out. The rest is for reading the facts found by words.
VECTOR_SHARE = 0.75


# The share of the caller's time after which the embedder is reported as unavailable.
EMBEDDER_SHARE = 0.5


# Spaces whose state is cached, so that vectors are searched concurrently with the words, not after them.
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class FactSearch:
    """A question; without `vector` the tier embeds it, unless `text_only` is set.

    Without `min_score`, facts that are relevant on the model's scale are listed. `known` is an instant of knowledge in
    epoch seconds; None is now.
    """

    query: str
    limit: int
    only: FactFilter
    vector: QueryVector | None = None
    text_only: bool = False
    min_score: float | None = None
    ordering: Ordering = field(default_factory=Ordering)
    known: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Facts, best first.

    Also the degradation, the vector path, the revision read, and the minimum score that a fact with a vector needed.
    """

    hits: list[FoundFact]
    shortfall: DegradationReason | None
    path: VectorPath | None
    revision: int
    floor: float = 0.0
    order: Order = Order.RRF


class SearchStores(GraphStore, Protocol):
    """The graph with the stores for reranking and for past states of knowledge."""

    @property
    def reranking(self) -> RerankingStore:
        """Returns the store of vectors and distances."""

    @property
    def as_known(self) -> AsKnownStore:
        """Returns the store of facts as they were known."""

    @property
    def history(self) -> HistoryStore:
        """Returns the store of fact histories."""


@dataclass(frozen=True, slots=True)
class _VectorMatches:
    """The list by vectors, its degradation and its vector path."""

    hits: Sequence[Hit] = ()
    shortfall: DegradationReason | None = None
    path: VectorPath | None = None


class FactSearcher:
    """Finds the facts that answer a question."""

    def __init__(
        self,
        store: SearchStores,
        embedder: Embedder,
        reranker: Reranker | None = None,
        reader: Reader | None = None,
    ) -> None:
        """`reader` judges facts if none is relevant by its score; without it, there is no match then."""
        self._store = store
        self._reader = reader
        self._embedder = embedder
        self._reranker = FactReranker(store.reranking, reranker)
        self._spaces: OrderedDict[str, SpaceState] = OrderedDict()
        self._calibrations = Calibrations()

    async def search(self, space: str, search: FactSearch) -> Answer:
        """Searches all lists concurrently, fuses them, and orders the best as requested.

        Raises what the store and `FactReranker.ready` raise.
        """
        centers = await self._reranker.ready(space, search.ordering)
        depth = max(_CANDIDATES, search.ordering.pool(search.limit))
        words, near = await self._lists(space, replace(search, limit=depth))
        ranked = fuse(
            words,
            near.hits,
            terms=query_terms(search.query),
            entity_key=name_key(search.only.entity_key),
            limit=depth,
        )
        scale = self._scale(space, words.state)
        question = _question(search, words, near)
        # At a single instant none of the facts has ended, so the order is known before the facts are read.
        instant = search.only.since == search.only.until
        judge = _Judge(self._reader, search, question, scale, words.state.vectors)
        if search.known is None:
            ranked = await judge.relevant(ranked)
            ranked = ranked[: search.ordering.pool(search.limit)] if instant else ranked
            found = await self._in_full(space, ranked, None)
        else:
            found = await self._known(space, ranked, judge, search.known)
        hits = found if instant else current_first(found, question)
        shortfall = near.shortfall or judge.shortfall
        answer = Answer(hits, shortfall, near.path, words.state.revision, floor=scale.fact)
        if search.ordering.order is Order.RRF:
            return replace(answer, hits=hits[: search.limit])
        return await self._in_order(space, search, answer, centers)

    def _scale(self, space: str, state: SpaceState) -> Relevance:
        own = embedder_as_read(self._embedder, state) if state.model else None

        async def best(row: Matrix) -> float:
            vector, only = [float(value) for value in row], FactFilter(-OPEN, OPEN)
            exact = state.vectors <= EXACT_LIMIT
            hits = await self._store.search_vector(space, vector, only, 1, exact=exact)
            return hits[0].score if hits else 0.0

        embed = None if own is None else own.embed_queries
        return self._calibrations.of(space, state.model, state.vectors, embed, best)

    async def _in_order(
        self, space: str, search: FactSearch, answer: Answer, centers: Sequence[str]
    ) -> Answer:
        ordering = search.ordering
        hits, had = await self._reranker.rerank(
            space,
            search.query,
            answer.hits,
            ordering,
            centers=centers,
            only=search.only,
        )
        shortfall = answer.shortfall if had else answer.shortfall or DegradationReason.RERANKER
        order = ordering.order if had else Order.RRF
        return replace(answer, hits=hits[: search.limit], shortfall=shortfall, order=order)

    async def _lists(self, space: str, search: FactSearch) -> tuple[WordHits, _VectorMatches]:
        """Returns the lists by words and by vectors."""
        expected = self._spaces.get(space)
        try:
            async with asyncio.TaskGroup() as group:
                ahead = group.create_task(self._near_in_time(space, search, expected))
                asked = group.create_task(self._words(space, search))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        words, near = asked.result(), ahead.result()
        if _plan(words.state) != _plan(expected):
            near = await self._near_in_time(space, search, words.state)
        self._remember(space, words.state)
        return words, near

    async def _near_in_time(
        self, space: str, search: FactSearch, state: SpaceState | None
    ) -> _VectorMatches:
        """Returns the result of `_near`, or an empty list by vectors if that exceeds its share of the caller's time."""
        try:
            async with asyncio.timeout(share_of_remaining(VECTOR_SHARE)):
                return await self._near(space, search, state)
        except (TimeoutError, DeadlineError):
            return _VectorMatches(shortfall=DegradationReason.LATE)

    async def _words(self, space: str, search: FactSearch) -> WordHits:
        terms = query_terms(search.query)
        keys = [] if search.only.entity_key else name_candidates(search.query)
        if search.known is None:
            return await self._store.search_words(space, terms, keys, search.only, search.limit)
        at = Known(search.only, search.known, search.limit)
        return await self._store.as_known.search_words_known(space, terms, keys, at)

    async def _in_full(
        self, space: str, ranked: Sequence[Ranked], known: float | None
    ) -> list[FoundFact]:
        """Returns the ranked facts in full; one deleted concurrently is omitted."""
        uuids = [one.uuid for one in ranked if one.local is None]
        if known is None:
            stated = await self._store.facts(space, uuids)
        else:
            stated = await self._store.history.facts_known(space, uuids, known)
        facts = {**stated, **{one.uuid: one.local for one in ranked if one.local is not None}}
        return [FoundFact(facts[one.uuid], one.scores) for one in ranked if one.uuid in facts]

    async def _known(
        self,
        space: str,
        ranked: Sequence[Ranked],
        judge: _Judge,
        known: float,
    ) -> list[FoundFact]:
        """Returns facts as they were known. The lists lack the statements of that time, so all facts are read."""
        facts = {one.fact.uuid: one.fact for one in await self._in_full(space, ranked, known)}
        said = [
            one._replace(statement=facts[one.uuid].fact, relation=facts[one.uuid].relation)
            for one in ranked
            if one.uuid in facts
        ]
        kept = await judge.relevant(said)
        return [FoundFact(facts[one.uuid], one.scores) for one in kept]

    async def _near(
        self, space: str, search: FactSearch, state: SpaceState | None
    ) -> _VectorMatches:
        """Returns the list by vectors, given the space's state; empty if the state is unknown."""
        if state is None:
            return _VectorMatches()
        seconds = share_of_remaining(EMBEDDER_SHARE)
        try:
            async with asyncio.timeout(seconds):
                vector, shortfall = await query_vector(
                    self._embedder, search.query, search.vector, state, text_only=search.text_only
                )
        except TimeoutError:
            shortfall = (
                DegradationReason.LATE if is_short_timeout(seconds) else DegradationReason.EMBEDDER
            )
            vector = None
        if vector is None:
            return _VectorMatches(shortfall=shortfall)
        if search.known is not None:
            at = Known(search.only, search.known, search.limit)
            hits, compared = await self._store.as_known.search_vector_known(
                space, vector, at, state
            )
            return _VectorMatches(hits, path=_path(compared=compared))
        exact = state.vectors <= EXACT_LIMIT
        hits = await self._store.search_vector(
            space, vector, search.only, search.limit, exact=exact
        )
        return _VectorMatches(hits, path=_path(compared=exact or bool(search.only.entity_key)))

    def _remember(self, space: str, state: SpaceState) -> None:
        self._spaces[space] = state
        self._spaces.move_to_end(space)
        while len(self._spaces) > _REMEMBERED:
            self._spaces.popitem(last=False)


@dataclass(slots=True)
class _Judge:
    """Decides which facts are relevant: by their scores and, if none is, by reading the nearest."""

    reader: Reader | None
    search: FactSearch
    question: Question
    scale: Relevance
    facts: int
    shortfall: DegradationReason | None = None

    async def relevant(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """Returns the relevant facts, best first. Sets `shortfall` if they should have been read and could not."""
        kept = relevant(ranked, self.question, self.scale, self.search.min_score)
        if kept or self.reader is None or self.search.min_score is not None or not self.scale.fact:
            return kept
        near = nearest_stated(ranked, self.question, self.scale, MAX_READ)
        logits = await self.reader.read(self.search.query, [one.statement for one in near])
        if logits is None:
            self.shortfall = DegradationReason.RERANKER
            return []
        return [
            one._replace(scores=replace(one.scores, reading=probability(logit)))
            for one, logit in zip(near, logits, strict=True)
            if self.scale.accepts_fact(one.scores.fused, logit, self.facts)
        ]


def _question(search: FactSearch, words: WordHits, near: _VectorMatches) -> Question:
    hits = near.hits
    return Question(
        stems=question_stems(search.query),
        of_named=frozenset(hit.uuid for hit in words.entity if hit.score),
        farthest=hits[-1].score if len(hits) >= _CANDIDATES else None,
        until=search.only.until,
    )


def _path(*, compared: bool) -> VectorPath:
    return VectorPath.EXACT if compared else VectorPath.INDEX


def _plan(state: SpaceState | None) -> tuple[str, int, bool] | None:
    """Returns the part of the state that decides how vectors are searched; None without vectors."""
    if state is None or state.vectors == 0:
        return None
    return state.model, state.dimension, state.vectors <= EXACT_LIMIT
