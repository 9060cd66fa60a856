"""Orders of found facts other than relevance: MMR, distance to an entity, cross-encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from services.graph_query.core.domain import Fact, FactFilter
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.names import WORD, name_key
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.row_mapping import entity
from services.graph_query.search.ranking import FoundFact
from services.models.errors import RerankerUnavailable
from services.models.reranking.reranker import Reranker
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError, WrongStateError

# Distances beyond this many facts count as equal.
FARTHEST = 4


class RerankingStore(Protocol):
    """Reads vectors and distances in a space. Raises what `GraphStore` raises."""

    async def entities_named(self, space: str, name_key: str, entity_type: str) -> list[str]:
        """Returns the uuids of the entities with a name and, unless it is "", a type."""

    async def fact_vectors(self, space: str, uuids: Sequence[str]) -> dict[str, Sequence[float]]:
        """Returns the vectors of the stated facts that have one."""

    async def distances(
        self, space: str, centers: Sequence[str], uuids: Sequence[str], only: FactFilter
    ) -> dict[str, int]:
        """Returns how many facts lie between each entity and the nearest center, without entities beyond `FARTHEST`.

        Of `only`, just the time applies. Co-occurrences of the time are edges too.
        """


class Neo4jReranking:
    """Implements `RerankingStore` on Neo4j."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entities_named(self, space: str, name_key: str, entity_type: str) -> list[str]:
        """Returns the uuids of the entities with a name."""
        rows = await self._database.read("entities_named", space=space, key=name_key)
        named = [entity(row) for row in rows]
        return [one.uuid for one in named if not entity_type or one.type == entity_type]

    async def fact_vectors(self, space: str, uuids: Sequence[str]) -> dict[str, Sequence[float]]:
        """Returns vectors of facts."""
        rows = await self._database.read("fact_vectors", space=space, uuids=list(uuids))
        return {row["uuid"]: row["vector"] for row in rows}

    async def distances(
        self, space: str, centers: Sequence[str], uuids: Sequence[str], only: FactFilter
    ) -> dict[str, int]:
        """Returns each entity's distance from the nearest center."""
        rows = await self._database.read(
            "entity_distances",
            space=space,
            centers=list(centers),
            uuids=list(uuids),
            since=only.since,
            until=only.until,
            open=OPEN,
        )
        return {row["uuid"]: row["distance"] for row in rows}


# How many facts are reranked: a multiple of the requested number, within limits.
_POOL = 4


_POOL_LEAST, _POOL_MOST = 40, 100


class Order(Enum):
    """The order of found facts."""

    RRF = "rrf"
    MMR = "mmr"
    NODE_DISTANCE = "node_distance"
    CROSS_ENCODER = "cross_encoder"


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order and its parameters: the center's name and type for NODE_DISTANCE, the weight of relevance for MMR."""

    order: Order = Order.RRF
    center_name: str = ""
    center_type: str = ""
    mmr_lambda: float = 0.5

    def pool(self, limit: int) -> int:
        """Returns how many of the most relevant facts are reranked for `limit` facts."""
        if self.order is Order.RRF:
            return limit
        return max(limit, min(max(limit * _POOL, _POOL_LEAST), _POOL_MOST))


