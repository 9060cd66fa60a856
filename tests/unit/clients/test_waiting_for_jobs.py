"""The Python client waits for a job: until it has ended, or the time is up."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from braid.agent.v1 import jobs_pb2
from braid_client import AsyncBraid, BraidCallError
from services.runtime.errors import DeadlineError, StoreUnavailableError
from services.runtime.server import RunningServer
from tests.unit.clients.conftest import JOB_ID, Backend, targets, without_await


async def test_a_job_that_goes_on_is_answered_as_it_stands_when_the_time_is_up(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.watched = (jobs_pb2.JOB_STATE_QUEUED, jobs_pb2.JOB_STATE_RUNNING)
    backend.stays = True
    job = await client.wait_for_job(JOB_ID, timeout=1)
    assert (job.id, job.state) == (JOB_ID, jobs_pb2.JOB_STATE_RUNNING)


async def test_the_same_job_without_await(server: RunningServer, backend: Backend) -> None:
    backend.watched = (jobs_pb2.JOB_STATE_RUNNING, grpc.StatusCode.DEADLINE_EXCEEDED)
    job = await without_await(server, lambda braid: braid.wait_for_job(JOB_ID))
    assert job.state == jobs_pb2.JOB_STATE_RUNNING


async def test_a_job_that_nothing_was_heard_of_in_time_is_an_error(
    client: AsyncBraid, backend: Backend
) -> None:
    backend.watched = (grpc.StatusCode.DEADLINE_EXCEEDED,)
    with pytest.raises(BraidCallError) as late:
        await client.wait_for_job(JOB_ID)
    assert late.value.failure.code is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize("failure", [DeadlineError(), StoreUnavailableError("postgresql")])
async def test_a_watch_that_fails_before_its_time_is_an_error_and_no_state(
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
async def test_a_wait_ends_with_the_job_however_it_ends(
    client: AsyncBraid, backend: Backend, state: jobs_pb2.JobState.ValueType
) -> None:
    backend.watched = (state,)
    backend.stays = True
    async with asyncio.timeout(30):
        job = await client.wait_for_job(JOB_ID)
    assert job.state == state


async def test_a_wait_of_no_time_is_over_at_once(server: RunningServer, backend: Backend) -> None:
    backend.watched = ()
    backend.stays = True
    async with AsyncBraid(**targets(server), timeout=600) as patient, asyncio.timeout(30):
        with pytest.raises(BraidCallError) as late:
            await patient.wait_for_job(JOB_ID, timeout=0)
    assert late.value.failure.code is grpc.StatusCode.DEADLINE_EXCEEDED
