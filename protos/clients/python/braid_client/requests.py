"""Builders of the contracts' messages from plain Python values, shared by several calls."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from google.protobuf.timestamp_pb2 import Timestamp

from braid.agent.v1 import search_pb2
from braid.common.v1 import reranking_pb2, retrieval_pb2
from braid.common.v1.expansion_pb2 import ExpansionMode, ExpansionOptions
from braid.common.v1.retrieval_pb2 import TimeRange, TimeSelector
from braid.graph.v1.entities_pb2 import EntitySelector
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from braid.common.v1.reranking_pb2 import RerankMode
    from braid.common.v1.retrieval_pb2 import QueryEmbedding

# An entity by its name or by a selector.
EntityLike: TypeAlias = str | EntitySelector
# How to expand: a mode, or options with one.
ExpansionLike: TypeAlias = "ExpansionOptions | ExpansionMode.ValueType"
# An instant, or a half-open range.
TimeLike: TypeAlias = datetime | TimeRange
_HEADER_TEXT = re.compile(r"[ -~]*")


def comprehensive(
    query: str,
    *,
    limit: int | None,
    use_vector: bool,
    use_graph: bool,
    use_memories: bool,
    text_weight: float | None,
    as_of: datetime | None,
    chunk_filter: chunks_pb2.ChunkFilter | None,
    cache: retrieval_pb2.CacheMode.ValueType | None,
    include: Sequence[search_pb2.AnswerPart.ValueType],
    expansion: ExpansionLike | None,
    rerank: RerankMode.ValueType | None,
) -> search_pb2.ComprehensiveSearchRequest:
    """Builds a comprehensive search; None means the contract's default."""
    return search_pb2.ComprehensiveSearchRequest(
        query=query,
        limit=limit,
        use_vector=use_vector,
        use_graph=use_graph,
        use_memories=use_memories,
        text_weight=text_weight,
        as_of=timestamp(as_of),
        filter=chunk_filter,
        cache=cache_mode(cache),
        include=include,
        expansion=expansion_options(expansion),
        rerank=reranking_pb2.RERANK_MODE_UNSPECIFIED if rerank is None else rerank,
    )


def hybrid(
    query: str,
    *,
    limit: int | None,
    text_weight: float | None,
    fusion: chunks_pb2.Fusion.ValueType | None,
    as_of: datetime | None,
    chunk_filter: chunks_pb2.ChunkFilter | None,
    min_score: float | None,
    query_embedding: QueryEmbedding | None,
    cache: retrieval_pb2.CacheMode.ValueType | None,
) -> vector_pb2.HybridSearchRequest:
    """Builds a hybrid search; None means the contract's default."""
    return vector_pb2.HybridSearchRequest(
        query=query,
        limit=limit,
        text_weight=text_weight,
        fusion=chunks_pb2.FUSION_UNSPECIFIED if fusion is None else fusion,
        as_of=timestamp(as_of),
        filter=chunk_filter,
        min_score=min_score,
        query_embedding=query_embedding,
        cache=cache_mode(cache),
    )


def expansion_options(expansion: ExpansionLike | None) -> ExpansionOptions | None:
    """Returns the options, or options with the given mode. Raises TypeError for other types."""
    if expansion is None or isinstance(expansion, ExpansionOptions):
        return expansion
    if isinstance(expansion, bool) or not isinstance(expansion, int):
        raise TypeError(
            f"expansion must be ExpansionOptions or an ExpansionMode, not {type(expansion).__name__}"
        )
    return ExpansionOptions(mode=expansion)


def cache_mode(
    cache: retrieval_pb2.CacheMode.ValueType | None,
) -> retrieval_pb2.CacheMode.ValueType:
    """Returns the cache mode, the contract's default for None. Raises TypeError for a bool."""
    # As a number, False would be the default mode, which uses the cache.
    if isinstance(cache, bool):
        raise TypeError("cache must be a CacheMode, such as chunks_pb2.CACHE_MODE_BYPASS")
    return retrieval_pb2.CACHE_MODE_UNSPECIFIED if cache is None else cache


def timestamp(value: datetime | None) -> Timestamp | None:
    """Converts an aware datetime to a timestamp.

    Raises TypeError for other types, and ValueError for a naive datetime or one before year 1 or after 9999 in UTC.
    """
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise TypeError(f"times must be datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise ValueError("times need a zone: datetime(..., tzinfo=UTC)")
    stamp = Timestamp()
    try:
        stamp.FromDatetime(value.astimezone(UTC))
    except OverflowError:
        raise ValueError("times must be within the years 1 to 9999 in UTC") from None
    return stamp


def entity_selector(entity: EntityLike) -> EntitySelector:
    """Returns the selector, or a selector for the given name. Raises TypeError for other types."""
    if isinstance(entity, EntitySelector):
        return entity
    if not isinstance(entity, str):
        raise TypeError(f"entities must be str or EntitySelector, not {type(entity).__name__}")
    return EntitySelector(name=entity)


def time_selector(value: TimeLike | None) -> TimeSelector | None:
    """Converts an aware datetime or a range to a time selector. Raises as `timestamp` does."""
    if isinstance(value, TimeRange):
        return TimeSelector(range=value)
    return None if value is None else TimeSelector(instant=timestamp(value))


def call_metadata(
    api_key: str | None, space: str | None, user: str | None
) -> Sequence[tuple[str, str]]:
    """Returns the metadata of a call: the credential and, for a delegate, the space and user on whose behalf it calls.

    Raises TypeError for other types than str, and ValueError for characters that headers do not allow (only printable
    ASCII).
    """
    for argument, text in (("api_key", api_key), ("space", space), ("user", user)):
        _check_header(argument, text)
    named = (
        ("authorization", f"Bearer {api_key}" if api_key else None),
        ("braid-space", space),
        ("braid-user", user),
    )
    return tuple((name, value) for name, value in named if value is not None)


def _check_header(argument: str, text: str | None) -> None:
    # The message omits the text itself, which may be a key.
    if text is None:
        return
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be str, not {type(text).__name__}")
    if not _HEADER_TEXT.fullmatch(text):
        raise ValueError(f"{argument} must be printable ASCII")
