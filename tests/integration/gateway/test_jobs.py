"""`/api/jobs`: jobs are returned, listed, canceled and retried."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from braid.agent.v1 import jobs_pb2
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    DAY,
    JOB,
    JOB_ID,
    JOB_JSON,
)


async def test_a_job_is_returned_in_its_current_state(served: Served) -> None:
    served.script.answer("GetJob", jobs_pb2.GetJobResponse(job=JOB))
    response = await served.http.get(f"/api/jobs/{JOB_ID}")
    assert response.json() == JOB_JSON


async def test_jobs_are_listed_in_pages_by_state_and_kind(served: Served) -> None:
    page = jobs_pb2.ListJobsResponse(jobs=[JOB], next_page_token="more")
    served.script.answer("ListJobs", page)
    asked = "limit=5&cursor=there&kind=upload&state=FAILED&state=CANCELLED"
    response = await served.http.get(f"/api/jobs?{asked}")
    assert response.json() == {"jobs": [JOB_JSON], "next_cursor": "more"}
    request = served.script.seen[0].message
    assert (request.page_size, request.page_token) == (5, "there")
    assert list(request.kinds) == [jobs_pb2.JOB_KIND_UPLOAD]
    assert list(request.states) == [
        jobs_pb2.JOB_STATE_FAILED,
        jobs_pb2.JOB_STATE_CANCELLED,
    ]


async def test_dead_documents_are_retried_since_a_time(served: Served) -> None:
    answer = jobs_pb2.RetryDeadDocumentsResponse(document_count=3, job_count=2, remaining_count=1)
    served.script.answer("RetryDeadDocuments", answer)
    response = await served.http.post("/api/jobs/dead/retry", params={"since": "2024-05-01"})
    assert response.json() == {"documents": 3, "jobs": 2, "remaining": 1}
    request = served.script.seen[0].message
    assert request.since_time.ToDatetime(UTC) == datetime(2024, 5, 1, tzinfo=UTC)


async def test_dead_documents_are_listed_with_their_reasons(served: Served) -> None:
    failure = jobs_pb2.JobFailure(
        document_id="a", reason="is empty", stage=jobs_pb2.JOB_STAGE_SEARCH
    )
    dead = jobs_pb2.DeadDocument(job_id=JOB_ID, failure=failure, create_time=to_timestamp(DAY))
    served.script.answer("ListDeadDocuments", jobs_pb2.ListDeadDocumentsResponse(documents=[dead]))
    response = await served.http.get("/api/jobs/dead")
    expected = {"id": "a", "reason": "is empty", "stage": "search", "job_id": JOB_ID}
    assert response.json() == {
        "documents": [expected | {"failed_at": "2024-04-18T00:00:00Z"}],
        "next_cursor": None,
    }


@pytest.mark.parametrize("verb", ["cancel", "retry"])
async def test_a_job_can_be_canceled_and_retried(served: Served, verb: str) -> None:
    rpc = f"{verb.title()}Job"
    answers = {
        "cancel": jobs_pb2.CancelJobResponse(job=JOB),
        "retry": jobs_pb2.RetryJobResponse(job=JOB),
    }
    served.script.answer(rpc, answers[verb])
    response = await served.http.post(f"/api/jobs/{JOB_ID}/{verb}")
    assert response.json() == JOB_JSON
    assert served.script.seen[0].message.job_id == JOB_ID
