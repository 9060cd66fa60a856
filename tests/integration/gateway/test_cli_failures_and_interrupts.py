"""How the `braid` command ends: failures as JSON, full output devices, closed pipes, Ctrl-C."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2, models_pb2
from tests.integration.gateway.command import RUNNING, braid, ended_of, started
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    COMPREHENSIVE,
    JOB_ID,
)

FULL = Path("/dev/full")


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("search", "who", "--limit", "51", "--json"), 2, "INVALID_FIELD"),
        (("search", "--json"), 2, "USAGE"),
        (("jobs", "list", "--limit", "many", "--json"), 2, "USAGE"),
    ],
)
async def test_a_failure_as_json_is_one_object(
    served: Served, arguments: tuple[str, ...], code: int, reason: str
) -> None:
    ended = await braid(served, *arguments)
    failure = ended.json()
    assert (ended.code, failure["reason"]) == (code, reason)
    assert failure["detail"] in ended.err
    by_gateway = reason == "INVALID_FIELD"
    assert ("request_id" in failure, "fields" in failure) == (by_gateway, by_gateway)


async def test_a_failed_job_as_json_is_only_the_job(served: Served) -> None:
    failed = jobs_pb2.Job(id=JOB_ID, state=jobs_pb2.JOB_STATE_FAILED)
    answer = models_pb2.StartReembeddingResponse(job=failed)
    served.script.answer("StartReembedding", answer)
    ended = await braid(served, "space", "reembed", "--json")
    assert (ended.code, ended.json()["job"]["state"]) == (1, "FAILED")
    assert "the job failed" in ended.err


async def test_an_impossible_data_folder_is_reported_in_one_line(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    ended = await braid(served, "up", BRAID_DATA=str(tmp_path / "file" / "data"))
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == f"braid: {tmp_path / 'file' / 'data'}: not a directory"


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("more", [(), ("--json",)])
async def test_a_full_output_device_is_reported_in_one_line(
    served: Served, more: tuple[str, ...]
) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    with os.fdopen(os.open(FULL, os.O_WRONLY), "wb") as full:
        ended = await ended_of(await started(served, "search", "who", *more, output=full))
    assert ended.code == 1
    assert ended.err == "braid: reading or writing failed: no space left on device\n"


@pytest.mark.parametrize("more", [(), ("--json",)])
async def test_a_closed_output_pipe_is_not_reported(served: Served, more: tuple[str, ...]) -> None:
    served.script.answer("ComprehensiveSearch", COMPREHENSIVE)
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as output:
        ended = await ended_of(await started(served, "search", "who", *more, output=output))
    assert (ended.code, ended.err) == (1, "")


async def test_ctrl_c_reports_that_accepted_jobs_continue(served: Served, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A")
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=RUNNING))
    served.script.hang("ListJobs")
    process = await started(served, "ingest", tmp_path, "--json")
    await served.script.reached.wait()
    process.send_signal(signal.SIGINT)
    ended = await ended_of(process)
    assert (ended.code, ended.json()["reason"]) == (130, "INTERRUPTED")
    assert "jobs that were accepted go on; `braid jobs list` shows them" in ended.err


async def test_ctrl_c_reports_that_the_awaited_job_continues(served: Served) -> None:
    answer = models_pb2.StartReembeddingResponse(job=RUNNING)
    served.script.answer("StartReembedding", answer)
    served.script.hang("GetJob")
    process = await started(served, "space", "reembed")
    await served.script.reached.wait()
    process.send_signal(signal.SIGINT)
    ended = await ended_of(process)
    assert (ended.code, ended.out) == (130, "")
    assert f"the job goes on; `braid jobs get {JOB_ID}` shows it" in ended.err
