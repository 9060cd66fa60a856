"""A space's embedding models in PostgreSQL: a second one is filled in while the first serves, then takes over."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from pgvector import HalfVector

from services.postgres.pool import Pool, Row, Session
from services.runtime.errors import (
    FieldError,
    InvalidFieldError,
    NotFoundError,
    WrongStateError,
)
from services.runtime.queries import Queries
from services.vector_search.domain import (
    ChunkVector,
    Model,
    ModelStatus,
    SpaceModels,
    UnembeddedChunk,
)
from services.vector_search.postgres_write import registered


class PostgresModels:
    """The part of the store that administers models."""

    def __init__(self, pool: Pool, queries: Queries) -> None:
        self._model_pool = pool
        self._model_queries = queries

    async def list_models(self, space: str) -> SpaceModels:
        """See `ModelStore`."""
        async with self._model_pool.session() as session:
            rows = await session.fetch(self._model_queries["space_models"], space)
        found = [
            ModelStatus(_model(row), row["active"], row["embedded"], row["unindexed"])
            for row in rows
        ]
        return SpaceModels(found, rows[0]["chunks"] if rows else 0)

    async def add_model(self, space: str, model: Model) -> None:
        """See `ModelStore`."""
        async with self._model_pool.transaction() as session:
            await session.fetch(self._model_queries["lock_model"], space)
            rows = await session.fetch(self._model_queries["space_models"], space)
            if not rows:
                raise WrongStateError("The space holds nothing: its first write brings its model.")
            if any(row["name"] == model.name and _model(row) != model for row in rows):
                raise InvalidFieldError(FieldError("dimension", "is not this model's"))
            model_id = await registered(session, self._model_queries, space, model)
            await session.execute(self._model_queries["add_model"], space, model_id)

    async def unembedded_chunks(
        self, space: str, model_name: str, after: str | None, limit: int
    ) -> list[UnembeddedChunk]:
        """See `ModelStore`."""
        async with self._model_pool.session() as session:
            model = await self._find(session, space, model_name)
            rows = await session.fetch(
                self._model_queries["unembedded_chunks"], space, model["id"], after, limit
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
        async with self._model_pool.transaction() as session:
            await session.fetch(self._model_queries["share_model"], space)
            model = await self._find(session, space, model_name)
            if model["active"]:
                raise WrongStateError("The model is active: writes keep its vectors.")
            _check(vectors, model["dimension"])
            # Two calls for the same chunks take their rows in the same order, and so wait instead of deadlocking.
            vectors = sorted(vectors, key=lambda vector: vector.chunk_id)
            stored: int = await session.value(
                self._model_queries["fill_embeddings"],
                space,
                model["id"],
                [vector.chunk_id for vector in vectors],
                [vector.text_sha256 for vector in vectors],
                [HalfVector(vector.values) for vector in vectors],
            )
        return stored

    async def hold_writes(self, space: str, seconds: int) -> None:
        """See `ModelStore`."""
        async with self._model_pool.session() as session:
            await session.fetch(self._model_queries["hold_writes"], space, seconds)

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
        async with self._model_pool.session() as session:
            model = await self._find(session, space, model_name)
            answer: int | None = await session.value(self._model_queries[query], space, model["id"])
        if answer is None:
            raise WrongStateError(refusal)
        return answer

    async def _find(self, session: Session, space: str, name: str) -> Row:
        row = await session.row(self._model_queries["find_model"], space, name)
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
