"""The RPCs about relations between chunks, and Expand."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence

from cachetools import LRUCache

from braid.common.v1.retrieval_pb2 import CACHE_MODE_BYPASS
from braid.graph.v1 import expansion_pb2, relations_pb2
from services.graph_query.expansion.domain import Neighborhood
from services.graph_query.expansion.formula import Ranking, expand
from services.graph_query.expansion.store import Position, RelationStore, UnknownEndsError
from services.graph_query.servicers import relation_mapping as mapping
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import decode_token, encode_token, page_size

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
_LISTING = "relations"
# Bytes of cached answers, for all spaces.
_CACHE_BYTES = 32 * 1024 * 1024


class RelationCalls:
    """Reads and writes relations between the chunks of the caller's space."""

    def __init__(self, store: RelationStore) -> None:
        self._store = store

    async def put(
        self, request: relations_pb2.PutRelationsRequest
    ) -> relations_pb2.PutRelationsResponse:
        """Stores relations. Raises InvalidFieldError for ends that are not chunks of the space."""
        relations = [mapping.relation_input(message) for message in request.relations]
        _require_distinct([(one.source, one.target, one.type) for one in relations], "relations")
        try:
            counts = await self._store.put(current_call().space, relations)
        except UnknownEndsError as error:
            description = "is not the id of a chunk of this space"
            raise InvalidFieldError(
                *(
                    FieldError(f"relations[{place}].{field}", description)
                    for place, field in error.ends
                )
            ) from None
        return relations_pb2.PutRelationsResponse(
            created_count=counts.created,
            updated_count=counts.updated,
            unchanged_count=counts.unchanged,
            space_revision=counts.revision,
        )

    async def delete(
        self, request: relations_pb2.DeleteRelationsRequest
    ) -> relations_pb2.DeleteRelationsResponse:
        """Removes relations."""
        keys = [mapping.relation_key(message) for message in request.relations]
        counts = await self._store.delete(current_call().space, keys)
        return relations_pb2.DeleteRelationsResponse(
            deleted_count=counts.deleted, space_revision=counts.revision
        )

    async def list(
        self, request: relations_pb2.ListRelationsRequest
    ) -> relations_pb2.ListRelationsResponse:
        """Returns a page of relations."""
        space = current_call().space
        only = mapping.relation_filter(request)
        query = (
            _LISTING,
            space,
            only.chunk,
            only.direction.value,
            *sorted(only.types),
            only.origin.value if only.origin else "",
        )
        size = page_size(request.page_size, default=DEFAULT_PAGE_SIZE, largest=MAX_PAGE_SIZE)
        after = _position(request.page_token, query)
        found = await self._store.list(space, only, after, size + 1)
        token = ""
        if len(found) > size:
            last = found[size - 1].given
            token = encode_token(query, [last.source, last.target, last.type.value])
        return relations_pb2.ListRelationsResponse(
            relations=[mapping.relation(one) for one in found[:size]], next_page_token=token
        )

    async def stats(self) -> relations_pb2.GetRelationStatsResponse:
        """Returns counts of the space's relations."""
        return mapping.relation_counts(await self._store.counts(current_call().space))


class ExpansionCalls:
    """Expands ranked lists of the caller's space. Answers are cached until the space changes."""

    def __init__(self, store: RelationStore) -> None:
        self._store = store
        self._answers: LRUCache[tuple[str, bytes], expansion_pb2.ExpandResponse] = LRUCache(
            _CACHE_BYTES, getsizeof=lambda answer: answer.ByteSize()
        )

    async def expand(self, request: expansion_pb2.ExpandRequest) -> expansion_pb2.ExpandResponse:
        """Expands the list along relations."""
        _require_distinct([seed.chunk_id.lower() for seed in request.seeds], "seeds")
        space = current_call().space
        key = (space, request.SerializeToString(deterministic=True))
        bypass = request.cache == CACHE_MODE_BYPASS
        known = None if bypass else await self._remembered(space, key)
        if known is not None:
            return known
        seeds = mapping.seeds(request)
        along = mapping.traversal(request)
        around = await self._store.around(space, list(seeds), along)
        answer = await asyncio.to_thread(_expanded, seeds, around, mapping.ranking(request))
        # If relations begin or end, an answer about now is valid at this moment only.
        lasting = request.HasField("as_of") or not around.timed
        if lasting and not bypass and answer.ByteSize() <= _CACHE_BYTES // 100:
            self._answers[key] = answer
        return answer

    async def _remembered(
        self, space: str, key: tuple[str, bytes]
    ) -> expansion_pb2.ExpandResponse | None:
        known = self._answers.get(key)
        if known is None or await self._store.revision(space) != known.space_revision:
            return None
        answer = expansion_pb2.ExpandResponse()
        answer.CopyFrom(known)
        answer.cached = True
        return answer


def _expanded(
    seeds: Mapping[str, float], around: Neighborhood, ranking: Ranking
) -> expansion_pb2.ExpandResponse:
    """The answer: tens of thousands of relations take a while to compute on."""
    return mapping.expanded(expand(seeds, around, ranking), around)


def _require_distinct(keys: Sequence[Hashable], field: str) -> None:
    seen = set()
    for place, key in enumerate(keys):
        if key in seen:
            raise InvalidFieldError(FieldError(f"{field}[{place}]", "occurs twice"))
        seen.add(key)


def _position(token: str, query: tuple[str, ...]) -> Position:
    if not token:
        return Position()
    values = decode_token(token, query, length=len(Position._fields))
    if not all(isinstance(part, str) for part in values):
        raise InvalidFieldError(FieldError("page_token", "is not a token of this service"))
    return Position(*values)
