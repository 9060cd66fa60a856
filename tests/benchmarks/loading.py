"""Stores passages, with or without given vectors, through the vector tier's API."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp
from numpy.typing import NDArray

from braid.vector.v1 import documents_pb2, documents_pb2_grpc
from deploy.local.stack import LocalStack
from services.runtime.ids import chunk_id, content_sha256, document_hash
from tests.benchmarks.credentials import LOCAL_SPACE, credential
from tests.benchmarks.harness import bar, channel_to
from tests.benchmarks.wait_for_index import settled

_BATCH = 200
_WRITERS = 2
_DEADLINE = 120.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A document of one chunk; if `vector` is None the tier embeds it. `valid_from` is in epoch seconds."""

    id: str
    title: str
    text: str
    vector: NDArray[np.float32] | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    valid_from: int | None = None


async def store(
    stack: LocalStack,
    passages: Sequence[Passage],
    *,
    model: str = "",
    space: str = LOCAL_SPACE,
    quiet: bool = False,
) -> None:
    """Stores all passages in a space by concurrent writers and waits for the index; shows a bar unless `quiet`."""
    called = credential(stack.data, space)
    parts = batches(passages, _BATCH)
    done = itertools.count(_BATCH, _BATCH)
    shown = contextlib.nullcontext(_unseen) if quiet else bar(f"storing in {space}", len(passages))
    async with channel_to(stack, "vector_search") as channel:
        stub = documents_pb2_grpc.DocumentServiceStub(channel)
        with shown as show:

            async def write() -> None:
                for part in parts:
                    request = upsert_request(part, model, space)
                    await stub.BatchUpsertDocuments(request, timeout=_DEADLINE, metadata=called)
                    show(next(done))

            async with asyncio.TaskGroup() as group:
                for _ in range(_WRITERS):
                    group.create_task(write())
    await settled(stack, space)


def _unseen(_done: int) -> None:
    """Shows nothing."""


def batches(passages: Sequence[Passage], size: int) -> Iterator[Sequence[Passage]]:
    """Returns consecutive batches of `size` passages."""
    return (passages[start : start + size] for start in range(0, len(passages), size))


def upsert_request(
    passages: Sequence[Passage], model: str, space: str
) -> documents_pb2.BatchUpsertDocumentsRequest:
    """Builds the request that stores these passages."""
    return documents_pb2.BatchUpsertDocumentsRequest(
        documents=[_document(passage, space) for passage in passages], embedding_model=model
    )


def _document(passage: Passage, space: str) -> documents_pb2.DocumentInput:
    valid_from = None if passage.valid_from is None else Timestamp(seconds=passage.valid_from)
    given = documents_pb2.DocumentInput(
        document_id=passage.id,
        title=passage.title,
        content_hash=_hash(passage),
        valid_time=valid_from,
        chunks=[_chunk(passage, space)],
    )
    given.metadata.update(passage.metadata)
    return given


def _chunk(passage: Passage, space: str) -> documents_pb2.ChunkInput:
    return documents_pb2.ChunkInput(
        id=chunk_id(space, passage.id, content_sha256(passage.text), 0),
        content=passage.text,
        start_char=0,
        end_char=len(passage.text),
        embedding=[] if passage.vector is None else passage.vector.tolist(),
    )


def _hash(passage: Passage) -> str:
    since = None if passage.valid_from is None else str(passage.valid_from)
    return document_hash(
        title=passage.title,
        source="",
        metadata=passage.metadata,
        valid_time=since,
        text=passage.text,
    )