class FactReranker:
    """Puts found facts in a requested order."""

    def __init__(self, store: RerankingStore, model: Reranker | None) -> None:
        self._store = store
        self._model = model

    async def ready(self, space: str, ordering: Ordering) -> list[str]:
        """Checks an order before the search, and returns the uuids of its center.

        Raises InvalidFieldError without a center, NotFoundError if no entity has its name, WrongStateError without a
        reranking model.
        """
        if ordering.order is Order.CROSS_ENCODER and self._model is None:
            raise WrongStateError("No reranking model is configured.")
        if ordering.order is not Order.NODE_DISTANCE:
            return []
        if not ordering.center_name.strip():
            raise InvalidFieldError(FieldError("center_entity_name", "is needed for NODE_DISTANCE"))
        key = name_key(ordering.center_name)
        centers = await self._store.entities_named(space, key, ordering.center_type)
        if not centers:
            raise NotFoundError("entity")
        return centers

    async def rerank(
        self,
        space: str,
        query: str,
        found: Sequence[FoundFact],
        ordering: Ordering,
        *,
        centers: Sequence[str],
        only: FactFilter,
    ) -> tuple[list[FoundFact], bool]:
        """Returns the facts in the requested order and True, or unchanged and False if the order is not available."""
        if ordering.order is Order.MMR:
            return await self._varied(space, found, ordering.mmr_lambda), True
        if ordering.order is Order.NODE_DISTANCE:
            return await self._near(space, found, centers, only), True
        if ordering.order is Order.CROSS_ENCODER and self._model is not None:
            try:
                scores = await self._model.score(query, [one.fact.fact for one in found])
            except RerankerUnavailable:
                return list(found), False
            return _by_score(found, scores), True
        return list(found), True

    async def _varied(
        self, space: str, found: Sequence[FoundFact], weight: float
    ) -> list[FoundFact]:
        uuids = [one.fact.uuid for one in found]
        vectors = await self._store.fact_vectors(space, uuids) if uuids else {}
        return maximal_marginal_relevance(found, vectors, weight)

    async def _near(
        self, space: str, found: Sequence[FoundFact], centers: Sequence[str], only: FactFilter
    ) -> list[FoundFact]:
        ends = {end for one in found for end in _ends(one.fact)}
        others = sorted(ends.difference(centers))
        far = await self._store.distances(space, centers, others, only) if others else {}
        reached = {**far, **dict.fromkeys(centers, 0)}
        scores = [_closeness(one.fact, reached) for one in found]
        return _by_score(found, scores)


def maximal_marginal_relevance(
    found: Sequence[FoundFact], vectors: Mapping[str, Sequence[float]], weight: float
) -> list[FoundFact]:
    """Orders facts by maximal marginal relevance: each is relevant and least similar to those before it.

    Relevance is the score as a share of the best one. Similarity is the cosine of the vectors or, if one has none, the
    share of common words.
    """
    best = max((one.scores.fused for one in found), default=1.0) or 1.0
    left = list(found)
    repeats = dict.fromkeys((one.fact.uuid for one in found), 0.0)
    chosen: list[FoundFact] = []

    def gain(one: FoundFact) -> float:
        return weight * one.scores.fused / best - (1 - weight) * repeats[one.fact.uuid]

    while left:
        pick = max(left, key=gain)
        left.remove(pick)
        chosen.append(_scored(pick, gain(pick)))
        for one in left:
            alike = _likeness(one.fact, pick.fact, vectors)
            repeats[one.fact.uuid] = max(repeats[one.fact.uuid], alike)
    return chosen


def _likeness(one: Fact, other: Fact, vectors: Mapping[str, Sequence[float]]) -> float:
    a, b = vectors.get(one.uuid), vectors.get(other.uuid)
    # While a space changes models, vectors may have two lengths.
    if a is not None and b is not None and len(a) == len(b):
        return sum(x * y for x, y in zip(a, b, strict=True))
    words, others = _words(one), _words(other)
    return len(words & others) / (len(words | others) or 1)


def _words(fact: Fact) -> set[str]:
    return {match.group().lower() for match in WORD.finditer(fact.fact)}


def _closeness(fact: Fact, reached: Mapping[str, int]) -> float:
    near = [reached[end] for end in _ends(fact) if end in reached]
    return 1 / (1 + min(near)) if near else 0.0


def _ends(fact: Fact) -> tuple[str, str]:
    return fact.source.uuid, fact.target.uuid


def _by_score(found: Sequence[FoundFact], scores: Sequence[float]) -> list[FoundFact]:
    """Orders facts best first; equal ones keep their order."""
    scored = [_scored(one, score) for one, score in zip(found, scores, strict=True)]
    return sorted(scored, key=lambda one: -(one.scores.rerank or 0.0))


def _scored(one: FoundFact, score: float) -> FoundFact:
    return FoundFact(one.fact, replace(one.scores, rerank=score))
