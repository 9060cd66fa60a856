"""`python -m tests.benchmarks.otlp_sink`: a collector that accepts traces and metrics and discards them.

Writes its address to standard output, and ends on SIGTERM.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import grpc
import uvloop

_SERVICES = {
    "opentelemetry.proto.collector.trace.v1.TraceService": "Export",
    "opentelemetry.proto.collector.metrics.v1.MetricsService": "Export",
}


async def _accept(_request: bytes, _context: Any) -> bytes:
    return b""


async def serve() -> None:
    """Accepts exports until SIGTERM."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    server = grpc.aio.server()
    handler: Any = grpc.unary_unary_rpc_method_handler(_accept)
    server.add_generic_rpc_handlers(
        tuple(
            grpc.method_handlers_generic_handler(service, {method: handler})
            for service, method in _SERVICES.items()
        )
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await stopped.wait()
    await server.stop(0)


if __name__ == "__main__":
    uvloop.run(serve())
