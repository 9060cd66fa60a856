"""A space's embedding models in PostgreSQL: a second model is filled in while the first serves, then replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from pgvector import HalfVector

from services.models.embedding.vectors import Matrix
from services.postgres.pool import Pool, Row, Session
from services.runtime.context import current_call
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    NotFoundError,
    WrongStateError,
)
from services.runtime.queries import Queries
from services.vector_search.database import Database
from services.vector_search.domain import (
    ChunkVector,
    Model,
    ModelStatus,
    SpaceModels,
    UnembeddedChunk,
)


async def open_space(session: Session, queries: Queries, space: str, model: Model) -> None:
    """Creates the space for `model`, and the model's tables, if they do not exist yet.

    Uses transactions of its own, as a space's first writers must not lock its row while they write.
    """
    state = await session.row(queries["read_space"], space)
    if state is not None and (state["name"], state["dimension"]) == (model.name, model.dimension):
        return
    model_id = await registered(session, queries, space, model)
    await session.fetch(queries["open_space"], space, model_id)


async def registered(session: Session, queries: Queries, space: str, model: Model) -> int:
    """Returns the model's number. Raises WrongStateError if it is new and the space has registered its maximum."""
    found: int | None = await session.value(
        queries["register_model"], model.name, model.dimension, space
    )
    if found is None:
        raise WrongStateError("The space has brought as many new models as one space may.")
    return found


class PostgresModels(Database):
    """The part of the store that manages models."""

    async def list_models(self, space: str) -> SpaceModels:
        """See `ModelStore`."""
        async with self._writers.session() as session:
            rows = await session.fetch(self._queries["space_models"], space)
        found = [
            ModelStatus(_model(row), row["active"], row["embedded"], row["unindexed"])
            for row in rows
        ]
        return SpaceModels(found, rows[0]["chunks"] if rows else 0)

    async def add_model(self, space: str, model: Model) -> None:
        """See `ModelStore`."""
        async with self._writers.transaction() as session:
            await session.fetch(self._queries["take_model_lock"], space)
            rows = await session.fetch(self._queries["space_models"], space)
            if not rows:
                raise WrongStateError("The space holds nothing: its first write brings its model.")
            if any(row["name"] == model.name and _model(row) != model for row in rows):
                raise InvalidFieldError(FieldError("dimension", "is not this model's"))
            model_id = await registered(session, self._queries, space, model)
            await session.execute(self._queries["add_model"], space, model_id)

    async def unembedded_chunks(
        self, space: str, model_name: str, after: str | None, limit: int
    ) -> list[UnembeddedChunk]:
        """See `ModelStore`."""
        async with self._writers.session() as session:
            model = await self._find(session, space, model_name)
            rows = await session.fetch(
                self._queries["unembedded_chunks"], space, model["id"], after, limit
            )
        return [
            UnembeddedChunk(
                str(row["id"]), row["content"], sha256(row["content"].encode()).hexdigest()
            )
            for row in rows
        ]

    async def fill_embeddings(
        self, space: str, model_name: str, vectors: Sequence[ChunkVector]
    ) -> int:
        """See `ModelStore`."""
        async with self._writers.transaction() as session:
            await session.fetch(self._queries["share_model_lock"], space)
            model = await self._find(session, space, model_name)
            if model["active"]:
                raise WrongStateError("The model is active: writes keep its vectors.")
            _check(vectors, model["dimension"])
            # Concurrent calls for the same chunks lock their rows in the same order, and so wait instead of
            # deadlocking.
            vectors = sorted(vectors, key=lambda vector: vector.chunk_id)
            stored: int = await session.value(
                self._queries["fill_embeddings"],
                space,
                model["id"],
                [vector.chunk_id for vector in vectors],
                [vector.text_sha256 for vector in vectors],
                [HalfVector(vector.values) for vector in vectors],
            )
        return stored

    async def hold_writes(self, space: str, seconds: int) -> None:
        """See `ModelStore`."""
        async with self._writers.session() as session:
            await session.fetch(self._queries["hold_writes"], space, seconds)

    async def activate_model(self, space: str, model_name: str) -> int:
        """See `ModelStore`."""
        return await self._change(
            "activate_model",
            space,
            model_name,
            refusal="Chunks of the space have no vector of the model yet.",
        )

    async def remove_model(self, space: str, model_name: str) -> int:
        """See `ModelStore`."""
        return await self._change(
            "remove_model", space, model_name, refusal="The model is the active one."
        )

    async def _change(self, query: str, space: str, model_name: str, *, refusal: str) -> int:
        async with self._writers.session() as session:
            model = await self._find(session, space, model_name)
            answer: int | None = await session.value(self._queries[query], space, model["id"])
        if answer is None:
            raise WrongStateError(refusal)
        return answer

    async def _find(self, session: Session, space: str, name: str) -> Row:
        row = await session.row(self._queries["find_model"], space, name)
        if row is None:
            raise NotFoundError("embedding model")
        return row


def _model(row: Row) -> Model:
    return Model(row["name"], row["dimension"])


def _check(vectors: Sequence[ChunkVector], dimension: int) -> None:
    wrong = [
        FieldError(f"embeddings[{i}].values", f"must have the model's {dimension} dimensions")
        for i, vector in enumerate(vectors)
        if len(vector.values) != dimension
    ]
    if wrong:
        raise InvalidFieldError(*wrong)


_FLOAT = np.dtype("<f4")


class StoredEmbeddings:
    """Implements `EmbeddingStore` within the current call's space, so that no tenant can detect another's queries."""

    def __init__(self, pool: Pool, queries: Queries, max_rows: int) -> None:
        """Keeps the `max_rows` most recently used vectors of each space, at least 1."""
        self._pool = pool
        self._queries = queries
        self._max_rows = max_rows

    async def recall(self, digest: bytes) -> Matrix | None:
        """See `EmbeddingStore`."""
        async with self._pool.session() as session:
            found = await session.value(
                self._queries["get_query_embedding"], current_call().space, digest
            )
        return None if found is None else np.frombuffer(found, _FLOAT)

    async def remember(self, digest: bytes, row: Matrix) -> None:
        """See `EmbeddingStore`."""
        async with self._pool.session() as session:
            await session.execute(
                self._queries["put_query_embedding"],
                current_call().space,
                digest,
                row.astype(_FLOAT).tobytes(),
                self._max_rows - 1,
            )
