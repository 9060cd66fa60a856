"""What Graphiti takes for its database: it reads by the tier's own reads, and its writes are left to the store."""

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
    """Lookups of one space, for the reading of one episode of one document."""

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
        """The episode that is being read: it is not there yet."""
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
        """What the document says before this episode; a few chunks are context enough."""
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
        """Entities of these names in the space."""
        with self._failures.noted():
            return self._search.nodes(await self._known.named(names))

    async def node_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002
        uuids: list[str],
        group_id: str | None = None,  # noqa: ARG002
    ) -> list[Any]:
        """Those of the entities that are in the space."""
        with self._failures.noted():
            return self._search.nodes(await self._known.entities(uuids))


class ReadingDriver(GraphDriver):
    """No database at all: there is no query that Graphiti could run by itself."""

    provider = GraphProvider.NEO4J

    def __init__(self, search: BraidSearch, operations: BraidOperations) -> None:
        self._database = "braid"
        self.search_interface = search
        self.graph_operations_interface = operations

    def execute_query(self, cypher_query_: str, **kwargs: Any) -> NoReturn:  # noqa: ARG002
        """Refused: Graphiti's reads go through the interfaces; one that did not would read past the space."""
        raise RefusedError("Graphiti runs no queries of its own here")

    def session(self, database: str | None = None) -> GraphDriverSession:  # noqa: ARG002
        """A session that writes nothing."""
        return _Unwritten()

    def close(self) -> None:
        """Nothing to close."""

    def delete_all_indexes(self) -> NoReturn:
        """Refused: the indexes are the store's, and Graphiti has no business with them."""
        raise RefusedError("the indexes are the store's own")

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """The store has its own."""


class _Unwritten(GraphDriverSession):
    """What Graphiti would write is in what it answers with: the store writes it, in one transaction."""

    provider = GraphProvider.NEO4J

    async def __aexit__(self, *_: object) -> None:
        """Nothing to close."""

    async def run(self, query: str, **kwargs: Any) -> NoReturn:  # noqa: ARG002
        """Refused, as by the driver: it would read or write past the space."""
        raise RefusedError("Graphiti runs no queries of its own here")

    async def close(self) -> None:
        """Nothing to close."""

    async def execute_write(self, func: Any, *args: Any, **kwargs: Any) -> None:
        """Leaves the writing to the store."""
