"""The store interface of the tier, which `PostgresStore` implements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.space_rows import Place, RowsPage
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

# The error for setting another language in a space that has chunks.
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
    """The space is embedded with another model than that of the write. Nothing was written."""

    def __init__(self, description: str) -> None:
        super().__init__(FieldError("embedding_model", description))


class VectorStore(Protocol):
    """Documents, chunks and searches, each within one space.

    Every method raises StoreUnavailableError, OverloadedError or DeadlineError if the store cannot answer.
    """

    async def search(self, space: str, search: Search) -> SearchResult:
        """Finds chunks by vector, by words, or by both fused, in one round trip."""
        ...

    async def space_state(self, space: str) -> SpaceState:
        """Returns the space's revision, 0 if it was never written, and its model, as searches see them."""
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
        """Returns exact scores of the chunks that exist, in the requested order, and the space's model."""
        ...

    async def get_chunks(
        self, space: str, chunk_ids: Sequence[str], as_of: datetime | None = None
    ) -> list[Chunk]:
        """Returns the chunks that exist, in the requested order, of the version in force at an instant (None: now)."""
        ...

    async def space_model(self, space: str) -> Model | None:
        """Returns the space's embedding model; None while it is empty."""
        ...

    async def missing_vectors(self, space: str, documents: Sequence[NewDocument]) -> frozenset[str]:
        """Returns ids of chunks for which a write would need a vector, as none is given or stored.

        A stored vector covers title and content, so it does not serve a chunk that the write gives another title. A
        chunk's title is that of the latest version, by valid time, that contains it.
        """
        ...

    async def upsert(
        self, space: str, model: Model, documents: Sequence[NewDocument]
    ) -> WriteResult:
        """Writes all documents or none.

        Raises InvalidFieldError for a taken valid time, and for a chunk id that stands for another text or document;
        SpaceModelError for another model than the space's; MissingVectorsError for new chunks without a vector;
        OverloadedError while the space's writes are on hold.
        """
        ...

    async def unchanged_documents(
        self, space: str, fingerprints: Sequence[tuple[str, str]]
    ) -> dict[str, datetime]:
        """Returns the valid times, by id, of (id, content hash) pairs whose version in force has that hash."""
        ...

    async def get_document(self, space: str, document_id: str) -> tuple[Document, list[str]]:
        """Returns a document's version in force and its chunks' ids in order. Raises NotFoundError without one."""
        ...

    async def list_versions(
        self, space: str, document_id: str, below: int, limit: int
    ) -> list[DocumentVersion]:
        """Lists a document's versions with numbers below `below`, latest first; empty for an unknown document."""
        ...

    async def list_documents(
        self, space: str, after: str, limit: int, *, prefix: str = ""
    ) -> list[Document]:
        """Lists the documents with ids greater than `after`, by id (code point order), at most `limit`.

        Only those whose ids begin with `prefix`.
        """
        ...

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str | None = None
    ) -> Deletion:
        """Removes a document with all its versions and chunks. Raises NotFoundError if it does not exist.

        A deletion that ran before under the same id returns what it removed then, and removes nothing.
        """
        ...

    async def end_document(self, space: str, document_id: str) -> datetime:
        """Ends a document, whose versions remain; returns since when. Raises NotFoundError if it does not exist.

        Ending a document that has ended changes nothing. The next write continues it.
        """
        ...

    async def delete_documents(self, space: str, deletion_id: str) -> tuple[Deletion, bool]:
        """Removes some of the space's documents, and with the last of them the space's model and language.

        Returns what all calls with this id removed, and whether the space is empty now.
        """
        ...

    async def text_language(self, space: str) -> TextLanguage:
        """Returns the space's language; `english` until another is set."""
        ...

    async def set_text_language(self, space: str, language: str) -> None:
        """Sets one of the available languages. Raises WrongStateError while the space has chunks of another one."""
        ...

    async def stats(self, space: str) -> SpaceStats:
        """Returns counts, model and revision; zeros for a space that was never written."""
        ...

    async def ping(self) -> None:
        """Returns if the store answers and its schema exists."""
        ...


class ModelStore(Protocol):
    """Models of a space. Raises NotFoundError for a model that it does not have, and what `VectorStore` raises."""

    async def list_models(self, space: str) -> SpaceModels:
        """Lists the space's models by name: its own, and those added."""
        ...

    async def add_model(self, space: str, model: Model) -> None:
        """Allows the space to store vectors of another model. Raises WrongStateError while it is empty.

        Raises InvalidFieldError if the space has the model with another dimension, WrongStateError if it has registered
        its maximum of new models.
        """
        ...

    async def unembedded_chunks(
        self, space: str, model_name: str, after: str | None, limit: int
    ) -> list[UnembeddedChunk]:
        """Lists chunks without a vector of the model, by id, with ids greater than `after`, at most `limit`."""
        ...

    async def fill_embeddings(
        self, space: str, model_name: str, vectors: Sequence[ChunkVector]
    ) -> int:
        """Stores vectors of distinct chunks whose text is unchanged; returns how many.

        Raises WrongStateError for the active model. Raises InvalidFieldError for another dimension than the model's;
        then none is stored.
        """
        ...

    async def hold_writes(self, space: str, seconds: int) -> None:
        """Puts the space's writes on hold for `seconds`, once running ones have ended; 0 ends the hold."""
        ...

    async def activate_model(self, space: str, model_name: str) -> int:
        """Makes it the space's own; returns the new revision.

        Raises WrongStateError while a chunk has no vector of it.
        """
        ...

    async def remove_model(self, space: str, model_name: str) -> int:
        """Removes the space's vectors of it; returns how many. Raises WrongStateError for the active model."""
        ...


class InventoryStore(Protocol):
    """Reads a space's ids, and those of spaces. Raises what `VectorStore` raises."""

    async def list_spaces(self, after: str, limit: int) -> list[str]:
        """Lists spaces that have chunks by id (code point order), with ids greater than `after`, at most `limit`."""
        ...

    async def list_chunk_ids(self, space: str, after: str | None, limit: int) -> list[ChunkRef]:
        """Lists chunks of all versions by id, with ids greater than `after`, at most `limit`."""
        ...

    async def find_chunks(self, space: str, chunk_ids: Sequence[str]) -> list[str]:
        """Returns the ids of the chunks that are stored, sorted."""
        ...

    async def find_documents(self, space: str, document_ids: Sequence[str]) -> list[str]:
        """Returns the ids of the documents that are stored, sorted (code point order)."""
        ...


class TransferStore(Protocol):
    """Reads and writes a space's rows for archives."""

    async def read(self, space: str, place: Place) -> RowsPage:
        """Returns a page of rows. Raises InvalidFieldError for a place that the space does not have."""
        ...

    async def write(self, space: str, kind: str, rows: Sequence[str]) -> None:
        """Stores rows, except those that exist. Raises InvalidFieldError for what no known version has exported."""
        ...


class Store(VectorStore, ModelStore, InventoryStore, Protocol):
    """The complete store interface of the tier."""

    @property
    def transfer(self) -> TransferStore:
        """Returns the store of exports and imports."""
        ...
