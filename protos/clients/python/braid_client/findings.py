"""Findings and the ontology, for the asyncio client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from braid.graph.v1 import findings_pb2, ingest_pb2_grpc, ontology_pb2, query_pb2_grpc
from braid_client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from braid.common.v1.retrieval_pb2 import QueryEmbedding
    from braid.graph.v1.findings_pb2 import FindingFilter, FindingInput
    from braid.graph.v1.ontology_pb2 import Ontology


class Findings(Connection):
    """Part of `AsyncBraid`."""

    async def add_findings(
        self,
        findings: Iterable[FindingInput],
        *,
        embedding_model: str = "",
        timeout: float | None = None,
    ) -> findings_pb2.AddFindingsResponse:
        """Adds 1–500 findings, intents and outcomes in one transaction; refused ones do not affect the others.

        `embedding_model` is the model of given vectors, which must be the space's; without vectors the tier embeds.
        """
        request = findings_pb2.AddFindingsRequest(
            findings=list(findings), embedding_model=embedding_model
        )
        stub = ingest_pb2_grpc.GraphIngestServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.AddFindings(request, **self._options(timeout))

    async def search_findings(
        self,
        query: str,
        *,
        finding_filter: FindingFilter | None = None,
        limit: int | None = None,
        query_embedding: QueryEmbedding | None = None,
        timeout: float | None = None,
    ) -> findings_pb2.SearchFindingsResponse:
        """Finds findings by words, by similarity and by their fields, best first. `limit` is 1–200."""
        request = findings_pb2.SearchFindingsRequest(
            query=query,
            filter=finding_filter,
            page_size=limit or 0,
            query_embedding=query_embedding,
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.SearchFindings(request, **self._options(timeout))

    async def list_findings(
        self,
        *,
        finding_filter: FindingFilter | None = None,
        page_size: int = 200,
        timeout: float | None = None,
    ) -> AsyncIterator[findings_pb2.Finding]:
        """Lists all findings that match the filter, newest first; `timeout` applies to each page."""
        token = ""
        while True:
            request = findings_pb2.SearchFindingsRequest(
                filter=finding_filter, page_size=page_size, page_token=token
            )
            stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
            with self._typed_errors(timeout):
                page = await stub.SearchFindings(request, **self._options(timeout))
            for hit in page.hits:
                yield hit.finding
            token = page.next_page_token
            if not token:
                return

    async def get_ontology(
        self, *, timeout: float | None = None
    ) -> ontology_pb2.GetOntologyResponse:
        """Returns the entity and relation types of the space, and their version (0: none was stored)."""
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.GetOntology(
                ontology_pb2.GetOntologyRequest(), **self._options(timeout)
            )

    async def put_ontology(
        self,
        ontology: Ontology,
        *,
        expected_version: int | None = None,
        timeout: float | None = None,
    ) -> int:
        """Replaces the space's ontology; returns its version. WRONG_STATE if `expected_version` is not stored."""
        request = ontology_pb2.PutOntologyRequest(
            ontology=ontology, expected_version=expected_version
        )
        stub = ingest_pb2_grpc.GraphIngestServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            answer = await stub.PutOntology(request, **self._options(timeout))
        return answer.version
