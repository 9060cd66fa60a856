"""The store in memory: for tests of what stands above it. Words are not stemmed; vectors are compared exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError, WrongStateError
from services.runtime.times import utc_now
from services.vector_search.domain import (
    FOREVER,
    MAX_COMPLETIONS,
    Chunk,
    ChunkScore,
    Deletion,
    Document,
    FusionKind,
    Hit,
    Model,
    NewDocument,
    Outcome,
    QueryVector,
    Scores,
    Search,
    SearchResult,
    SpaceState,
    SpaceStats,
    TextLanguage,
    TextMatch,
    Vector,
    VectorPath,
    WriteResult,
)
from services.vector_search.ranking import (
    Terms,
    bm25,
    completed,
    fuse,
    holds_phrase,
    ranked,
    terms_of,
)
from services.vector_search.store import MissingVectorsError
from services.vector_search.versions import StoredVersion, plan_version, same_content

_LANGUAGES = ("english", "german", "simple")


@dataclass(frozen=True, slots=True)
class _Version:
    stored: StoredVersion
    document: NewDocument
    written: datetime


@dataclass(frozen=True, slots=True)
class _Chunk:
    document_id: str
    content: str
    vector: Vector
    text: str
    terms: Terms


@dataclass(slots=True)
class _Space:
    model: Model | None = None
    revision: int = 0
    next_change: datetime = FOREVER
    language: str = "english"
    documents: dict[str, list[_Version]] = field(default_factory=dict)
    chunks: dict[str, _Chunk] = field(default_factory=dict)


class FakeStore:
    """Implements `VectorStore`."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self._clock = clock
        self._spaces: dict[str, _Space] = {}

    async def search(self, space: str, search: Search) -> SearchResult:
        """See `VectorStore`."""
        held = self._space(space)
        eligible = _eligible(held, search, search.as_of or self._clock())
        model = held.model if held.chunks else None
        usable = search.vector is not None and (model is None or _fits(model, search.vector))
        vector = _cosines(held, search.vector, eligible) if usable else {}
        text = _words(held, search, eligible, self._clock()) if search.text is not None else {}
        path = VectorPath.EXACT if usable else VectorPath.NOT_RUN
        hits = _hits(held, search, vector, text, self._clock())
        return SearchResult(hits, held.revision, path, model)

    async def space_state(self, space: str) -> SpaceState:
        """See `VectorStore`."""
        held = self._space(space)
        return SpaceState(held.revision, held.next_change > self._clock())

    async def score_chunks(
        self, space: str, text: str, vector: QueryVector, chunk_ids: Sequence[str]
    ) -> tuple[Model | None, list[ChunkScore]]:
        """See `VectorStore`."""
        held = self._space(space)
        known = [chunk_id for chunk_id in chunk_ids if chunk_id in held.chunks]
        if not known or held.model is None:
            return None, []
        cosines = _cosines(held, vector, set(known)) if _fits(held.model, vector) else {}
        words = _words(held, Search(text=text), set(known), self._clock())
        return held.model, [ChunkScore(key, cosines.get(key), words.get(key, 0.0)) for key in known]

    async def get_chunks(self, space: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `VectorStore`."""
        held = self._space(space)
        return [_view(held, key, self._clock()) for key in chunk_ids if key in held.chunks]

    async def space_model(self, space: str) -> Model | None:
        """See `VectorStore`."""
        held = self._space(space)
        return held.model if held.chunks else None

    async def missing_vectors(self, space: str, documents: Sequence[NewDocument]) -> frozenset[str]:
        """See `VectorStore`."""
        chunks = self._space(space).chunks
        return frozenset(
            c.id for d in documents for c in d.chunks if c.vector is None and c.id not in chunks
        )

    async def upsert(
        self, space: str, model: Model, documents: Sequence[NewDocument]
    ) -> WriteResult:
        """See `VectorStore`."""
        held = self._spaces.setdefault(space, _Space())
        if held.chunks and held.model != model:
            raise InvalidFieldError(FieldError("embedding_model", "is not the space's model"))
        now = self._clock()
        self._check(held, documents, now)
        held.model = model
        outcomes = [_write(held, document, now) for document in documents]
        if not all(outcome.unchanged for outcome in outcomes):
            _raise_revision(held, now)
        return WriteResult(outcomes, held.revision)

    async def unchanged_documents(
        self, space: str, fingerprints: Sequence[tuple[str, str]]
    ) -> list[str]:
        """See `VectorStore`."""
        held, now = self._space(space), self._clock()
        return sorted(
            document_id
            for document_id, content_hash in fingerprints
            if (version := _in_force(held, document_id, now)) is not None
            and version.stored.content_hash == content_hash
        )

    async def get_document(self, space: str, document_id: str) -> tuple[Document, list[str]]:
        """See `VectorStore`."""
        version = _in_force(self._space(space), document_id, self._clock())
        if version is None:
            raise NotFoundError("document")
        return _document(version), [chunk.id for chunk in version.document.chunks]

    async def list_documents(self, space: str, after: str, limit: int) -> list[Document]:
        """See `VectorStore`."""
        held, now = self._space(space), self._clock()
        found = (_in_force(held, key, now) for key in sorted(held.documents) if key > after)
        return [_document(version) for version in found if version is not None][:limit]

    async def delete_document(self, space: str, document_id: str) -> Deletion:
        """See `VectorStore`."""
        held = self._space(space)
        versions = held.documents.pop(document_id, None)
        if versions is None:
            raise NotFoundError("document")
        gone = sorted(key for key, chunk in held.chunks.items() if chunk.document_id == document_id)
        for key in gone:
            del held.chunks[key]
        _raise_revision(held, self._clock())
        return Deletion(len(versions), gone)

    async def text_language(self, space: str) -> TextLanguage:
        """See `VectorStore`."""
        return TextLanguage(self._space(space).language, _LANGUAGES)

    async def set_text_language(self, space: str, language: str) -> None:
        """See `VectorStore`. Words are compared as they are whatever the language."""
        held = self._spaces.setdefault(space, _Space())
        if held.language == language:
            return
        if held.chunks:
            raise WrongStateError("The space holds chunks of another language.")
        held.language = language
        held.revision += 1

    async def stats(self, space: str) -> SpaceStats:
        """See `VectorStore`."""
        held = self._space(space)
        model = held.model if held.chunks else None
        return SpaceStats(len(held.documents), len(held.chunks), model, held.revision)

    async def ping(self) -> None:
        """Memory is always there."""

    def _space(self, space: str) -> _Space:
        return self._spaces.get(space) or _Space()

    def _check(self, held: _Space, documents: Sequence[NewDocument], now: datetime) -> None:
        missing = set()
        for document in documents:
            stored = _stored(held, document.document_id)
            if same_content(stored, document, now) is not None:
                continue
            plan_version(stored, document, now)
            _check_ids(held, document)
            missing |= {c.id for c in document.chunks if c.vector is None} - held.chunks.keys()
        if missing:
            raise MissingVectorsError(frozenset(missing))


def _raise_revision(held: _Space, now: datetime) -> None:
    begins = (v.stored.valid_from for versions in held.documents.values() for v in versions)
    held.next_change = min((begin for begin in begins if begin > now), default=FOREVER)
    held.revision += 1


def _check_ids(held: _Space, document: NewDocument) -> None:
    for i, chunk in enumerate(document.chunks):
        known = held.chunks.get(chunk.id)
        if known and (known.document_id, known.content) != (document.document_id, chunk.content):
            raise InvalidFieldError(
                FieldError(
                    f"{document.path}.chunks[{i}].id", "is the id of another text or document"
                )
            )


def _write(held: _Space, document: NewDocument, now: datetime) -> Outcome:
    stored = _stored(held, document.document_id)
    same = same_content(stored, document, now)
    if same is not None:
        return Outcome(document_id=document.document_id, version=same.version, unchanged=True)
    plan = plan_version(stored, document, now)
    versions = held.documents.setdefault(document.document_id, [])
    kept = {chunk.id for chunk in document.chunks}
    retired = 0
    for i, version in enumerate(versions):
        if version.stored.version == plan.closes:
            retired = sum(chunk.id not in kept for chunk in version.document.chunks)
            old = version.stored
            closed = StoredVersion(old.version, old.valid_from, plan.valid_from, old.content_hash)
            versions[i] = _Version(closed, version.document, version.written)
    new = StoredVersion(plan.version, plan.valid_from, plan.valid_until, document.content_hash)
    versions.append(_Version(new, document, now))
    return Outcome(
        document_id=document.document_id,
        version=plan.version,
        added=_add_chunks(held, document),
        retired=retired,
    )


def _add_chunks(held: _Space, document: NewDocument) -> tuple[str, ...]:
    added = []
    for chunk in document.chunks:
        if chunk.id not in held.chunks and chunk.vector is not None:
            text = f"{document.title}\n{chunk.content}"
            held.chunks[chunk.id] = _Chunk(
                document.document_id, chunk.content, chunk.vector, text, terms_of(text)
            )
            added.append(chunk.id)
    return tuple(added)


def _stored(held: _Space, document_id: str) -> list[StoredVersion]:
    return [version.stored for version in held.documents.get(document_id, [])]


def _in_force(held: _Space, document_id: str, instant: datetime) -> _Version | None:
    for version in held.documents.get(document_id, []):
        if version.stored.holds_at(instant):
            return version
    return None


def _eligible(held: _Space, search: Search, instant: datetime) -> set[str]:
    wanted = search.document_ids or tuple(held.documents)
    found = (_in_force(held, document_id, instant) for document_id in wanted)
    return {
        chunk.id
        for version in found
        if version is not None and _contains(version.document.metadata, search.metadata)
        for chunk in version.document.chunks
    }


def _contains(have: Any, want: Any) -> bool:
    """JSON containment as PostgreSQL's @> has it."""
    if isinstance(want, dict):
        return isinstance(have, dict) and all(
            key in have and _contains(have[key], value) for key, value in want.items()
        )
    if isinstance(want, list):
        return isinstance(have, list) and all(
            any(_contains(item, value) for item in have) for value in want
        )
    return bool(have == want) and isinstance(have, bool) == isinstance(want, bool)


def _fits(model: Model, vector: QueryVector) -> bool:
    return model == Model(vector.model, len(vector.values))


def _cosines(held: _Space, vector: QueryVector | None, keys: set[str]) -> dict[str, float]:
    if vector is None:
        return {}
    return {key: float(held.chunks[key].vector @ vector.values) for key in keys}


def _words(held: _Space, search: Search, keys: set[str], now: datetime) -> dict[str, float]:
    current = _eligible(held, Search(), now)
    text = search.text or ""
    terms = terms_of(text)
    if search.match is TextMatch.PREFIX:
        terms = completed(text, (chunk.terms for chunk in held.chunks.values()), MAX_COMPLETIONS)
    if search.match is TextMatch.PHRASE:
        keys = {key for key in keys if holds_phrase(held.chunks[key].text, text)}
    return bm25(
        terms,
        {key: held.chunks[key].terms for key in keys},
        [held.chunks[key].terms for key in current],
    )


def _hits(
    held: _Space,
    search: Search,
    vector: dict[str, float],
    text: dict[str, float],
    now: datetime,
) -> list[Hit]:
    if search.fusion is FusionKind.NONE:
        scored = {key: (score, Scores(vector=score)) for key, score in vector.items()}
        scored |= {key: (score, Scores(text=score)) for key, score in text.items()}
    else:
        pool = max(100, 4 * search.limit)
        scored = fuse(vector, text, pool=pool, text_weight=search.text_weight, fusion=search.fusion)
    floor = -2.0 if search.min_score is None else search.min_score
    passing = {key: score for key, (score, _) in scored.items() if score >= floor}
    instant = search.as_of or now
    ranks = ranked(passing, search.limit)
    return [
        Hit(_view(held, key, instant), passing[key], _with_rank(scored[key][1], rank))
        for rank, key in enumerate(ranks, 1)
    ]


def _with_rank(parts: Scores, rank: int) -> Scores:
    if parts.vector_fused is not None or parts.text_fused is not None:
        return parts
    if parts.vector is not None:
        return Scores(vector=parts.vector, vector_rank=rank)
    return Scores(text=parts.text, text_rank=rank)


def _view(held: _Space, key: str, instant: datetime) -> Chunk:
    document_id = held.chunks[key].document_id
    having = [v for v in held.documents[document_id] if any(c.id == key for c in v.document.chunks)]
    version = max(having, key=lambda v: (v.stored.holds_at(instant), v.stored.valid_from))
    document = version.document
    ordinal, chunk = next((i, c) for i, c in enumerate(document.chunks) if c.id == key)
    return Chunk(
        id=key,
        document_id=document_id,
        title=document.title,
        source=document.source,
        content=chunk.content,
        ordinal=ordinal,
        start_char=chunk.start_char,
        end_char=chunk.end_char,
        metadata=document.metadata,
        valid_time=version.stored.valid_from,
    )


def _document(version: _Version) -> Document:
    return Document(
        document_id=version.document.document_id,
        title=version.document.title,
        source=version.document.source,
        metadata=version.document.metadata,
        version=version.stored.version,
        valid_time=version.stored.valid_from,
        create_time=version.written,
        chunk_count=len(version.document.chunks),
    )
