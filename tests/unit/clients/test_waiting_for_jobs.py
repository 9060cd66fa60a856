"""The Python client waits for a job until it ends or the timeout expires."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from braid.agent.v1 import jobs_pb2
from braid_client import AsyncBraid, BraidCallError
from services.runtime.errors import DeadlineError, StoreUnavailableError
from services.runtime.server import RunningServer
from tests.unit.clients.conftest import JOB_ID, Backend, targets, without_await


async def test_at_the_timeout_a_running_job_is_returned_in_its_current_state(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.watched = (jobs_pb2.JOB_STATE_QUEUED, jobs_pb2.JOB_STATE_RUNNING)
    backend.stays = True
    job = await client.wait_for_job(JOB_ID, timeout=1)
    assert (job.id, job.state) == (JOB_ID, jobs_pb2.JOB_STATE_RUNNING)


async def test_the_sync_client_returns_a_running_job_at_the_timeout(
    server: RunningServer, backend: Backend
) -> None:
    backend.watched = (jobs_pb2.JOB_STATE_RUNNING, grpc.StatusCode.DEADLINE_EXCEEDED)
    job = await without_await(server, lambda braid: braid.wait_for_job(JOB_ID))
    assert job.state == jobs_pb2.JOB_STATE_RUNNING


async def test_a_timeout_before_the_first_state_is_an_error(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.watched = (grpc.StatusCode.DEADLINE_EXCEEDED,)
    with pytest.raises(BraidCallError) as late:
        await client.wait_for_job(JOB_ID)
    assert late.value.failure.code is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize("failure", [DeadlineError(), StoreUnavailableError("postgresql")])
async def test_a_watch_that_fails_before_the_timeout_is_an_error(
    client: AsyncBraid, backend: Backend, failure: Exception
) -> None:
    backend.watched = (jobs_pb2.JOB_STATE_RUNNING, failure)
    with pytest.raises(BraidCallError):
        await client.wait_for_job(JOB_ID)


@pytest.mark.parametrize(
    "state",
    [
        jobs_pb2.JOB_STATE_SUCCEEDED,
        jobs_pb2.JOB_STATE_FAILED,
        jobs_pb2.JOB_STATE_CANCELLED,
    ],
)
async def test_a_wait_ends_when_the_job_ends_in_any_state(
    client: AsyncBraid, backend: Backend, state: jobs_pb2.JobState.ValueType
) -> None:
    backend.watched = (state,)
    backend.stays = True
    async with asyncio.timeout(30):
        job = await client.wait_for_job(JOB_ID)
    assert job.state == state


async def test_a_wait_with_a_timeout_of_zero_ends_immediately(
    server: RunningServer, backend: Backend
) -> None:
    backend.watched = ()
    backend.stays = True
    async with AsyncBraid(**targets(server), timeout=600) as patient, asyncio.timeout(30):
        with pytest.raises(BraidCallError) as late:
            await patient.wait_for_job(JOB_ID, timeout=0)
    assert late.value.failure.code is grpc.StatusCode.DEADLINE_EXCEEDED
