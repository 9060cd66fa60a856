"""The contract's SearchService: handles streams and field names; `comprehensive` searches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from braid.agent.v1 import search_pb2, search_pb2_grpc
from services.agent_orchestrator.search.legs import LegOutcome
from services.runtime.errors import BraidError, FieldError, InvalidFieldError

if TYPE_CHECKING:
    from services.agent_orchestrator.search.comprehensive import ComprehensiveSearch
    from services.agent_orchestrator.search.expanded_hybrid import ExpandedHybrid
    from services.runtime.admission import AdmissionQueue

Part = search_pb2.StreamComprehensiveSearchResponse


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Comprehensive search, as one answer or as a stream.

    A stream occupies one of `slots` only during its search: a caller that reads slowly does not block others.
    """

    def __init__(
        self, search: ComprehensiveSearch, hybrid: ExpandedHybrid, slots: AdmissionQueue
    ) -> None:
        self._search = search
        self._hybrid = hybrid
        self._slots = slots

    async def ComprehensiveSearch(
        self, request: search_pb2.ComprehensiveSearchRequest, _context: Any
    ) -> search_pb2.ComprehensiveSearchResponse:
        """Returns both legs' results and the fused list."""
        try:
            return await self._search.run(request)
        except BraidError as error:
            raise _in_own_words(error) from None

    async def StreamComprehensiveSearch(
        self, request: search_pb2.StreamComprehensiveSearchRequest, _context: Any
    ) -> AsyncIterator[search_pb2.StreamComprehensiveSearchResponse]:
        """Streams each leg as it ends, then the whole answer."""
        parts: asyncio.Queue[Part | None] = asyncio.Queue()
        searching = asyncio.create_task(self._search_into(request.search, parts))
        try:
            while (part := await parts.get()) is not None:
                yield part
            yield Part(final=searching.result())
        except BraidError as error:
            raise _in_own_words(error, "search.") from None
        finally:
            # The caller may have disconnected: the legs are then cancelled.
            searching.cancel()
            await asyncio.gather(searching, return_exceptions=True)

    async def ExpandedHybridSearch(
        self, request: search_pb2.ExpandedHybridSearchRequest, _context: Any
    ) -> search_pb2.ExpandedHybridSearchResponse:
        """Searches chunks by meaning and words, and expands the result."""
        return await self._hybrid.run(request)

    async def _search_into(
        self, request: search_pb2.ComprehensiveSearchRequest, parts: asyncio.Queue[Part | None]
    ) -> search_pb2.ComprehensiveSearchResponse:
        try:
            async with self._slots.slot():
                return await self._search.run(
                    request, lambda outcome: parts.put_nowait(Part(leg=_leg(outcome)))
                )
        finally:
            parts.put_nowait(None)


def _leg(outcome: LegOutcome) -> search_pb2.LegResults:
    return search_pb2.LegResults(
        report=outcome.report, vector_results=outcome.chunks, graph_results=outcome.facts
    )


def _in_own_words(error: BraidError, prefix: str = "") -> BraidError:
    """Returns a tier's field errors with the caller's field names."""
    named = tuple(
        FieldError(prefix + field.removesuffix(".instant"), description)
        for field, description in error.fields
    )
    return InvalidFieldError(*named) if named else error
