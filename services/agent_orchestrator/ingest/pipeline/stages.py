"""The steps that make a batch searchable: check, embed, store.

Each is idempotent, and each retries for a short time while a dependency is unavailable. A document that a tier refuses
is removed from its batch, and the others continue.

Documents that the vector tier already has go to the graph like all others: sending them again costs the graph a
look-up by id, and completes what an earlier release may have left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple, TypeVar

from braid.vector.v1 import documents_pb2
from services.agent_orchestrator.clients.tiers import VectorTier
from services.agent_orchestrator.ingest.pipeline.batches import Batch
from services.agent_orchestrator.ingest.pipeline.prepare import Prepared
from services.agent_orchestrator.ingest.pipeline.refusals import (
    is_of_a_document,
    is_of_the_model,
    valid_time_conflict_index,
)
from services.agent_orchestrator.ingest.pipeline.space_embedder import SpaceEmbedder
from services.agent_orchestrator.jobs.retries import Retries, reason_of
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.errors import EmbedderUnavailable, TextsRefused
from services.runtime.errors import BraidError

# Large enough to use all cores; the embedder splits it into its own batches.
EMBED_TEXTS = 256
EMBED_SECONDS = 120.0
CHECK_CHUNKS = 1000

Item = TypeVar("Item")


class _Text(NamedTuple):
    """A text to embed, and its document and chunk."""

    text: str
    chunk: documents_pb2.ChunkInput
    document: Prepared


class Stages:
    """The steps of all turns, with the clients that they share."""

    def __init__(self, *, vector: VectorTier, embedder: SpaceEmbedder, retries: Retries) -> None:
        self._vector = vector
        self._embedder = embedder
        self._retries = retries

    async def dimension(self) -> int:
        """Returns the dimension of the space's model; if it is unknown, it is taken from a first vector."""
        await self._retries.run(self._embedder.renew)

        async def ask() -> int:
            try:
                return self._embedder.dimension
            except BraidError:
                pass  # unknown before its first vector
            return await self._probe_dimension()

        return await self._retries.run(ask)

    async def check(self, batch: Batch, on_the_way: Set[str]) -> None:
        """Marks documents that are stored unchanged, and chunks that need no new vector.

        If an earlier version of a document is still in progress, it may not be stored yet: the store decides then.
        """
        fresh = [document for document in batch.documents if document.id not in on_the_way]
        if not fresh:
            return
        prints = [
            documents_pb2.DocumentFingerprint(
                document_id=document.id, content_hash=document.input.content_hash
            )
            for document in fresh
        ]
        unchanged = await self._retries.run(lambda: self._vector.check(prints))
        for document in fresh:
            document.unchanged = document.id in unchanged
            document.version_time = unchanged.get(document.id)
        await self._find_chunks([d for d in batch.documents if not d.unchanged])

    async def embed(self, batch: Batch) -> None:
        """Embeds each new chunk. Texts of similar length are embedded together, which reduces padding.

        A document with a text that the model refuses is removed.
        """
        texts = [
            _Text(document.embedded_text(chunk), chunk, document)
            for document in batch.documents
            if not document.unchanged
            for chunk in document.unembedded()
        ]
        texts.sort(key=lambda one: len(one.text))
        refused: dict[int, tuple[Prepared, str]] = {}
        for part in _parts(texts, EMBED_TEXTS):
            await self._embed_part(part, refused)
        for document, reason in refused.values():
            batch.reject(document, reason)

    async def store(self, batch: Batch) -> None:
        """Stores the changed documents, which makes them searchable."""

        async def upsert(documents: Sequence[Prepared]) -> Sequence[None]:
            outcomes = await self._upsert(documents)
            for document, outcome in zip(documents, outcomes, strict=True):
                document.unchanged = outcome.unchanged
                document.version_time = (
                    outcome.valid_time if outcome.HasField("valid_time") else None
                )
                document.chunks_added = outcome.added_chunk_count
            return [None] * len(documents)

        changed = [document for document in batch.documents if not document.unchanged]
        await self._together_or_one_by_one(batch, changed, upsert)

    async def _upsert(self, documents: Sequence[Prepared]) -> Sequence[documents_pb2.UpsertOutcome]:
        """Stores documents. Raises WaitingError if the space's model has changed: everything must be embedded again.

        A document edited under its former date is valid from now on; its former content is valid until then.
        """
        inputs = [document.input for document in documents]
        try:
            return await self._vector.upsert(inputs, self._embedder.model)
        except BraidError as error:
            taken = valid_time_conflict_index(error)
            if taken is not None and _is_dated(inputs, taken):
                inputs[taken].ClearField("valid_time")
                return await self._upsert(documents)
            if not is_of_the_model(error) or not await self._embedder.renew():
                raise
        raise WaitingError("the space has changed to another embedding model", 0.0)

    async def _find_chunks(self, documents: Sequence[Prepared]) -> None:
        """Finds stored chunks to reuse. A vector depends on title and text, so the title must be the same."""
        ids = [chunk.id for document in documents for chunk in document.input.chunks]
        titles: dict[str, str] = {}
        for part in _parts(ids, CHECK_CHUNKS):
            for chunk in await self._retries.run(partial(self._vector.chunks, part)):
                titles[chunk.id] = chunk.document_title
        for document in documents:
            document.stored_chunks = frozenset(
                chunk.id
                for chunk in document.input.chunks
                if titles.get(chunk.id) == document.input.title
            )

    async def _embed_part(
        self, part: Sequence[_Text], refused: dict[int, tuple[Prepared, str]]
    ) -> None:
        """Embeds a part; if the model refuses it, halves it recursively to find the texts that it refuses."""

        async def embed() -> list[list[float]]:
            async with asyncio.timeout(EMBED_SECONDS):
                rows: list[list[float]] = (
                    await self._embedder.embed([one.text for one in part])
                ).tolist()
                return rows

        try:
            rows = await self._retries.run(embed)
        except TextsRefused as error:
            if len(part) == 1:
                await self._retries.run(self._probe_dimension)
                refused[id(part[0].document)] = (part[0].document, reason_of(error))
                return
            for half in _parts(part, (len(part) + 1) // 2):
                await self._embed_part(half, refused)
            return
        for one, row in zip(part, rows, strict=True):
            one.chunk.embedding.extend(row)

    async def _probe_dimension(self) -> int:
        """Returns the dimension of a harmless text's vector. A model that refuses even this text is misconfigured."""
        try:
            async with asyncio.timeout(EMBED_SECONDS):
                return int((await self._embedder.embed(["dimension"])).shape[1])
        except TextsRefused as error:
            raise EmbedderUnavailable(f"refuses every text: {error.cause}") from None

    async def _together_or_one_by_one(
        self,
        batch: Batch,
        documents: Sequence[Prepared],
        work: Callable[[Sequence[Prepared]], Awaitable[Sequence[Item]]],
    ) -> list[Item]:
        """Does the work on all documents together, or one by one if one of them may have caused the failure."""
        if not documents:
            return []
        try:
            return list(await self._retries.run(lambda: work(documents)))
        except BraidError as error:
            if not is_of_a_document(error):
                raise
            if len(documents) == 1:
                batch.reject(documents[0], reason_of(error))
                return []
        return [
            item
            for document in documents
            for item in await self._together_or_one_by_one(batch, [document], work)
        ]


def _parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _is_dated(inputs: Sequence[documents_pb2.DocumentInput], place: int) -> bool:
    return place < len(inputs) and inputs[place].HasField("valid_time")
