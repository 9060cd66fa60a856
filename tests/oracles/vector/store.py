"""The in-memory vector store. Words are not stemmed, and vectors are compared exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from services.models.embedding.relevance import bend
from services.runtime.errors import NotFoundError, WrongStateError
from services.runtime.times import utc_now
from services.vector_search.documents.versions import (
    ending_of,
    latest_of,
    plan_version,
    same_content,
)
from services.vector_search.domain import (
    Chunk,
    ChunkScore,
    Deletion,
    Document,
    DocumentVersion,
    Model,
    NewDocument,
    QueryVector,
    Search,
    SearchResult,
    SpaceState,
    SpaceStats,
    TextLanguage,
    VectorPath,
    WriteResult,
)
from services.vector_search.store import LANGUAGE_IN_USE, MissingVectorsError, SpaceModelError
from tests.oracles.vector.spaces import (
    Space,
    check_ids,
    chunk_in_view,
    cosine_scores,
    document_of,
    eligible_chunks,
    fits,
    full_score,
    hits_of,
    missing_vectors,
    raise_revision,
    stored_versions,
    version_in_force,
    version_of,
    word_scores,
    write_document,
)

_LANGUAGES = ("english", "german", "simple")


class FakeStore:
    """Implements `VectorStore`."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self._spaces: dict[str, Space] = {}
        self._clock = clock

    async def search(self, space: str, search: Search) -> SearchResult:
        """See `VectorStore`."""
        state = self._space(space)
        eligible = eligible_chunks(state, search, search.as_of or self._clock())
        model = state.model if state.chunks else None
        usable = search.vector is not None and (model is None or fits(model, search.vector))
        vector = cosine_scores(state, search.vector, eligible) if usable else {}
        text = (
            word_scores(state, search, eligible, self._clock()) if search.text is not None else {}
        )
        path = VectorPath.EXACT if usable else VectorPath.NOT_RUN
        hits = hits_of(state, search, vector, text, self._clock())
        current = eligible_chunks(state, Search(), self._clock())
        return SearchResult(hits, state.revision, path, model, chunk_count=len(current))

    async def space_state(self, space: str) -> SpaceState:
        """See `VectorStore`."""
        state = self._space(space)
        model = state.model if state.chunks else None
        return SpaceState(state.revision, state.next_change > self._clock(), model)

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
        """See `VectorStore`."""
        state = self._space(space)
        known = [chunk_id for chunk_id in chunk_ids if chunk_id in state.chunks]
        if not known or state.model is None:
            return None, []
        cosines = cosine_scores(state, vector, set(known)) if fits(state.model, vector) else {}
        search = Search(text=text)
        words = word_scores(state, search, set(known), self._clock())
        full = full_score(state, search, self._clock())
        scores = []
        for key in known:
            cosine, word_score = cosines.get(key), words.get(key, 0.0)
            fused = word_score / full if full else 0.0
            total = (1 - text_weight) * max(cosine or 0.0, 0.0) + text_weight * fused
            in_force = key in eligible_chunks(state, Search(), at or self._clock())
            scores.append(ChunkScore(key, cosine, word_score, fused, bend(total), in_force))
        return state.model, scores

    async def get_chunks(
        self, space: str, chunk_ids: Sequence[str], as_of: datetime | None = None
    ) -> list[Chunk]:
        """See `VectorStore`."""
        state, instant = self._space(space), as_of or self._clock()
        return [chunk_in_view(state, key, instant) for key in chunk_ids if key in state.chunks]

    async def space_model(self, space: str) -> Model | None:
        """See `VectorStore`."""
        state = self._space(space)
        return state.model if state.chunks else None

    async def missing_vectors(self, space: str, documents: Sequence[NewDocument]) -> frozenset[str]:
        """See `VectorStore`."""
        state, now = self._space(space), self._clock()
        return frozenset(
            chunk_id
            for d in documents
            for chunk_id in missing_vectors(state, d, d.valid_time or now)
        )

    async def upsert(
        self, space: str, model: Model, documents: Sequence[NewDocument]
    ) -> WriteResult:
        """See `VectorStore`."""
        state = self._spaces.setdefault(space, Space())
        if state.chunks and state.model != model:
            raise SpaceModelError("is not the model that the space is embedded with")
        now = self._clock()
        self._check(state, documents, now)
        state.model = model
        outcomes = [write_document(state, document, now) for document in documents]
        if not all(outcome.unchanged for outcome in outcomes):
            raise_revision(state, now)
        return WriteResult(outcomes, state.revision)

    async def unchanged_documents(
        self, space: str, fingerprints: Sequence[tuple[str, str]]
    ) -> dict[str, datetime]:
        """See `VectorStore`."""
        state, now = self._space(space), self._clock()
        return {
            document_id: version.stored.valid_from
            for document_id, content_hash in sorted(fingerprints)
            if (version := version_in_force(state, document_id, now)) is not None
            and version.stored.content_hash == content_hash
        }

    async def get_document(self, space: str, document_id: str) -> tuple[Document, list[str]]:
        """See `VectorStore`."""
        version = version_in_force(self._space(space), document_id, self._clock())
        if version is None or version.stored.is_end:
            raise NotFoundError("document")
        return document_of(version), [chunk.id for chunk in version.document.chunks]

    async def list_versions(
        self, space: str, document_id: str, below: int, limit: int
    ) -> list[DocumentVersion]:
        """See `VectorStore`."""
        stored = self._space(space).documents.get(document_id, [])
        found = [
            version_of(version)
            for version in stored
            if version.stored.version < below and not version.stored.is_end
        ]
        return sorted(found, key=lambda one: -one.version)[:limit]

    async def list_documents(
        self, space: str, after: str, limit: int, *, prefix: str = ""
    ) -> list[Document]:
        """See `VectorStore`."""
        state, now = self._space(space), self._clock()
        found = (
            version_in_force(state, key, now)
            for key in sorted(state.documents)
            if key > after and key.startswith(prefix)
        )
        listed = (version for version in found if version and not version.stored.is_end)
        return [document_of(version) for version in listed][:limit]

    async def delete_document(
        self, space: str, document_id: str, deletion_id: str | None = None
    ) -> Deletion:
        """See `VectorStore`."""
        state = self._space(space)
        if deletion_id in state.deletions:
            return state.deletions[deletion_id]
        versions = state.documents.pop(document_id, None)
        if versions is None:
            raise NotFoundError("document")
        gone = sorted(
            key for key, chunk in state.chunks.items() if chunk.document_id == document_id
        )
        for key in gone:
            del state.chunks[key]
        raise_revision(state, self._clock())
        count = sum(not version.stored.is_end for version in versions)
        if deletion_id is not None:
            state.deletions[deletion_id] = Deletion(count, len(gone), [])
        return Deletion(count, len(gone), gone)

    async def end_document(self, space: str, document_id: str) -> datetime:
        """See `VectorStore`."""
        state, now = self._space(space), self._clock()
        stored = stored_versions(state, document_id)
        if not stored:
            raise NotFoundError("document")
        if latest_of(stored).is_end:
            return latest_of(stored).valid_from
        outcome = write_document(state, ending_of(document_id, stored, now), now)
        raise_revision(state, now)
        return outcome.valid_from

    async def delete_documents(self, space: str, deletion_id: str) -> tuple[Deletion, bool]:
        """See `VectorStore`."""
        state = self._space(space)
        versions = sum(not one.stored.is_end for all_ in state.documents.values() for one in all_)
        gone = state.deletions.get(deletion_id, Deletion(0, 0, []))
        total = Deletion(gone.versions + versions, gone.chunks + len(state.chunks), [])
        state.documents.clear()
        state.chunks.clear()
        state.language = Space().language
        raise_revision(state, self._clock())
        state.deletions = {deletion_id: total}
        return total, True

    async def text_language(self, space: str) -> TextLanguage:
        """See `VectorStore`."""
        return TextLanguage(self._space(space).language, _LANGUAGES)

    async def set_text_language(self, space: str, language: str) -> None:
        """See `VectorStore`. The language does not affect how words are compared."""
        state = self._spaces.setdefault(space, Space())
        if state.language == language:
            return
        if state.chunks:
            raise WrongStateError(LANGUAGE_IN_USE)
        state.language = language
        state.revision += 1

    async def stats(self, space: str) -> SpaceStats:
        """See `VectorStore`."""
        state = self._space(space)
        model = state.model if state.chunks else None
        return SpaceStats(len(state.documents), len(state.chunks), model, state.revision)

    async def ping(self) -> None:
        """Does nothing: memory is always available."""

    def _space(self, space: str) -> Space:
        return self._spaces.get(space) or Space()

    def _check(self, state: Space, documents: Sequence[NewDocument], now: datetime) -> None:
        missing = set()
        for document in documents:
            stored = stored_versions(state, document.document_id)
            if same_content(stored, document, now) is not None:
                continue
            plan = plan_version(stored, document, now)
            check_ids(state, document)
            missing |= missing_vectors(state, document, plan.valid_from)
        if missing:
            raise MissingVectorsError(frozenset(missing))
