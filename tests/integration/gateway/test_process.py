"""`python -m gateway` as a process: it serves where it is told, refuses what is unsafe, and ends cleanly."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.integration.gateway.scripted import LOOPBACK


@asynccontextmanager
async def started(folder: Path, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process, killed at the end if it still runs."""
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


async def test_it_serves_and_ends_on_sigterm_with_code_0(tmp_path: Path) -> None:
    async with started(tmp_path, BRAID_GATEWAY_LISTEN=f"{LOOPBACK}:0") as process:
        assert process.stderr is not None
        serving = json.loads(await process.stderr.readline())
        async with httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{serving['port']}") as http:
            alive = await http.get("/healthz", headers={"x-request-id": "r-1"})
        request = json.loads(await process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        code = await process.wait()
    assert alive.json() == {"status": "ok"}
    assert (request["route"], request["status"], request["request_id"]) == ("/healthz", 200, "r-1")
    assert code == 0


async def test_a_wrong_setting_is_told_in_one_line(tmp_path: Path) -> None:
    async with started(tmp_path, BRAID_DRAIN_SECONDS="soon") as process:
        _, told = await process.communicate()
    assert process.returncode == 1
    assert told.decode() == "BRAID_DRAIN_SECONDS must be a number\n"


async def test_it_refuses_to_be_open_to_everybody_in_one_line(tmp_path: Path) -> None:
    listen = "0.0.0.0:0"
    async with started(tmp_path, BRAID_GATEWAY_LISTEN=listen) as process:
        _, told = await process.communicate()
    assert process.returncode == 1
    (line,) = told.decode().splitlines()
    assert line.startswith("refusing to listen on 0.0.0.0:0 without authentication")
