"""Searches of a space, with the caller's query vector if it fits the space, else with one of the tier's own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto

from services.models.embedding.calibration import Calibrations
from services.models.embedding.query_embedder import QueryEmbedder, VectorSource
from services.models.embedding.relevance import Relevance
from services.models.embedding.vectors import Matrix
from services.models.reranking.reading import MAX_READ, Reader
from services.runtime.context import (
    current_call,
    is_short_timeout,
    remaining,
    share_of_remaining,
)
from services.runtime.errors import (
    DeadlineError,
    EmbedderUnavailableError,
    FieldError,
    InvalidFieldError,
    WrongStateError,
)
from services.vector_search.domain import (
    ChunkScore,
    FusionKind,
    Hit,
    Model,
    QueryVector,
    Search,
    SearchResult,
    VectorPath,
    unit_vector,
)
from services.vector_search.embedding_models.query_embedders import QueryEmbedders, is_of
from services.vector_search.search.deadline_fallback import with_fallback
from services.vector_search.search.relevance_judge import RelevanceJudge
from services.vector_search.search.result_cache import ResultCache
from services.vector_search.store import VectorStore

# The share of the time left that embedding may take; the rest is for the answer.
EMBEDDING_SHARE = 0.9
# The first reply names the space's current model; the second attempt embeds with it.
_ATTEMPTS = 2


class DegradationReason(Enum):
    """Why a hybrid search used words alone, or could not read passages of doubtful relevance."""

    EMBEDDER_UNAVAILABLE = auto()
    RERANKER_UNAVAILABLE = auto()
    MODEL_MISMATCH = auto()
    LATE = auto()


@dataclass(frozen=True, slots=True)
class HybridResult:
    """The search result, and the degradation, if any.

    `floor` is the score from which the best hit is a match by itself, `list_floor` the minimum score of the others; 0
    without a minimum. `nearest` are the best hits if none is relevant.
    """

    result: SearchResult
    shortfall: DegradationReason | None = None
    floor: float = 0.0
    list_floor: float = 0.0
    nearest: Sequence[Hit] = ()


class _HurriedError(DeadlineError):
    """The caller's deadline left the embedder too little time."""


class _OtherModelError(WrongStateError):
    """No vector of the space's model is available."""

    def __init__(self) -> None:
        super().__init__("The space is embedded with a model that this service does not have.")


