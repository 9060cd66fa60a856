"""Graphiti's database interface: reads use the tier's own reads, and writes are left to the store."""

from __future__ import annotations

from typing import Any, NoReturn

from graphiti_core.driver.driver import GraphDriver, GraphDriverSession, GraphProvider
from graphiti_core.driver.graph_operations.graph_operations import GraphOperationsInterface
from graphiti_core.nodes import EpisodicNode
from pydantic import ConfigDict, PrivateAttr

from services.graph_query.llm_extraction.graph_reader import GraphReader
from services.graph_query.llm_extraction.graphiti_failures import Failures, RefusedError
from services.graph_query.llm_extraction.graphiti_search import BraidSearch

_EARLIER_EPISODES = 3


class BraidOperations(GraphOperationsInterface):
    """Lookups in one space, for the extraction of one episode of one document."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    _known: GraphReader = PrivateAttr()
    _search: BraidSearch = PrivateAttr()
    _failures: Failures = PrivateAttr()
    _episode: EpisodicNode = PrivateAttr()
    _document: str = PrivateAttr()

    def __init__(
        self,
        known: GraphReader,
        search: BraidSearch,
        failures: Failures,
        episode: EpisodicNode,
        document: str,
    ) -> None:
        super().__init__()
        self._known, self._search, self._failures = known, search, failures
        self._episode, self._document = episode, document

    async def episodic_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> EpisodicNode:  # noqa: ARG002
        """Returns the episode being read, which is not stored yet."""
        return self._episode

    async def retrieve_episodes(  # noqa: PLR0917 - its signature
        self,
        driver: Any,  # noqa: ARG002
        reference_time: Any,  # noqa: ARG002
        last_n: int = 3,
        group_ids: list[str] | None = None,  # noqa: ARG002
        source: Any | None = None,  # noqa: ARG002
        saga: str | None = None,  # noqa: ARG002
    ) -> list[EpisodicNode]:
        """Returns the document's previous episodes; a few chunks are enough context."""
        with self._failures.noted():
            number = min(last_n, _EARLIER_EPISODES)
            found = await self._known.episodes_before(self._document, number)
        return [self._search.episode(one) for one in found if one.uuid != self._episode.uuid]

    async def node_get_by_names(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002
        names: list[str],
        group_ids: list[str],  # noqa: ARG002
    ) -> list[Any]:
        """Returns entities with these names in the space."""
        with self._failures.noted():
            return self._search.nodes(await self._known.named(names))

    async def node_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002
        uuids: list[str],
        group_id: str | None = None,  # noqa: ARG002
    ) -> list[Any]:
        """Returns the entities that are in the space."""
        with self._failures.noted():
            return self._search.nodes(await self._known.entities(uuids))


class ReadingDriver(GraphDriver):
    """Not a database: Graphiti cannot run any query of its own."""

    provider = GraphProvider.NEO4J

    def __init__(self, search: BraidSearch, operations: BraidOperations) -> None:
        self._database = "braid"
        self.search_interface = search
        self.graph_operations_interface = operations

    def execute_query(self, cypher_query_: str, **kwargs: Any) -> NoReturn:  # noqa: ARG002
        """Refuses the query: Graphiti reads through the interfaces; a query of its own could read other spaces."""
        raise RefusedError("Graphiti runs no queries of its own here")

    def session(self, database: str | None = None) -> GraphDriverSession:  # noqa: ARG002
        """Returns a session that writes nothing."""
        return _Unwritten()

    def close(self) -> None:
        """Does nothing."""

    def delete_all_indexes(self) -> NoReturn:
        """Refuses the deletion, as the store owns the indexes."""
        raise RefusedError("the indexes are the store's own")

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Does nothing, as the store creates its own."""


class _Unwritten(GraphDriverSession):
    """Discards Graphiti's writes: its result contains them, and the store writes them in one transaction."""

    provider = GraphProvider.NEO4J

    async def __aexit__(self, *_: object) -> None:
        """Does nothing."""

    async def run(self, query: str, **kwargs: Any) -> NoReturn:  # noqa: ARG002
        """Refuses the query, which could read or write other spaces."""
        raise RefusedError("Graphiti runs no queries of its own here")

    async def close(self) -> None:
        """Does nothing."""

    async def execute_write(self, func: Any, *args: Any, **kwargs: Any) -> None:
        """Leaves the writing to the store."""
