"""The store of the tier: what a servicer may ask of it. `PostgresStore` implements it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from services.runtime.errors import FieldError, InvalidFieldError
from services.vector_search.domain import (
    Chunk,
    ChunkRef,
    ChunkScore,
    ChunkVector,
    Deletion,
    Document,
    DocumentVersion,
    Model,
    NewDocument,
    QueryVector,
    Search,
    SearchResult,
    SpaceModels,
    SpaceState,
    SpaceStats,
    TextLanguage,
    UnembeddedChunk,
    WriteResult,
)

# The error when a space that has chunks is given another language.
LANGUAGE_IN_USE = (
    "The space holds chunks that another language indexed: set a space's language before its first document, "
    "or delete its documents first."
)


class MissingVectorsError(Exception):
    """New chunks came without vectors; `chunk_ids` names them. Nothing was written."""

    def __init__(self, chunk_ids: frozenset[str]) -> None:
        super().__init__(f"{len(chunk_ids)} new chunks have no vector")
        self.chunk_ids = chunk_ids


class SpaceModelError(InvalidFieldError):
    """The space is embedded with another model than the one that is written with. Nothing was written."""

    def __init__(self, description: str) -> None:
        super().__init__(FieldError("embedding_model", description))


class VectorStore(Protocol):
    """Documents, chunks and searches, each within one space.

    Every method raises StoreUnavailableError, OverloadedError or DeadlineError when the store cannot answer.
    """

    async def search(self, space: str, search: Search) -> SearchResult:
        """Chunks by meaning, by words, or by both fused, in one round trip."""
        ...

    async def space_state(self, space: str) -> SpaceState:
        """The space's revision, 0 for one that was never written, and its model, as searches see them."""
        ...

    async def score_chunks(
        self,
        space: str,
        text: str,
        vector: QueryVector,
        chunk_ids: Sequence[str],
        text_weight: float,
        *,
        at: datetime | None = None,
    ) -> tuple[Model | None, list[ChunkScore]]:
        """Exact scores of the chunks that exist, in the order asked for, and the space's model."""
        ...

    async def get_chunks(
        self, space: str, chunk_ids: Sequence[str], as_of: datetime | None = None
    ) -> list[Chunk]:
        """The chunks that exist, in the order asked for, of the document version in force at an instant (None: now)."""
        ...

    async def space_model(self, space: str) -> Model | None:
        """The model that the space is embedded with; None while it is empty."""
        ...

    async def missing_vectors(self, space: str, documents: Sequence[NewDocument]) -> frozenset[str]:
        """Ids of chunks that have no vector, neither given nor stored, and that writing would need one for.

        A stored one is of title and content, so it does not serve a chunk that the write gives another title: a
        chunk's title is that of the latest version, by valid time, that has it.
        """
        ...

    async def upsert(
        self, space: str, model: Model, documents: Sequence[NewDocument]
    ) -> WriteResult:
        """Writes all documents or none.

        InvalidFieldError for a taken valid time, and for a chunk id that stands for another text or document;
        SpaceModelError for another model than the space's; MissingVectorsError for new chunks without a vector;
        OverloadedError while the space's writes are on hold.
        """
        ...

    async def unchanged_documents(
        self, space: str, fingerprints: Sequence[tuple[str, str]]
    ) -> dict[str, datetime]:
        """Documents, of pairs (id, content hash), whose version in force has that hash: since when it holds, by id."""
        ...

    async def get_document(self, space: str, document_id: str) -> tuple[Document, list[str]]:
        """A document's version in force and its chunks' ids in order. NotFoundError when there is none."""
        ...

    async def list_versions(
        self, space: str, document_id: str, below: int, limit: int
    ) -> list[DocumentVersion]:
        """A document's versions with numbers below `below`, the latest first; none for an unknown document."""
        ...

    async def list_documents(self, space: str, after: str, limit: int) -> list[Document]:
        """The documents with ids greater than `after`, by id (code point order), at most `limit`."""
        ...

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str | None = None
    ) -> Deletion:
        """Removes a document with all its versions and chunks. NotFoundError when there is none.

        A deletion that was run before under the same id returns what it removed then, and removes nothing.
        """
        ...

    async def text_language(self, space: str) -> TextLanguage:
        """The space's language; `english` until another is set."""
        ...

    async def set_text_language(self, space: str, language: str) -> None:
        """Sets one of the available languages. WrongStateError while the space holds chunks of another one."""
        ...

    async def stats(self, space: str) -> SpaceStats:
        """Counts, model and revision; zeros for a space that was never written."""
        ...

    async def ping(self) -> None:
        """Returns when the store answers and its schema is there."""
        ...


class ModelStore(Protocol):
    """Models of a space. NotFoundError for a model that it does not have; other errors as in `VectorStore`."""

    async def list_models(self, space: str) -> SpaceModels:
        """The space's models by name: its own, and those added."""
        ...

    async def add_model(self, space: str, model: Model) -> None:
        """Lets the space hold vectors of another model. WrongStateError while it is empty.

        InvalidFieldError when the space has the model with another dimension; WrongStateError for one more new model
        than a space may bring.
        """
        ...

    async def unembedded_chunks(
        self, space: str, model_name: str, after: str | None, limit: int
    ) -> list[UnembeddedChunk]:
        """Chunks without a vector of the model by id, with ids greater than `after`, at most `limit`."""
        ...

    async def fill_embeddings(
        self, space: str, model_name: str, vectors: Sequence[ChunkVector]
    ) -> int:
        """Stores vectors of distinct chunks that still have the text; how many. WrongStateError for the active model.

        InvalidFieldError for another dimension than the model's: then none is stored.
        """
        ...

    async def hold_writes(self, space: str, seconds: int) -> None:
        """Makes writes of the space wait for `seconds`, once running ones have ended; 0 ends the wait."""
        ...

    async def activate_model(self, space: str, model_name: str) -> int:
        """Makes it the space's own; the revision then. WrongStateError while a chunk has no vector of it."""
        ...

    async def remove_model(self, space: str, model_name: str) -> int:
        """Removes the space's vectors of it; how many. WrongStateError for the active model."""
        ...


class InventoryStore(Protocol):
    """What a space holds, by id alone. Errors as in `VectorStore`."""

    async def list_chunk_ids(self, space: str, after: str | None, limit: int) -> list[ChunkRef]:
        """Chunks of all versions by id, with ids greater than `after`, at most `limit`."""
        ...

    async def find_chunks(self, space: str, chunk_ids: Sequence[str]) -> list[str]:
        """Those of the chunks that are stored, by id."""
        ...

    async def find_documents(self, space: str, document_ids: Sequence[str]) -> list[str]:
        """Those of the documents that are stored, by id (code point order)."""
        ...


class Store(VectorStore, ModelStore, InventoryStore, Protocol):
    """All that the tier asks of its store."""