class Searcher:
    """Runs searches of the current call's space."""

    def __init__(
        self,
        store: VectorStore,
        embedders: QueryEmbedders,
        results: ResultCache,
        reader: Reader | None = None,
    ) -> None:
        """Without `reader`, scores alone decide what is relevant."""
        self._store = store
        self._embedders = embedders
        self._results = results
        self._calibrations = Calibrations()
        self._judge = RelevanceJudge(reader)

    async def search_vector(
        self, query: str, search: Search, given: QueryVector | None
    ) -> SearchResult:
        """Searches by vector.

        Raises EmbedderUnavailableError or WrongStateError without a vector of the space's model.
        """
        result = await self._try(search, given)
        if result is None:
            result = await self._by_own_vector(query, search)
        if result.path is VectorPath.NOT_RUN:
            raise _OtherModelError
        return result

    async def search_text(self, search: Search) -> SearchResult:
        """Searches by words; needs no vector."""
        return await self._run(search)

    async def search_hybrid(
        self, query: str, search: Search, given: QueryVector | None, *, text_only: bool
    ) -> HybridResult:
        """Searches by vector and words; by words alone, with the reason, without a vector or the time for one."""
        if text_only:
            return await self._by_words_for(search, DegradationReason.EMBEDDER_UNAVAILABLE)
        # What is read does not depend on the limit.
        deep = replace(search, limit=max(search.limit, MAX_READ))
        if current_call().deadline is None:
            found = await self._fused(query, deep, given)
        else:
            found = await with_fallback(
                lambda: self._fused(query, deep, given),
                lambda: self._by_words_for(deep, DegradationReason.LATE),
                remaining(float("inf")),
            )
        found = await self._relevant(query, found, search)
        return replace(found, result=replace(found.result, hits=found.result.hits[: search.limit]))

    async def scores(
        self,
        query: str,
        chunk_ids: Sequence[str],
        given: QueryVector | None,
        *,
        text_weight: float = 0.3,
        at: datetime | None = None,
        use_cache: bool = True,
    ) -> tuple[list[ChunkScore], VectorSource]:
        """Returns exact scores, and the source of the query's vector.

        Raises EmbedderUnavailableError or WrongStateError without a vector of the space's model.
        """
        if given is not None:
            model, scores = await self._score(query, given, chunk_ids, text_weight, at)
            if model is None or _usable(model, given):
                return scores, VectorSource.GIVEN
        for _ in range(_ATTEMPTS):
            vector, source = await self._embed(query, use_cache=use_cache)
            model, scores = await self._score(query, vector, chunk_ids, text_weight, at)
            if model is None or is_of(vector, model):
                return scores, source
        raise _OtherModelError

    async def _fused(self, query: str, search: Search, given: QueryVector | None) -> HybridResult:
        result = await self._try(search, given)
        if result is not None:
            return HybridResult(result)
        try:
            # At most half of the time, as a search by words alone needs some too.
            result = await self._by_own_vector(query, search, share=0.5)
        except EmbedderUnavailableError:
            return await self._by_words_for(search, DegradationReason.EMBEDDER_UNAVAILABLE)
        except _HurriedError:
            return await self._by_words_for(search, DegradationReason.LATE)
        except _OtherModelError:
            return await self._by_words_for(search, DegradationReason.MODEL_MISMATCH)
        if result.path is VectorPath.NOT_RUN:
            return HybridResult(result, DegradationReason.MODEL_MISMATCH)
        return HybridResult(result)

    async def _relevant(self, query: str, found: HybridResult, search: Search) -> HybridResult:
        """Removes hits that are not relevant, unless the request has a minimum score.

        Scores by words alone have no floor: common words score as high as a relevant chunk.
        """
        result = found.result
        if (
            search.min_score is not None
            or search.fusion is not FusionKind.WEIGHTED_SCORE
            or result.path is VectorPath.NOT_RUN
            or result.model is None
        ):
            return found
        scale = self._scale(result.model, result.chunk_count)
        judged = await self._judge.judge(query, result, scale, search.text_weight)
        unread = None if judged.complete else DegradationReason.RERANKER_UNAVAILABLE
        return replace(
            found,
            result=replace(result, hits=judged.hits),
            shortfall=found.shortfall or unread,
            floor=judged.floor,
            list_floor=judged.list_floor,
            nearest=judged.nearest,
        )

    def _scale(self, model: Model, chunks: int) -> Relevance:
        space = current_call().space
        embedder = self._embedders.of(space)

        async def best(row: Matrix) -> float:
            vector = QueryVector(model.name, unit_vector(row, "query"))
            found = await self._store.search(space, Search(vector=vector, limit=1))
            return found.hits[0].score if found.hits else 0.0

        embed = None if embedder is None else embedder.embed_all
        return self._calibrations.of(space, model.name, chunks, embed, best)

    async def _by_words_for(self, search: Search, shortfall: DegradationReason) -> HybridResult:
        return HybridResult(await self._run(search), shortfall)

    async def _try(self, search: Search, given: QueryVector | None) -> SearchResult | None:
        """Searches with the caller's vector; None if there is none that fits the space."""
        if given is None:
            return None
        result = await self._run(replace(search, vector=given), VectorSource.GIVEN)
        if result.path is VectorPath.NOT_RUN and result.model is not None:
            _usable(result.model, given)
            return None
        return result

    async def _by_own_vector(
        self, query: str, search: Search, share: float = EMBEDDING_SHARE
    ) -> SearchResult:
        vector, source = await self._embed(query, use_cache=search.use_cache, share=share)
        result = await self._run(replace(search, vector=vector), source)
        space = current_call().space
        if result.path is VectorPath.NOT_RUN and self._embedders.knows_better(space, vector):
            vector, source = await self._embed(query, use_cache=search.use_cache, share=share)
            result = await self._run(replace(search, vector=vector), source)
        return result

    async def _run(self, search: Search, source: VectorSource = VectorSource.NONE) -> SearchResult:
        space = current_call().space
        result = await self._results.search(space, search)
        if result.model:
            self._embedders.learn(space, result.model)
        if result.path is VectorPath.NOT_RUN or source is VectorSource.NONE:
            return result
        return replace(result, embedding=source)

    async def _score(
        self,
        query: str,
        vector: QueryVector,
        chunk_ids: Sequence[str],
        text_weight: float,
        at: datetime | None,
    ) -> tuple[Model | None, list[ChunkScore]]:
        space = current_call().space
        model, scores = await self._store.score_chunks(
            space, query, vector, chunk_ids, text_weight, at=at
        )
        if model:
            self._embedders.learn(space, model)
        return model, scores

    async def _embed(
        self, query: str, *, use_cache: bool, share: float = EMBEDDING_SHARE
    ) -> tuple[QueryVector, VectorSource]:
        """Embeds the query.

        Raises EmbedderUnavailableError, also after `share` of the remaining time; DeadlineError if that is too short.
        """
        embedder = await self._embedder()
        seconds = share_of_remaining(share)
        try:
            async with asyncio.timeout(seconds):
                embedded = await embedder.embed(query, use_cache=use_cache)
        except TimeoutError:
            if is_short_timeout(seconds):
                raise _HurriedError from None
            raise EmbedderUnavailableError from None
        vector = QueryVector(embedder.model, unit_vector(embedded.row, "query"))
        return vector, embedded.source

    async def _embedder(self) -> QueryEmbedder:
        """Returns the embedder of the space's model. No other provider receives the query."""
        space = current_call().space
        found = self._embedders.of(space)
        if found is not None:
            return found
        state = await self._store.space_state(space)
        if state.model is None:
            return self._embedders.default
        self._embedders.learn(space, state.model)
        found = self._embedders.of(space)
        if found is None:
            raise _OtherModelError
        return found


def _usable(model: Model, vector: QueryVector) -> bool:
    """Returns whether a vector is of the space's model. Raises InvalidFieldError if it is but has another dimension."""
    if vector.model != model.name:
        return False
    if len(vector.values) != model.dimension:
        raise InvalidFieldError(
            FieldError(
                "query_embedding.values", f"must have the model's {model.dimension} dimensions"
            )
        )
    return True
