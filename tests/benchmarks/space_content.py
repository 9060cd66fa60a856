"""The content of a space in both stores, for comparing two spaces."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256

from braid.graph.v1 import query_pb2, query_pb2_grpc
from braid.vector.v1 import documents_pb2, documents_pb2_grpc, search_pb2, search_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.credentials import Metadata
from tests.benchmarks.harness import channel_to

_PAGE = 200
_DEADLINE = 60.0


@dataclass(frozen=True, slots=True)
class SpaceContent:
    """Documents by id with their version and the hashes of their chunks, and the graph's counts by kind."""

    documents: dict[str, tuple[int, tuple[str, ...]]]
    graph: dict[str, int]


async def space_content(stack: LocalStack, called: Metadata) -> SpaceContent:
    """Reads the content of the caller's space."""
    async with channel_to(stack, "vector_search") as channel:
        documents = documents_pb2_grpc.DocumentServiceStub(channel)
        chunks = search_pb2_grpc.VectorSearchServiceStub(channel)
        found = {}
        token = ""
        while True:
            request = documents_pb2.ListDocumentsRequest(page_size=_PAGE, page_token=token)
            page = await documents.ListDocuments(request, metadata=called, timeout=_DEADLINE)
            for one in page.documents:
                texts = await _texts(documents, chunks, one.document_id, called)
                found[one.document_id] = (one.version, texts)
            token = page.next_page_token
            if not token:
                break
    return SpaceContent(found, await _graph(stack, called))


async def _texts(
    documents: documents_pb2_grpc.DocumentServiceStub,
    chunks: search_pb2_grpc.VectorSearchServiceStub,
    document_id: str,
    called: Metadata,
) -> tuple[str, ...]:
    request = documents_pb2.GetDocumentRequest(document_id=document_id)
    document = await documents.GetDocument(request, metadata=called, timeout=_DEADLINE)
    wanted = search_pb2.GetChunksRequest(chunk_ids=document.chunk_ids)
    answer = await chunks.GetChunks(wanted, metadata=called, timeout=_DEADLINE)
    return tuple(sorted(sha256(chunk.content.encode()).hexdigest() for chunk in answer.chunks))


async def _graph(stack: LocalStack, called: Metadata) -> dict[str, int]:
    async with channel_to(stack, "graph_query") as channel:
        stats = await query_pb2_grpc.GraphQueryServiceStub(channel).GetGraphStats(
            query_pb2.GetGraphStatsRequest(), metadata=called, timeout=_DEADLINE
        )
    return {
        "episodes": stats.episode_count,
        "entities": stats.entity_count,
        "facts": stats.fact_count,
        "local facts": stats.local_fact_count,
        **{f"entities of type {kind or '-'}": n for kind, n in stats.entity_counts_by_type.items()},
    }


def differences(got: SpaceContent, wanted: SpaceContent) -> tuple[Counter[str], Counter[str]]:
    """Returns what is missing or different from `wanted`, and what is duplicated, by kind."""
    lost: Counter[str] = Counter()
    doubled: Counter[str] = Counter()
    for document_id, (version, chunks) in wanted.documents.items():
        found_version, found_chunks = got.documents.get(document_id, (0, ()))
        lost["documents' chunks"] += found_chunks != chunks
        doubled["documents' versions"] += found_version > version
    doubled["documents"] += len(got.documents.keys() - wanted.documents.keys())
    for kind in got.graph.keys() | wanted.graph.keys():
        difference = got.graph.get(kind, 0) - wanted.graph.get(kind, 0)
        lost[f"graph's {kind}"] += max(0, -difference)
        doubled[f"graph's {kind}"] += max(0, difference)
    return +lost, +doubled
