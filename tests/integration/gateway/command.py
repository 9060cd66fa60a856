"""Runs the `braid` command as a program against a gateway over scripted services."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from braid.agent.v1 import jobs_pb2
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    JOB_ID,
)

DONE = jobs_pb2.Job(
    id=JOB_ID,
    state=jobs_pb2.JOB_STATE_SUCCEEDED,
    unit_count=1,
    searchable_count=1,
    graph_ready_count=1,
)

RUNNING = jobs_pb2.Job(id=JOB_ID, state=jobs_pb2.JOB_STATE_RUNNING, unit_count=1)


@dataclass
class Ended:
    """The exit code and output of the command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Returns its output as JSON."""
        return json.loads(self.out)


async def started(
    served: Served,
    *arguments: str | Path,
    output: int | IO[bytes] = PIPE,
    environment: Mapping[str, str] = MappingProxyType({}),
    cwd: Path | None = None,
) -> Process:
    """Starts the command against the gateway."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway.cli",
        *arguments,
        env=os.environ | {"BRAID_URL": served.url, "COLUMNS": "80", **environment},
        stdout=output,
        stderr=PIPE,
        cwd=cwd,
    )


async def ended_of(process: Process) -> Ended:
    """Waits for the end of the command, which must print no traceback. Returns its exit code and output."""
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert "Traceback" not in err.decode()
    assert "Exception ignored" not in err.decode()
    assert process.returncode is not None
    return Ended(process.returncode, (out or b"").decode(), err.decode())


async def braid(
    served: Served, *arguments: str | Path, cwd: Path | None = None, **environment: str
) -> Ended:
    """Runs the command against the gateway."""
    return await ended_of(await started(served, *arguments, environment=environment, cwd=cwd))
