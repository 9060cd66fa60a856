"""Writes: checks documents, embeds chunks without vectors, and stores everything in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import has_length, length_of
from services.runtime.context import current_call
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    OverloadedError,
    WrongStateError,
)
from services.vector_search.domain import Model, NewDocument, Vector, WriteResult
from services.vector_search.embedding_models.query_embedders import Registry
from services.vector_search.indexing.index_queue import IndexQueue
from services.vector_search.store import MissingVectorsError, SpaceModelError, VectorStore

# Between read and write, chunks may be deleted or the space's model may change: then more vectors are needed.
_ATTEMPTS = 3


class DocumentWriter:
    """Writes documents of the current call's space."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        registry: Registry | None = None,
        indexing: IndexQueue | None = None,
    ) -> None:
        """`registry` has the models of spaces that are embedded with another model than `embedder`'s.

        `indexing` is notified of writes.
        """
        self._store = store
        self._embedder = embedder
        self._registry = registry
        self._indexing = indexing

    async def write(self, documents: Sequence[NewDocument], model_name: str) -> WriteResult:
        """Writes all documents or none. Raises InvalidFieldError for invalid ones; see `VectorStore.upsert`."""
        space = current_call().space
        result = await self._write(space, documents, model_name)
        if self._indexing:
            stored = sum(len(one.added) + len(one.reindexed) for one in result.outcomes)
            await self._indexing.written(space, stored)
        return result

    async def _write(
        self, space: str, documents: Sequence[NewDocument], model_name: str
    ) -> WriteResult:
        check_documents(documents)
        for _ in range(_ATTEMPTS):
            model = self._model(await self._store.space_model(space), documents, model_name)
            try:
                return await self._embed_and_store(space, documents, model)
            except SpaceModelError:
                # The space changed its model concurrently. A caller that named the former one gets the error.
                if model_name:
                    raise
        raise OverloadedError(1.0)

    async def _embed_and_store(
        self, space: str, documents: Sequence[NewDocument], model: Model | None
    ) -> WriteResult:
        unchanged = await self._unchanged(space, documents)
        fresh = [d for d in documents if d.document_id not in unchanged]
        missing = await self._store.missing_vectors(space, fresh)
        for _ in range(_ATTEMPTS):
            documents = await self._with_vectors(documents, missing, model)
            try:
                return await self._store.upsert(space, model or self._own(documents), documents)
            except MissingVectorsError as error:
                missing = error.chunk_ids
        raise OverloadedError(1.0)

    async def _unchanged(self, space: str, documents: Sequence[NewDocument]) -> set[str]:
        if not _lacks_vectors(documents):
            return set()
        prints = [(d.document_id, d.content_hash) for d in documents]
        return set(await self._store.unchanged_documents(space, prints))

    def _model(
        self, recorded: Model | None, documents: Sequence[NewDocument], name: str
    ) -> Model | None:
        """Returns the model to write with; None for the tier's own while its dimension is unknown."""
        dimension = _given_dimension(documents)
        if dimension is not None and not name:
            raise _wrong_model("must name the model that made the given vectors")
        if recorded is not None:
            _check_against(recorded, documents, name)
            return recorded
        if dimension is not None:
            if _lacks_vectors(documents):
                self._check_own(name, dimension)
            return Model(name, dimension)
        if name and name != self._embedder.model:
            raise _wrong_model("is not the model that this service embeds with")
        dimension = length_of(self._embedder)
        return None if dimension is None else Model(self._embedder.model, dimension)

    def _check_own(self, name: str, dimension: int) -> None:
        """Raises InvalidFieldError if the tier cannot make the missing vectors."""
        if name != self._embedder.model:
            # The registry would build and keep an embedder for any name that a caller sends.
            raise _wrong_model("is not the one that this service embeds with: give all vectors")
        own = length_of(self._embedder)
        if own not in (None, dimension):
            raise _wrong_model(f"makes vectors of {own} values here: give all vectors")

    def _own(self, embedded: Sequence[NewDocument]) -> Model:
        """Returns the tier's own model, with the dimension of the vectors that it has just made."""
        dimension = _given_dimension(embedded) or self._embedder.dimension
        return Model(self._embedder.model, dimension)

    def _embedder_of(self, model: Model | None) -> Embedder:
        """Returns the embedder of the model, None for the tier's own. Raises WrongStateError if it is not available."""
        if model is None:
            return self._embedder
        if self._embedder.model == model.name and has_length(self._embedder, model.dimension):
            return self._embedder
        found = self._registry.named(model.name, model.dimension) if self._registry else None
        if found is None or not has_length(found, model.dimension):
            raise _unavailable_model()
        return found

    async def _with_vectors(
        self, documents: Sequence[NewDocument], missing: frozenset[str], model: Model | None
    ) -> Sequence[NewDocument]:
        texts = {
            chunk.id: f"{document.title}\n{chunk.content}"
            for document in documents
            for chunk in document.chunks
            if chunk.id in missing
        }
        if not texts:
            return documents
        rows = await self._embedder_of(model).embed(list(texts.values()))
        if model is not None and rows.shape[1] != model.dimension:
            raise _unavailable_model()
        vectors = dict(zip(texts, np.asarray(rows, dtype=np.float32), strict=True))
        return [_filled(document, vectors) for document in documents]


