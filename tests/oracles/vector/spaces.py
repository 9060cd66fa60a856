"""The content of a space in the in-memory vector store, and its searches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from services.models.embedding.relevance import bend
from services.runtime.errors import FieldError, InvalidFieldError
from services.vector_search.documents.versions import (
    StoredVersion,
    own_time,
    plan_version,
    same_content,
)
from services.vector_search.domain import (
    FOREVER,
    MAX_COMPLETIONS,
    Chunk,
    Deletion,
    Document,
    DocumentVersion,
    FusionKind,
    Hit,
    Model,
    NewChunk,
    NewDocument,
    Outcome,
    QueryVector,
    Scores,
    Search,
    TextMatch,
    Vector,
)
from tests.oracles.vector.bm25 import (
    FUSED_POOL,
    Terms,
    bm25,
    completed,
    full_text_score,
    fuse,
    holds_phrase,
    query_terms,
    ranked,
    terms_of,
    words_of,
)


@dataclass(frozen=True, slots=True)
class Version:
    """A version with its document."""

    stored: StoredVersion
    document: NewDocument
    written: datetime

    def has_at(self, chunk: NewChunk, instant: datetime) -> bool:
        """Returns whether a chunk's own valid time, if any, is not after `instant`."""
        since = own_time(chunk, self.written)
        return since is None or since <= instant


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with the title with which it is searched."""

    document_id: str
    title: str
    content: str
    vector: Vector

    @property
    def text(self) -> str:
        """Returns the searched text."""
        return f"{self.title}\n{self.content}"

    @property
    def terms(self) -> Terms:
        """Returns its words with their counts."""
        return terms_of(self.text)


@dataclass(slots=True)
class Space:
    """The content of a space."""

    model: Model | None = None
    revision: int = 0
    next_change: datetime = FOREVER
    language: str = "english"
    documents: dict[str, list[Version]] = field(default_factory=dict)
    chunks: dict[str, StoredChunk] = field(default_factory=dict)
    deletions: dict[str, Deletion] = field(default_factory=dict)


def raise_revision(state: Space, now: datetime) -> None:
    """Increments the revision after a write, and sets when the next version comes into force."""
    begins = (v.stored.valid_from for versions in state.documents.values() for v in versions)
    state.next_change = min((begin for begin in begins if begin > now), default=FOREVER)
    state.revision += 1


def check_ids(state: Space, document: NewDocument) -> None:
    """Raises InvalidFieldError if a chunk's id belongs to another text or document."""
    for i, chunk in enumerate(document.chunks):
        known = state.chunks.get(chunk.id)
        if known and (known.document_id, known.content) != (document.document_id, chunk.content):
            raise InvalidFieldError(
                FieldError(
                    f"{document.path}.chunks[{i}].id", "is the id of another text or document"
                )
            )


def write_document(state: Space, document: NewDocument, now: datetime) -> Outcome:
    """Writes a document, unless it is unchanged."""
    stored = stored_versions(state, document.document_id)
    same = same_content(stored, document, now)
    if same is not None:
        return Outcome(
            document_id=document.document_id,
            version=same.version,
            valid_from=same.valid_from,
            unchanged=True,
        )
    plan = plan_version(stored, document, now)
    versions = state.documents.setdefault(document.document_id, [])
    renamed = _renamed(state, document, plan.valid_from)
    kept = {chunk.id for chunk in document.chunks}
    retired = 0
    for i, version in enumerate(versions):
        if version.stored.version == plan.closes:
            retired = sum(chunk.id not in kept for chunk in version.document.chunks)
            old = version.stored
            closed = replace(old, valid_until=plan.valid_from)
            versions[i] = Version(closed, version.document, version.written)
    new = StoredVersion(
        plan.version,
        plan.valid_from,
        plan.valid_until,
        document.content_hash,
        is_end=not document.chunks,
    )
    versions.append(Version(new, document, now))
    return Outcome(
        document_id=document.document_id,
        version=plan.version,
        valid_from=plan.valid_from,
        added=_add_chunks(state, document, renamed),
        reindexed=tuple(chunk.id for chunk in document.chunks if chunk.id in renamed),
        retired=retired,
    )


def _add_chunks(state: Space, document: NewDocument, renamed: set[str]) -> tuple[str, ...]:
    added = []
    for chunk in document.chunks:
        known = chunk.id in state.chunks
        if (not known or chunk.id in renamed) and chunk.vector is not None:
            state.chunks[chunk.id] = StoredChunk(
                document.document_id, document.title, chunk.content, chunk.vector
            )
            if not known:
                added.append(chunk.id)
    return tuple(added)


def missing_vectors(state: Space, document: NewDocument, valid_from: datetime) -> set[str]:
    """Returns the chunks without a vector for which a version of `valid_from` needs one."""
    bare = {chunk.id for chunk in document.chunks if chunk.vector is None}
    return (bare - state.chunks.keys()) | (bare & _renamed(state, document, valid_from))


def _renamed(state: Space, document: NewDocument, valid_from: datetime) -> set[str]:
    """Returns the stored chunks whose title changes with a version of `valid_from`."""
    later = {
        chunk.id
        for version in state.documents.get(document.document_id, [])
        if version.stored.valid_from > valid_from
        for chunk in version.document.chunks
    }
    return {
        chunk.id
        for chunk in document.chunks
        if chunk.id in state.chunks
        and chunk.id not in later
        and state.chunks[chunk.id].title != document.title
    }


def stored_versions(state: Space, document_id: str) -> list[StoredVersion]:
    """Returns a document's versions, in the order in which they were written."""
    return [version.stored for version in state.documents.get(document_id, [])]


