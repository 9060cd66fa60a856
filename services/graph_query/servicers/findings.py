"""The RPCs AddFindings and SearchFindings."""

from __future__ import annotations

import hashlib
import time

from braid.graph.v1 import findings_pb2
from services.graph_query.embeddings.space_models import QueryVector, SpaceModels
from services.graph_query.findings.domain import FindingStore, Position
from services.graph_query.findings.intake import FindingIntake
from services.graph_query.findings.search import FindingSearch, FindingSearcher
from services.graph_query.servicers import finding_mapping as mapping
from services.graph_query.servicers.finding_mapping import finding_filter
from services.models.embedding.embedder import Embedder
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError
from services.runtime.paging import decode_token, encode_token, page_size

_PAGE_SIZE = 20
_MAX_PAGE_SIZE = 200


_LISTING = "findings"


class FindingHandler:
    """Reads and writes findings of the caller's space."""

    def __init__(self, store: FindingStore, embedder: Embedder, models: SpaceModels) -> None:
        self._intake = FindingIntake(store, models)
        self._searcher = FindingSearcher(store, embedder)

    async def add(
        self, request: findings_pb2.AddFindingsRequest
    ) -> findings_pb2.AddFindingsResponse:
        """Adds findings in one transaction."""
        given = [mapping.finding_input(message) for message in request.findings]
        space = current_call().space
        return mapping.counts(await self._intake.add(space, given, request.embedding_model))

    async def search(
        self, request: findings_pb2.SearchFindingsRequest
    ) -> findings_pb2.SearchFindingsResponse:
        """Searches findings, or lists a page of them."""
        started = time.perf_counter_ns()
        space = current_call().space
        query = (_LISTING, space, _digest(request.filter))
        given = request.query_embedding if request.HasField("query_embedding") else None
        search = FindingSearch(
            query=request.query,
            limit=page_size(request.page_size, default=_PAGE_SIZE, largest=_MAX_PAGE_SIZE),
            only=finding_filter(space, request.filter),
            after=_position(request, query),
            vector=QueryVector(given.embedding_model, list(given.values)) if given else None,
            text_only=request.text_only,
        )
        found = await self._searcher.search(space, search)
        token = encode_token(query, list(found.next)) if found.next else ""
        return mapping.answer(found, token, started)


def _digest(message: findings_pb2.FindingFilter) -> str:
    return hashlib.sha256(message.SerializeToString(deterministic=True)).hexdigest()


def _position(
    request: findings_pb2.SearchFindingsRequest, query: tuple[str, ...]
) -> Position | None:
    if not request.page_token:
        return None
    if request.query.strip():
        raise InvalidFieldError(FieldError("page_token", "goes with an empty query only"))
    created, uuid = decode_token(request.page_token, query, length=2)
    if not isinstance(created, float) or not isinstance(uuid, str):
        raise InvalidFieldError(FieldError("page_token", "is not a token of this service"))
    return Position(created, uuid)
