"""Stores facts with given vectors through the graph tier's API."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence

from neo4j import AsyncGraphDatabase
from pydantic import SecretStr

from braid.graph.v1 import ingest_pb2, ingest_pb2_grpc
from deploy.local.stack import LocalStack
from services.graph_query.app import build_store
from services.graph_query.neo4j_store import Neo4jStore
from services.graph_query.settings import GraphSettings
from tests.benchmarks.command import MeasureError
from tests.benchmarks.credentials import credential
from tests.benchmarks.fact_rows import FactRow
from tests.benchmarks.harness import bar, channel_to
from tests.benchmarks.sentences import MODEL, Matrix

_MESSAGE = 1_000
_DEADLINE = 300.0


@contextlib.asynccontextmanager
async def own_store(stack: LocalStack) -> AsyncIterator[Neo4jStore]:
    """Opens the tier's store in the measuring command, concurrently with the tier."""
    found = stack.stores.environment()
    store = build_store(
        GraphSettings(
            neo4j_uri=found["NEO4J_URI"],
            neo4j_user=found["NEO4J_USER"],
            neo4j_password=SecretStr(found["NEO4J_PASSWORD"]),
        )
    )
    try:
        yield store
    finally:
        await store.close()


async def drop_vector_index(stack: LocalStack) -> None:
    """Drops the index of facts' vectors, until the schema is ensured again."""
    found = stack.stores.environment()
    auth = (found["NEO4J_USER"], found["NEO4J_PASSWORD"])
    async with AsyncGraphDatabase.driver(found["NEO4J_URI"], auth=auth) as driver:
        await driver.execute_query("DROP INDEX braid_fact_meaning IF EXISTS")


async def load_facts(
    stack: LocalStack, rows: Sequence[FactRow], vectors: Matrix, space: str
) -> None:
    """Adds all facts to a space. Raises MeasureError if one is refused."""
    called = credential(stack.data, space)
    async with channel_to(stack, "graph_query") as channel:
        stub = ingest_pb2_grpc.GraphIngestServiceStub(channel)
        with bar(f"storing facts in {space}", len(rows)) as show:
            for start in range(0, len(rows), _MESSAGE):
                part = slice(start, start + _MESSAGE)
                request = _requests(rows[part], vectors[part])
                answer = await stub.AddFacts(request, timeout=_DEADLINE, metadata=called)
                if answer.refused_count:
                    raise MeasureError(f"a fact was refused: {answer.refused[0].reason}")
                show(start + _MESSAGE)


def _requests(rows: Sequence[FactRow], vectors: Matrix) -> Iterator[ingest_pb2.AddFactsRequest]:
    yield ingest_pb2.AddFactsRequest(
        embedding_model=MODEL,
        facts=[
            ingest_pb2.FactInput(
                subject=ingest_pb2.EntityInput(name=row.subject),
                relation_type=row.relation,
                object=ingest_pb2.EntityInput(name=row.object),
                statement=row.text,
                embedding=vector.tolist(),
            )
            for row, vector in zip(rows, vectors, strict=True)
        ],
    )
