"""Creates explicit relations for a corpus without any: a passage is RELATED to those whose titles it contains."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import grpc

from braid.graph.v1 import ingest_pb2_grpc, relations_pb2
from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError
from tests.benchmarks.figures import note
from tests.benchmarks.harness import bar, channel_to
from tests.evals.datasets import Document

_WORD = re.compile(r"\w+")
_MAX_WORDS = 10
_MIN_LETTERS = 4
_BATCH = 1_000
_SECONDS = 60.0


def title_pairs(documents: Sequence[Document]) -> Iterator[tuple[str, str]]:
    """Yields pairs of ids: a document, and one whose title it contains; the longest title at each position counts."""
    by_title: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for document in documents:
        words = tuple(_WORD.findall(document.title.split(" (")[0].lower()))
        if 0 < len(words) <= _MAX_WORDS and len("".join(words)) >= _MIN_LETTERS:
            by_title[words].append(document.id)
    for document in documents:
        named = {
            other for title in _titles_in(document.text, by_title) for other in by_title[title]
        }
        for other in sorted(named - {document.id}):
            yield document.id, other


def _titles_in(text: str, titles: dict[tuple[str, ...], list[str]]) -> Iterator[tuple[str, ...]]:
    written = _WORD.findall(text)
    words = [word.lower() for word in written]
    at = 0
    while at < len(words):
        found = next(
            (
                tuple(words[at : at + length])
                for length in range(min(_MAX_WORDS, len(words) - at), 0, -1)
                if tuple(words[at : at + length]) in titles
                and (length > 1 or written[at][0].isupper())
            ),
            None,
        )
        if found is not None:
            yield found
        at += len(found) if found else 1


async def relate(stack: LocalStack, documents: Sequence[Document]) -> int:
    """Stores the relations; returns how many there are. Raises MeasureError on failure."""
    try:
        async with (
            channel_to(stack, "vector_search") as vector,
            channel_to(stack, "graph_query") as graph,
        ):
            chunks = await _first_chunks(vector, documents)
            relations = [
                relations_pb2.ChunkRelationInput(
                    source_id=chunks[source],
                    target_id=chunks[target],
                    relation_type=relations_pb2.CHUNK_RELATION_TYPE_RELATED,
                )
                for source, target in title_pairs(documents)
            ]
            ingest = ingest_pb2_grpc.GraphIngestServiceStub(graph)
            for batch in _batches(relations):
                request = relations_pb2.PutRelationsRequest(relations=batch)
                await ingest.PutRelations(request, timeout=_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise MeasureError(f"relations: {error.code().name} {error.details()}") from error
    note(f"{len(relations)} relations between passages and those whose titles they name")
    return len(relations)


async def _first_chunks(channel: grpc.aio.Channel, documents: Sequence[Document]) -> dict[str, str]:
    stub = documents_pb2_grpc.DocumentServiceStub(channel)
    chunks = {}
    with bar("ids of passages", len(documents)) as show:
        for number, document in enumerate(documents, 1):
            request = documents_pb2.GetDocumentRequest(document_id=document.id)
            answer = await stub.GetDocument(request, timeout=_SECONDS)
            chunks[document.id] = answer.chunk_ids[0]
            show(number)
    return chunks


def _batches(
    relations: Sequence[relations_pb2.ChunkRelationInput],
) -> Iterator[Sequence[relations_pb2.ChunkRelationInput]]:
    for start in range(0, len(relations), _BATCH):
        yield relations[start : start + _BATCH]
