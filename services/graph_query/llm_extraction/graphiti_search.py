"""Graphiti's searches, based on the tier's own: vector indexes filtered by space, escaped full text, exact fallback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from graphiti_core.driver.search_interface.search_interface import SearchInterface
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, SearchFilters
from pydantic import ConfigDict, PrivateAttr

from services.graph_query.llm_extraction.graph_reader import (
    GraphReader,
    KnownEntity,
    KnownEpisode,
    KnownFact,
)
from services.graph_query.llm_extraction.graphiti_failures import Failures

_BASE_LABEL = "Entity"


# How much deeper a search goes if its results are filtered afterwards.
_DEEPER = 10


class BraidSearch(SearchInterface):
    """Searches of one space, whatever group is requested: the caller's credential determines the space.

    `facts` has every fact that was found, in its state at that time.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    _space: str = PrivateAttr()
    _known: GraphReader = PrivateAttr()
    _failures: Failures = PrivateAttr()
    _facts: dict[str, KnownFact] = PrivateAttr(default_factory=dict)

    def __init__(self, space: str, known: GraphReader, failures: Failures) -> None:
        super().__init__()
        self._space, self._known, self._failures = space, known, failures

    @property
    def facts(self) -> dict[str, KnownFact]:
        """Returns the facts that were found, by uuid."""
        return self._facts

    async def edge_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityEdge]:
        """Finds facts by words; between given ends, returns all of them."""
        if not self._is_asked(group_ids):
            return []
        with self._failures.noted():
            if ends := _ends(search_filter):
                found = await self._known.facts_between(*ends, [], limit)
            else:
                found = await self._known.facts_with(query, _depth(search_filter, limit))
        return self._edges(found, search_filter, limit)

    async def edge_similarity_search(  # noqa: PLR0917 - its signature
        self,
        driver: Any,  # noqa: ARG002
        search_vector: list[float],
        source_node_uuid: str | None,
        target_node_uuid: str | None,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityEdge]:
        """Finds facts by similarity; between given ends, compares exactly."""
        if not self._is_asked(group_ids):
            return []
        ends = _ends(search_filter)
        if source_node_uuid and target_node_uuid:
            ends = ([source_node_uuid], [target_node_uuid])
        with self._failures.noted():
            if ends:
                found = await self._known.facts_between(*ends, search_vector, limit)
            else:
                depth = _depth(search_filter, limit)
                found = await self._known.facts_like(search_vector, depth, min_score)
        return self._edges(found, search_filter, limit)

    async def node_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityNode]:
        """Finds entities that the query names."""
        if not self._is_asked(group_ids):
            return []
        with self._failures.noted():
            found = await self._known.entities_in(query, _depth(search_filter, limit))
        return self.nodes(found, search_filter)[:limit]

    async def node_similarity_search(  # noqa: PLR0917 - its signature
        self,
        driver: Any,  # noqa: ARG002
        search_vector: list[float],
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityNode]:
        """Finds entities by their names' similarity."""
        if not self._is_asked(group_ids):
            return []
        with self._failures.noted():
            depth = _depth(search_filter, limit)
            found = await self._known.entities_like(search_vector, depth, min_score)
        return self.nodes(found, search_filter)[:limit]

    async def episode_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002
        query: str,
        search_filter: Any,  # noqa: ARG002 - Graphiti filters no episodes
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EpisodicNode]:
        """Finds episodes by words."""
        if not self._is_asked(group_ids):
            return []
        with self._failures.noted():
            found = await self._known.episodes_with(query, limit)
        return [self.episode(one) for one in found]

    def nodes(
        self, found: Sequence[KnownEntity], only: SearchFilters | None = None
    ) -> list[EntityNode]:
        """Converts entities to Graphiti's type."""
        wanted = set((only.node_labels if only else None) or [])
        return [
            EntityNode(
                uuid=one.uuid,
                name=one.name,
                group_id=self._space,
                labels=labels,
                summary=one.summary,
                created_at=one.created_at,
                attributes=dict(one.attributes),
            )
            for one in found
            for labels in [[_BASE_LABEL, *([one.type] if one.type else [])]]
            if not wanted or wanted.intersection(labels)
        ]

    def episode(self, one: KnownEpisode) -> EpisodicNode:
        """Converts an episode to Graphiti's type."""
        return EpisodicNode(
            uuid=one.uuid,
            name=one.name,
            group_id=self._space,
            source=EpisodeType.text,
            source_description=one.source,
            content=one.content,
            created_at=one.created_at,
            valid_at=one.valid_at,
        )

    def _is_asked(self, group_ids: list[str] | None) -> bool:
        """Returns whether this space is among the groups: no groups would mean all tenants."""
        return group_ids is not None and self._space in group_ids

    def _edges(
        self, found: Sequence[KnownFact], only: SearchFilters, limit: int
    ) -> list[EntityEdge]:
        kept = [one for one in found if _passes(one, only)][:limit]
        self._facts.update((one.uuid, one) for one in kept if one.uuid not in self._facts)
        return [
            EntityEdge(
                uuid=one.uuid,
                group_id=self._space,
                source_node_uuid=one.source,
                target_node_uuid=one.target,
                name=one.relation,
                fact=one.fact,
                episodes=list(one.episodes),
                created_at=one.created_at,
                expired_at=one.expired_at,
                valid_at=one.valid_at,
                invalid_at=one.invalid_at,
                attributes=dict(one.attributes),
            )
            for one in kept
        ]


def _ends(only: SearchFilters) -> tuple[list[str], list[str]] | None:
    if not only.edge_source_node_uuids or not only.edge_target_node_uuids:
        return None
    return list(only.edge_source_node_uuids), list(only.edge_target_node_uuids)


def _depth(only: SearchFilters, limit: int) -> int:
    return limit * _DEEPER if only.model_dump(exclude_none=True) else limit


def _passes(one: KnownFact, only: SearchFilters) -> bool:
    labels = set(only.node_labels or [])
    kinds = [{_BASE_LABEL, kind} for _, kind in (one.source_name, one.target_name)]
    return (
        (not labels or all(labels & kind for kind in kinds))
        and (not only.edge_types or one.relation in only.edge_types)
        and (not only.edge_uuids or one.uuid in only.edge_uuids)
        and (not only.edge_source_node_uuids or one.source in only.edge_source_node_uuids)
        and (not only.edge_target_node_uuids or one.target in only.edge_target_node_uuids)
        and _dated(one.valid_at, only.valid_at)
        and _dated(one.invalid_at, only.invalid_at)
        and _dated(one.created_at, only.created_at)
        and _dated(one.expired_at, only.expired_at)
    )


def _dated(value: datetime | None, groups: list[list[DateFilter]] | None) -> bool:
    """Returns whether all conditions of any group are met."""
    return not groups or any(all(_holds(value, one) for one in group) for group in groups)


def _holds(value: datetime | None, condition: DateFilter) -> bool:
    operator, other = condition.comparison_operator, condition.date
    if operator is ComparisonOperator.is_null:
        return value is None
    if operator is ComparisonOperator.is_not_null:
        return value is not None
    if value is None or other is None:
        return False
    return _COMPARED[operator](value, other)


_COMPARED: dict[ComparisonOperator, Callable[[datetime, datetime], bool]] = {
    ComparisonOperator.equals: eq,
    ComparisonOperator.not_equals: ne,
    ComparisonOperator.greater_than: gt,
    ComparisonOperator.less_than: lt,
    ComparisonOperator.greater_than_equal: ge,
    ComparisonOperator.less_than_equal: le,
}