def version_in_force(state: Space, document_id: str, instant: datetime) -> Version | None:
    """Returns the version in force at an instant."""
    for version in state.documents.get(document_id, []):
        if version.stored.holds_at(instant):
            return version
    return None


def eligible_chunks(state: Space, search: Search, instant: datetime) -> set[str]:
    """Returns the ids of the chunks in force that match the filters."""
    wanted = search.document_ids or tuple(state.documents)
    found = (version_in_force(state, document_id, instant) for document_id in wanted)
    return {
        chunk.id
        for version in found
        if version is not None and _contains(version.document.metadata, search.metadata)
        for chunk in version.document.chunks
        if version.has_at(chunk, instant)
    }


def _contains(have: Any, want: Any) -> bool:
    """Returns whether JSON contains JSON, like PostgreSQL's @>."""
    if isinstance(want, dict):
        return isinstance(have, dict) and all(
            key in have and _contains(have[key], value) for key, value in want.items()
        )
    if isinstance(want, list):
        return isinstance(have, list) and all(
            any(_contains(item, value) for item in have) for value in want
        )
    return bool(have == want) and isinstance(have, bool) == isinstance(want, bool)


def fits(model: Model, vector: QueryVector) -> bool:
    """Returns whether a vector is of a model."""
    return model == Model(vector.model, len(vector.values))


def cosine_scores(state: Space, vector: QueryVector | None, keys: set[str]) -> dict[str, float]:
    """Returns the cosines of chunks by id."""
    if vector is None:
        return {}
    return {key: float(state.chunks[key].vector @ vector.values) for key in keys}


def word_scores(state: Space, search: Search, keys: set[str], now: datetime) -> dict[str, float]:
    """Returns the BM25 scores above 0 of chunks by id."""
    current = eligible_chunks(state, Search(), now)
    text = search.text or ""
    terms = query_terms(text)
    if search.match is TextMatch.PREFIX:
        terms = completed(text, (chunk.terms for chunk in state.chunks.values()), MAX_COMPLETIONS)
    if search.match is TextMatch.PHRASE:
        keys = {key for key in keys if holds_phrase(state.chunks[key].text, text)}
    return bm25(
        terms,
        {key: state.chunks[key].terms for key in keys},
        [state.chunks[key].terms for key in current],
    )


def hits_of(
    state: Space,
    search: Search,
    vector: dict[str, float],
    text: dict[str, float],
    now: datetime,
) -> list[Hit]:
    """Returns the best chunks by the scores of one list, or of both fused."""
    full = full_score(state, search, now) if search.text is not None else 0.0
    if search.fusion is FusionKind.NONE:
        scored = {key: (score, Scores(vector=score)) for key, score in vector.items()}
        scored |= {key: (bend(score / full), Scores(text=score)) for key, score in text.items()}
    else:
        scored = fuse(
            vector,
            text,
            full=full,
            pool=FUSED_POOL,
            text_weight=search.text_weight,
            fusion=search.fusion,
        )
    floor = -2.0 if search.min_score is None else search.min_score
    passing = {key: score for key, (score, _) in scored.items() if score >= floor}
    instant = search.as_of or now
    return [
        Hit(
            chunk_in_view(state, key, instant),
            max(passing[key], 0.0),
            _with_rank(scored[key][1], rank),
        )
        for rank, key in enumerate(ranked(passing, search.limit), 1)
    ]


def full_score(state: Space, search: Search, now: datetime) -> float:
    """Returns the BM25 score that is normalized to 1; a completed last word counts once."""
    corpus = [state.chunks[key].terms for key in eligible_chunks(state, Search(), now)]
    text = search.text or ""
    terms = terms_of(text)
    if search.match is not TextMatch.PREFIX:
        return full_text_score(terms, corpus)
    last = set(words_of(text)[-1:])
    words = (chunk.terms for chunk in state.chunks.values())
    completions = completed(text, words, MAX_COMPLETIONS).keys() - (terms.keys() - last)
    known = {term for term in completions if any(term in one for one in corpus)}
    weights = (full_text_score(Counter([term]), corpus) for term in known or completions)
    others = Counter(terms.keys() - last)
    return full_text_score(others, corpus) + max(weights, default=0.0)


def _with_rank(parts: Scores, rank: int) -> Scores:
    if parts.vector_fused is not None or parts.text_fused is not None:
        return parts
    if parts.vector is not None:
        return Scores(vector=parts.vector, vector_rank=rank)
    return Scores(text=parts.text, text_rank=rank)


def chunk_in_view(state: Space, key: str, instant: datetime) -> Chunk:
    """Returns a chunk as of the version in force at an instant, else of the latest version that has it."""
    document_id = state.chunks[key].document_id
    candidates = [
        (version, ordinal, chunk)
        for version in state.documents[document_id]
        for ordinal, chunk in enumerate(version.document.chunks)
        if chunk.id == key
    ]
    version, ordinal, chunk = max(
        candidates,
        key=lambda found: (
            found[0].stored.holds_at(instant) and found[0].has_at(found[2], instant),
            found[0].stored.valid_from,
        ),
    )
    document = version.document
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
        valid_time=own_time(chunk, version.written) or version.stored.valid_from,
        page=chunk.page,
    )


def document_of(version: Version) -> Document:
    """Converts a version to a document."""
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


def version_of(version: Version) -> DocumentVersion:
    """Converts a version to an entry in the list of versions."""
    stored = version.stored
    return DocumentVersion(
        version=stored.version,
        title=version.document.title,
        source=version.document.source,
        valid_time=stored.valid_from,
        end_time=None if stored.valid_until == FOREVER else stored.valid_until,
        create_time=version.written,
        chunk_count=len(version.document.chunks),
    )
