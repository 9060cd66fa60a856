"""`python -m tests.benchmarks.noop_server`: a gRPC endpoint that does nothing, as a target for excess load.

Writes its address to standard output, and ends on SIGTERM.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import grpc
import uvloop

NOTHING = "/benchmark.Nothing/Do"


async def _nothing(_request: bytes, _context: Any) -> bytes:
    return b""


async def serve() -> None:
    """Responds with nothing until SIGTERM."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    service, method = NOTHING.lstrip("/").split("/")
    handler: Any = grpc.unary_unary_rpc_method_handler(_nothing)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {method: handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"127.0.0.1:{port}\n")
    sys.stdout.flush()
    await stopped.wait()
    await server.stop(0)


if __name__ == "__main__":
    uvloop.run(serve())
