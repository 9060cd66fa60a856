"""`python -m gateway` as a process: it serves at its configured address, refuses unsafe settings, and exits cleanly."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from tests.integration.gateway.scripted import LOOPBACK


@asynccontextmanager
async def started(folder: Path, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Starts the process, and kills it at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway",
        env=os.environ | environment,
        cwd=folder,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(60):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_the_gateway_serves_and_exits_with_code_0_on_sigterm(tmp_path: Path) -> None:
    async with started(tmp_path, BRAID_GATEWAY_LISTEN=f"{LOOPBACK}:0") as process:
        assert process.stderr is not None
        serving = json.loads(await process.stderr.readline())
        async with httpx2.AsyncClient(base_url=f"http://{LOOPBACK}:{serving['port']}") as http:
            alive = await http.get("/healthz")
            await http.get("/readyz")  # not logged either: probes poll
            await http.get("/api/jobs", headers={"x-request-id": "r-1"})
        request = json.loads(await process.stderr.readline())
        while request.get("room") == "event_loop":  # reported on a busy machine
            request = json.loads(await process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        code = await process.wait()
    assert alive.json() == {"status": "ok"}
    logged = (request["route"], request["status"], request["request_id"])
    assert logged == ("/api/jobs", 503, "r-1")
    assert code == 0


async def test_an_invalid_setting_is_reported_in_one_line(tmp_path: Path) -> None:
    async with started(tmp_path, BRAID_DRAIN_SECONDS="soon") as process:
        _, error_output = await process.communicate()
    assert process.returncode == 1
    assert error_output.decode() == "BRAID_DRAIN_SECONDS must be a number\n"


async def test_listening_openly_without_authentication_is_refused_in_one_line(
    tmp_path: Path,
) -> None:
    listen = "0.0.0.0:0"
    async with started(tmp_path, BRAID_GATEWAY_LISTEN=listen) as process:
        _, error_output = await process.communicate()
    assert process.returncode == 1
    (line,) = error_output.decode().splitlines()
    assert line.startswith("refusing to listen on 0.0.0.0:0 without authentication")
