"""An additional process of a service over a running stack's stores, with its own settings."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping

from deploy.local.ports import LOOPBACK, free_ports
from deploy.local.probes import listening
from deploy.local.processes import BRAID
from deploy.local.stack import LocalStack
from deploy.local.waiting import ignore
from tests.benchmarks.command import MeasureError
from tests.benchmarks.harness import SETTINGS

_READY_SECONDS = 60.0


@contextlib.asynccontextmanager
async def side_process(
    stack: LocalStack, name: str, settings: Mapping[str, str]
) -> AsyncIterator[str]:
    """Runs the process; yields its address once it is ready. Callers without a key are in the space `local`.

    Raises MeasureError if it does not start.
    """
    [spec] = [spec for spec in BRAID if spec.name == name]
    address = f"{LOOPBACK}:{free_ports(1)[0]}"
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
        **stack.stores.environment(),
        **SETTINGS,
        spec.listen: address,
        **settings,
    }
    # A gateway is ready only with all services, which may not all run here.
    probe = listening if name == "gateway" else spec.probe
    process = await asyncio.create_subprocess_exec(
        *spec.program, env=environment, start_new_session=True
    )
    try:
        try:
            async with asyncio.timeout(_READY_SECONDS):
                await probe(address, ignore)
        except TimeoutError:
            raise MeasureError(f"{name} did not start; see above") from None
        yield address
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.shield(process.wait())
