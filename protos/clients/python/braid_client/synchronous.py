"""The synchronous client, whose methods are derived from those of `AsyncBraid`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypedDict, Unpack

from braid_calls.blocking import BlockingCalls
from braid_client.asynchronous import AsyncBraid
from braid_client.blocking import call, stream
from braid_client.loop_thread import LoopThread

if TYPE_CHECKING:
    import grpc

    from braid_client.tls import Tls


class ConnectionOptions(TypedDict, total=False):
    """Options of both clients; documented at `AsyncBraid`."""

    vector_target: str
    graph_target: str
    api_key: str | None
    space: str | None
    user: str | None
    timeout: float
    credentials: grpc.ChannelCredentials | None
    tls: Tls | None


class Braid(BlockingCalls):
    """Takes the options of `AsyncBraid`, and may be used from any number of threads. Close it, or use `with`."""

    def __init__(
        self, target: str = "127.0.0.1:50050", **options: Unpack[ConnectionOptions]
    ) -> None:
        self._client = AsyncBraid(target, **options)  # first: invalid options start no thread
        self._thread = LoopThread("braid-client")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all channels and ends the thread; running and later calls raise RuntimeError."""
        self._thread.close(self._client.close)

    list_findings = stream(AsyncBraid.list_findings)
    list_quarantined_items = stream(AsyncBraid.list_quarantined_items)
    export_whole_memory = stream(AsyncBraid.export_whole_memory)

    ingest_document = call(AsyncBraid.ingest_document)
    wait_for_job = call(AsyncBraid.wait_for_job)
    ingest_facts = call(AsyncBraid.ingest_facts)

    ask = call(AsyncBraid.ask)
    stream_ask = stream(AsyncBraid.stream_ask)
    run_events = stream(AsyncBraid.run_events)
