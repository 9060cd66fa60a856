"""The same client without `await`: the asyncio client on an event loop of its own, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from braid_client.asynchronous import AsyncBraid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator

    from braid.agent.v1 import ingest_pb2, search_pb2
    from braid.graph.v1 import facts_pb2, query_pb2
    from braid.vector.v1 import search_pb2 as vector_pb2
    from braid_client.options import (
        ComprehensiveOptions,
        DocumentOptions,
        FactOptions,
        HybridOptions,
    )

T = TypeVar("T")
_END = object()


class Braid:
    """Takes what `AsyncBraid` takes, and may be used from any number of threads. Close it, or use `with`."""

    def __init__(self, target: str = "127.0.0.1:50050", **options: Any) -> None:
        self._client = AsyncBraid(target, **options)  # before the thread: wrong options leave none
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="braid-client", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes every channel and ends the thread."""
        if self._loop.is_closed():
            return
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def comprehensive_search(
        self, query: str, **options: Unpack[ComprehensiveOptions]
    ) -> search_pb2.ComprehensiveSearchResponse:
        """As `AsyncBraid.comprehensive_search`."""
        return self._run(self._client.comprehensive_search(query, **options))

    def stream_comprehensive_search(
        self, query: str, **options: Unpack[ComprehensiveOptions]
    ) -> Iterator[search_pb2.StreamComprehensiveSearchResponse]:
        """As `AsyncBraid.stream_comprehensive_search`."""
        return self._each(self._client.stream_comprehensive_search(query, **options))

    def hybrid_search(
        self, query: str, **options: Unpack[HybridOptions]
    ) -> vector_pb2.HybridSearchResponse:
        """As `AsyncBraid.hybrid_search`."""
        return self._run(self._client.hybrid_search(query, **options))

    def search_facts(
        self, query: str, **options: Unpack[FactOptions]
    ) -> query_pb2.SearchFactsResponse:
        """As `AsyncBraid.search_facts`."""
        return self._run(self._client.search_facts(query, **options))

    def neighborhood(
        self, entity_name: str, *, limit: int | None = None
    ) -> query_pb2.GetNeighborhoodResponse:
        """As `AsyncBraid.neighborhood`."""
        return self._run(self._client.neighborhood(entity_name, limit=limit))

    def entities(
        self, *, entity_type: str = "", page_size: int = 200
    ) -> Iterator[facts_pb2.Entity]:
        """As `AsyncBraid.entities`."""
        return self._each(self._client.entities(entity_type=entity_type, page_size=page_size))

    def ingest_document(
        self, data: bytes | str, **options: Unpack[DocumentOptions]
    ) -> ingest_pb2.IngestJob:
        """As `AsyncBraid.ingest_document`."""
        return self._run(self._client.ingest_document(data, **options))

    def wait_for_job(self, job_id: str, *, timeout: float = 600.0) -> ingest_pb2.IngestJob:
        """As `AsyncBraid.wait_for_job`."""
        return self._run(self._client.wait_for_job(job_id, timeout=timeout))

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def _each(self, stream: AsyncIterator[T]) -> Iterator[T]:
        while True:
            item: Any = self._run(_next(stream))
            if item is _END:
                return
            yield item


async def _next(stream: AsyncIterator[Any]) -> Any:
    return await anext(stream, _END)
