"""SearchFacts: words always, vectors where the space has any and the embedder answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from services.graph_query.domain import FactFilter
from services.graph_query.lucene import name_candidates, query_terms
from services.graph_query.names import name_key
from services.graph_query.ranking import RankedFact, fuse
from services.graph_query.store import GraphStore, ScoredFact, SpaceState, VectorPath
from services.models.embedder import Embedder
from services.runtime.errors import EmbedderUnavailableError

EXACT_LIMIT = 1_000


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


@dataclass(frozen=True, slots=True)
class Answer:
    """Facts, best first; what fell short, how vectors were compared, and the revision read at."""

    hits: list[RankedFact]
    shortfall: Shortfall | None
    path: VectorPath | None
    revision: int


class FactSearcher:
    """Finds the facts that answer a question."""

    def __init__(self, store: GraphStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def search(self, space: str, search: FactSearch) -> Answer:
        """Searches all lists and fuses them. Raises what the store raises."""
        terms = query_terms(search.query)
        keys = [] if search.only.entity_key else name_candidates(search.query)
        words = await self._store.search_words(space, terms, keys, search.only, search.limit)
        vector, shortfall = await self._vector(search, words.state)
        near: list[ScoredFact] = []
        path = None
        if vector is not None:
            exact = words.state.vectors <= EXACT_LIMIT
            near = await self._store.search_vector(
                space, vector, search.only, search.limit, exact=exact
            )
            filtered = bool(search.only.entity_key or search.only.relation)
            path = VectorPath.EXACT if exact or filtered else VectorPath.INDEX
        entity_key = name_key(search.only.entity_key)
        hits = fuse(words, near, terms=terms, entity_key=entity_key, limit=search.limit)
        return Answer(hits, shortfall, path, words.state.revision)

    async def _vector(
        self, search: FactSearch, state: SpaceState
    ) -> tuple[Sequence[float] | None, Shortfall | None]:
        if state.vectors == 0:
            return None, None
        if search.text_only:
            return None, Shortfall.EMBEDDER
        if search.vector is not None and search.vector.model == state.model:
            return search.vector.values, None
        if self._embedder.model != state.model:
            return None, Shortfall.MODEL
        try:
            matrix = await self._embedder.embed([search.query])
        except EmbedderUnavailableError:
            return None, Shortfall.EMBEDDER
        return [float(value) for value in matrix[0]], None
