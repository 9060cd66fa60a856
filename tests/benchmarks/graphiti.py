"""Graphiti's own search over the tier's graph, with which SearchFacts is compared."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError
from tests.benchmarks.sentences import Matrix

if TYPE_CHECKING:
    from graphiti_core import Graphiti

_ANSWERED_ELSEWHERE = ("already exists", "Constraint", "equivalent")


class GraphitiSearch:
    """Calls Graphiti's `search_` with the hybrid edge recipe and reciprocal rank fusion, in one space."""

    def __init__(self, graphiti: Graphiti, space: str, limit: int) -> None:
        from graphiti_core.search.search_config_recipes import (  # noqa: PLC0415 (heavy)
            EDGE_HYBRID_SEARCH_RRF,
        )

        self._graphiti = graphiti
        self._space = space
        # A copy, because the recipes are shared by the whole process.
        self._recipe = EDGE_HYBRID_SEARCH_RRF.model_copy(deep=True)
        self._recipe.limit = limit

    async def ask(self, query: str, vector: Matrix) -> list[str]:
        """Returns the statements found for a question with its vector."""
        found = await self._graphiti.search_(
            query, self._recipe, group_ids=[self._space], query_vector=vector.tolist()
        )
        return [edge.fact for edge in found.edges]


@contextlib.asynccontextmanager
async def graphiti_search(
    stack: LocalStack, space: str, limit: int
) -> AsyncIterator[GraphitiSearch]:
    """Opens Graphiti on the stack's Neo4j, with its own indexes and without models."""
    os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
    # Its queries use properties that the graph may lack, which the driver would log each time.
    logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
    from graphiti_core import Graphiti  # noqa: PLC0415 (heavy)
    from graphiti_core.cross_encoder.client import CrossEncoderClient  # noqa: PLC0415
    from graphiti_core.driver.neo4j_driver import Neo4jDriver  # noqa: PLC0415
    from graphiti_core.embedder.client import EmbedderClient  # noqa: PLC0415
    from graphiti_core.llm_client.client import LLMClient  # noqa: PLC0415
    from graphiti_core.llm_client.config import LLMConfig  # noqa: PLC0415

    # Graphiti would create its own clients if these were missing; a search that called one would include its time.
    class NoEmbedder(EmbedderClient):
        async def create(self, input_data: Any) -> list[float]:
            raise MeasureError("the query's vector is given")

    class NoReranker(CrossEncoderClient):
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            raise MeasureError("reciprocal ranks need no model")

    class NoModel(LLMClient):
        async def _generate_response(self, *args: Any, **more: Any) -> dict[str, Any]:
            raise MeasureError("searching needs no language model")

    class Driver(Neo4jDriver):
        async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
            """Does nothing: the task that the constructor starts would race with `_own_indexes`."""

    found = stack.stores.environment()
    driver = Driver(found["NEO4J_URI"], found["NEO4J_USER"], found["NEO4J_PASSWORD"])
    await _own_indexes(driver)
    graphiti = Graphiti(
        graph_driver=driver,
        llm_client=NoModel(LLMConfig(api_key="none")),
        embedder=NoEmbedder(),
        cross_encoder=NoReranker(),
    )
    try:
        yield GraphitiSearch(graphiti, space, limit)
    finally:
        await graphiti.close()  # type: ignore[no-untyped-call]


async def _own_indexes(driver: Any) -> None:
    """Creates every index that Graphiti requests, unless a constraint of the tier replaces it."""
    from graphiti_core.driver.driver import GraphProvider  # noqa: PLC0415
    from graphiti_core.graph_queries import (  # noqa: PLC0415
        get_fulltext_indices,
        get_range_indices,
    )
    from neo4j.exceptions import ClientError  # noqa: PLC0415

    provider = GraphProvider.NEO4J
    for statement in (*get_range_indices(provider), *get_fulltext_indices(provider)):
        try:
            await driver.client.execute_query(statement)
        except ClientError as error:
            if not any(mark in str(error) for mark in _ANSWERED_ELSEWHERE):
                raise
    await driver.client.execute_query("CALL db.awaitIndexes(300)")
