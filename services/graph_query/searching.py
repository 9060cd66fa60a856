"""SearchFacts: words always, vectors where the space has any and the embedder answers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from services.graph_query.domain import Fact, FactFilter
from services.graph_query.lucene import name_candidates, query_terms
from services.graph_query.names import name_key
from services.graph_query.ranking import Ranked, Scores, fuse
from services.graph_query.store import GraphStore, Hit, SpaceState, VectorPath
from services.models.embedder import Embedder
from services.runtime.errors import EmbedderUnavailableError, FieldError, InvalidFieldError

EXACT_LIMIT = 1_000
# Spaces whose state is remembered, so that vectors are searched along with the words, not after them.
_REMEMBERED = 10_000


class Shortfall(Enum):
    """Why vectors were left out although the space has some."""

    EMBEDDER = "embedder"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's vector as its caller made it."""

    model: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class FactSearch:
    """A question; `vector` None lets the tier embed it, `text_only` does without."""

    query: str
    limit: int
    only: FactFilter
    vector: QueryVector | None = None
    text_only: bool = False


class FoundFact(NamedTuple):
    """A fact with its scores."""

    fact: Fact
    scores: Scores


@dataclass(frozen=True, slots=True)
class Answer:
    """Facts, best first; what fell short, how vectors were compared, and the revision read at."""

    hits: list[FoundFact]
    shortfall: Shortfall | None
    path: VectorPath | None
    revision: int


@dataclass(frozen=True, slots=True)
class _Near:
    """The list by vectors, and how it came about."""

    hits: Sequence[Hit] = ()
    shortfall: Shortfall | None = None
    path: VectorPath | None = None


class FactSearcher:
    """Finds the facts that answer a question."""

    def __init__(self, store: GraphStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._spaces: OrderedDict[str, SpaceState] = OrderedDict()

    async def search(self, space: str, search: FactSearch) -> Answer:
        """Searches all lists at the same time and fuses them. Raises what the store raises."""
        terms = query_terms(search.query)
        keys = [] if search.only.entity_key else name_candidates(search.query)
        expected = self._spaces.get(space)
        try:
            async with asyncio.TaskGroup() as group:
                ahead = group.create_task(self._near(space, search, expected))
                asked = group.create_task(
                    self._store.search_words(space, terms, keys, search.only, search.limit)
                )
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        words, near = asked.result(), ahead.result()
        if _plan(words.state) != _plan(expected):
            near = await self._near(space, search, words.state)
        self._remember(space, words.state)
        entity_key = name_key(search.only.entity_key)
        ranked = fuse(words, near.hits, terms=terms, entity_key=entity_key, limit=search.limit)
        hits = await self._in_full(space, ranked)
        return Answer(hits, near.shortfall, near.path, words.state.revision)

    async def _in_full(self, space: str, ranked: Sequence[Ranked]) -> list[FoundFact]:
        """The ranked facts; one that is deleted meanwhile is left out."""
        stated = await self._store.facts(space, [one.uuid for one in ranked if one.local is None])
        facts = {**stated, **{one.uuid: one.local for one in ranked if one.local is not None}}
        return [FoundFact(facts[one.uuid], one.scores) for one in ranked if one.uuid in facts]

    async def _near(self, space: str, search: FactSearch, state: SpaceState | None) -> _Near:
        """The list by vectors of a space that is as `state` says; empty when nothing is known of it."""
        if state is None:
            return _Near()
        vector, shortfall = await self._vector(search, state)
        if vector is None:
            return _Near(shortfall=shortfall)
        exact = state.vectors <= EXACT_LIMIT
        hits = await self._store.search_vector(
            space, vector, search.only, search.limit, exact=exact
        )
        compared = exact or bool(search.only.entity_key)
        return _Near(hits, path=VectorPath.EXACT if compared else VectorPath.INDEX)

    async def _vector(
        self, search: FactSearch, state: SpaceState
    ) -> tuple[Sequence[float] | None, Shortfall | None]:
        if state.vectors == 0:
            return None, None
        if search.text_only:
            return None, Shortfall.EMBEDDER
        if search.vector is not None and search.vector.model == state.model:
            _check_vector(search.vector.values, self._embedder.dimension)
            return search.vector.values, None
        if self._embedder.model != state.model:
            return None, Shortfall.MODEL
        try:
            matrix = await self._embedder.embed([search.query])
        except EmbedderUnavailableError:
            return None, Shortfall.EMBEDDER
        return [float(value) for value in matrix[0]], None

    def _remember(self, space: str, state: SpaceState) -> None:
        self._spaces[space] = state
        self._spaces.move_to_end(space)
        while len(self._spaces) > _REMEMBERED:
            self._spaces.popitem(last=False)


def _plan(state: SpaceState | None) -> tuple[str, bool, bool]:
    """What of a space decides how its vectors are searched."""
    if state is None or state.vectors == 0:
        return "", False, False
    return state.model, True, state.vectors <= EXACT_LIMIT


def _check_vector(values: Sequence[float], dimension: int) -> None:
    """InvalidFieldError for a vector that the index cannot be asked with."""
    field = "query_embedding.values"
    if len(values) != dimension:
        raise InvalidFieldError(FieldError(field, f"must have {dimension} values"))
    if not any(values):
        raise InvalidFieldError(FieldError(field, "must not be all zeros"))