def _wrong_model(description: str) -> InvalidFieldError:
    """Returns the error for an invalid model name."""
    return InvalidFieldError(FieldError("embedding_model", description))


def _unavailable_model() -> WrongStateError:
    return WrongStateError("The space is embedded with a model that this service does not have.")


def check_documents(documents: Iterable[NewDocument]) -> None:
    """Raises InvalidFieldError for duplicate ids and for chunks that end before they start."""
    wrong: list[FieldError] = []
    seen_documents: set[str] = set()
    seen_chunks: set[str] = set()
    for document in documents:
        if document.document_id in seen_documents:
            wrong.append(FieldError(f"{document.path}.document_id", "occurs twice"))
        seen_documents.add(document.document_id)
        for i, chunk in enumerate(document.chunks):
            if chunk.id in seen_chunks:
                wrong.append(FieldError(f"{document.path}.chunks[{i}].id", "occurs twice"))
            if chunk.end_char < chunk.start_char:
                wrong.append(
                    FieldError(
                        f"{document.path}.chunks[{i}].end_char", "must not be before start_char"
                    )
                )
            seen_chunks.add(chunk.id)
    if wrong:
        raise InvalidFieldError(*wrong)


def _given_dimension(documents: Sequence[NewDocument]) -> int | None:
    """Returns the dimension of the given vectors, None without any. Raises InvalidFieldError if they differ."""
    dimension: int | None = None
    for field, vector in _given(documents):
        dimension = dimension or len(vector)
        if len(vector) != dimension:
            raise InvalidFieldError(
                FieldError(field, "must have as many values as the other vectors")
            )
    return dimension


def _lacks_vectors(documents: Sequence[NewDocument]) -> bool:
    return any(chunk.vector is None for document in documents for chunk in document.chunks)


def _check_against(model: Model, documents: Sequence[NewDocument], name: str) -> None:
    if name and name != model.name:
        raise _wrong_model("is not the model that the space is embedded with")
    wrong = [
        FieldError(field, f"must have the model's {model.dimension} dimensions")
        for field, vector in _given(documents)
        if len(vector) != model.dimension
    ]
    if wrong:
        raise InvalidFieldError(*wrong)


def _given(documents: Sequence[NewDocument]) -> Iterable[tuple[str, Vector]]:
    for document in documents:
        for i, chunk in enumerate(document.chunks):
            if chunk.vector is not None:
                yield f"{document.path}.chunks[{i}].embedding", chunk.vector


def _filled(document: NewDocument, vectors: dict[str, Vector]) -> NewDocument:
    chunks = tuple(
        replace(chunk, vector=vectors[chunk.id]) if chunk.id in vectors else chunk
        for chunk in document.chunks
    )
    return replace(document, chunks=chunks)
