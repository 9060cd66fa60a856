"""The steps that make a batch searchable: check, embed, store.

Each is idempotent, and each retries for a short time while a dependency is unavailable. A document that a tier refuses
is removed from its batch, and the others continue.

Vectors are kept until they are stored, so that an interruption costs no more than the part that was being embedded.

Documents that the vector tier already has go to the graph like all others: sending them again costs the graph a
look-up by id, and completes what an earlier release may have left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple, TypeVar

from cachetools import LRUCache

from braid.vector.v1 import documents_pb2
from services.agent_orchestrator.clients.tiers import VectorTier
from services.agent_orchestrator.ingest.pipeline.batches import BATCH_CHUNKS, Batch
from services.agent_orchestrator.ingest.pipeline.isolation import Evidence, Isolation
from services.agent_orchestrator.ingest.pipeline.prepare import Prepared
from services.agent_orchestrator.ingest.pipeline.refusals import (
    is_of_the_model,
    valid_time_conflict_index,
)
from services.agent_orchestrator.ingest.pipeline.space_embedder import SpaceEmbedder
from services.agent_orchestrator.jobs.embedding_pace import EmbeddingPace
from services.agent_orchestrator.jobs.retries import Retries, reason_of
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.embedding.vectors import Matrix
from services.models.errors import EmbedderUnavailable, TextsRefused
from services.runtime.context import current_call
from services.runtime.errors import BraidError

CHECK_CHUNKS = 1000
# A batch holds as many chunks as are embedded in a few parts, so that a slow machine records its progress often.
PARTS_PER_BATCH = 8
# More than a turn has in progress; each is a few kilobytes.
MAX_KEPT = 2048

Item = TypeVar("Item")


class _Text(NamedTuple):
    """A text to embed, and its document and chunk."""

    text: str
    chunk: documents_pb2.ChunkInput
    document: Prepared


class _KeptVectors:
    """Vectors of the call's space that are not stored yet, by model and text."""

    def __init__(self) -> None:
        self._rows: LRUCache[tuple[str, str, bytes], Matrix] = LRUCache(MAX_KEPT)

    def put(self, model: str, text: str, row: Matrix) -> None:
        """Keeps a vector."""
        self._rows[_key(model, text)] = row.copy()  # not the whole part of which it is a row

    def get(self, model: str, text: str) -> Matrix | None:
        """Returns the vector of a text, if it is kept."""
        return self._rows.get(_key(model, text))

    def forget(self, model: str, text: str) -> None:
        """Drops a vector that is stored."""
        self._rows.pop(_key(model, text), None)


def _identity(document: Prepared) -> tuple[str, str, str]:
    return current_call().space, document.id, document.input.content_hash


def _key(model: str, text: str) -> tuple[str, str, bytes]:
    return current_call().space, model, hashlib.sha256(text.encode()).digest()


class Stages:
    """The steps of all turns, with the clients that they share."""

    def __init__(self, *, vector: VectorTier, embedder: SpaceEmbedder, retries: Retries) -> None:
        self._vector = vector
        self._embedder = embedder
        self._retries = retries
        self._pace = EmbeddingPace(retries)
        self._kept = _KeptVectors()
        self._evidence = Evidence("the vector tier")

    @property
    def batch_chunks(self) -> int:
        """How many chunks the next batch should hold at most, at the speed of the space's embedder, if it is known."""
        if not self._pace.is_known(self._embedder):
            return BATCH_CHUNKS
        return min(BATCH_CHUNKS, PARTS_PER_BATCH * self._pace.size(self._embedder))

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
        model = self._embedder.model
        texts = [
            _Text(document.embedded_text(chunk), chunk, document)
            for document in batch.documents
            if not document.unchanged
            for chunk in document.unembedded()
        ]
        missing = sorted(
            (one for one in texts if not self._is_kept(model, one)), key=lambda one: len(one.text)
        )
        batch.texts, batch.embedded = len(texts), len(texts) - len(missing)
        refused: dict[int, tuple[Prepared, str]] = {}
        while missing:
            count = await self._embed_next(model, missing, refused)
            missing = missing[count:]
            batch.embedded += count
        for document, reason in refused.values():
            batch.reject(document, reason)

    def _is_kept(self, model: str, one: _Text) -> bool:
        """Gives a chunk the vector that an interrupted turn has computed; returns whether there is one."""
        row = self._kept.get(model, one.text)
        if row is None:
            return False
        one.chunk.embedding.extend(row.tolist())
        return True

    async def store(self, batch: Batch) -> None:
        """Stores the changed documents, which makes them searchable."""

        async def upsert(documents: Sequence[Prepared]) -> None:
            outcomes = await self._retries.run(lambda: self._upsert(documents))
            for document, outcome in zip(documents, outcomes, strict=True):
                document.unchanged = outcome.unchanged
                document.version_time = (
                    outcome.valid_time if outcome.HasField("valid_time") else None
                )
                document.chunks_added = outcome.added_chunk_count

        changed = [document for document in batch.documents if not document.unchanged]
        model = self._embedder.model
        for document, error in await Isolation(upsert, self._evidence, _identity).run(changed):
            batch.reject(document, reason_of(error))
        for document in changed:
            for chunk in document.unembedded():
                self._kept.forget(model, document.embedded_text(chunk))

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

    async def _embed_next(
        self, model: str, texts: Sequence[_Text], refused: dict[int, tuple[Prepared, str]]
    ) -> int:
        """Embeds the first texts and returns their number; 0 if the model refuses them, then fewer are next.

        A text that the model refuses alone is counted, and refuses its document.
        """
        alone = min(len(texts), self._pace.size(self._embedder)) == 1
        try:
            rows = await self._pace.embed_next(self._embedder, [one.text for one in texts])
        except TextsRefused:
            if not alone:
                return 0
            await self._retries.run(self._probe_dimension)
            try:  # again, because until the probe the model may have refused every text
                rows = await self._pace.embed_next(self._embedder, [texts[0].text])
            except TextsRefused as error:
                refused[id(texts[0].document)] = (texts[0].document, reason_of(error))
                return 1
        for one, row in zip(texts, rows, strict=False):
            one.chunk.embedding.extend(row.tolist())
            self._kept.put(model, one.text, row)
        return len(rows)

    async def _probe_dimension(self) -> int:
        """Returns the dimension of a harmless text's vector. A model that refuses even this text is misconfigured."""
        try:
            return int((await self._pace.embed_next(self._embedder, ["dimension"])).shape[1])
        except TextsRefused as error:
            raise EmbedderUnavailable(f"refuses every text: {error.cause}") from None


def _parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _is_dated(inputs: Sequence[documents_pb2.DocumentInput], place: int) -> bool:
    return place < len(inputs) and inputs[place].HasField("valid_time")
