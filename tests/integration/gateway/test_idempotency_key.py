"""The header `Idempotency-Key` reaches the services; requests without it get a key for the channel's retries."""

from __future__ import annotations

import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2, memories_pb2
from braid_protocol.idempotency import keyed_part
from services.runtime.errors import CallInProgressError, KeyReusedError
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import JOB

MEMORY = memories_pb2.CreateMemoryResponse()


def keys(served: Served, count: int) -> list[str]:
    """Returns the keys of the calls that the services received."""
    found = [keyed_part(seen.messages[0]) for seen in served.script.seen]
    given = [part.idempotency_key for part in found if hasattr(part, "idempotency_key")]
    assert len(given) == count
    return given


@pytest.mark.parametrize("header", ["k-1", '"k-1"'])
async def test_the_header_becomes_the_key_of_the_call(served: Served, header: str) -> None:
    served.script.answer("CreateMemory", MEMORY)
    headers = {"idempotency-key": header}
    response = await served.http.post("/api/memories", json={"content": "a"}, headers=headers)
    assert response.is_success
    assert keys(served, 1) == ["k-1"]


async def test_each_request_without_the_header_gets_a_key_of_its_own(served: Served) -> None:
    served.script.answer("CreateMemory", MEMORY)
    for _ in range(2):
        await served.http.post("/api/memories", json={"content": "a"})
    assert len(set(keys(served, 2))) == 2


async def test_an_invalid_header_is_named_in_the_error(served: Served) -> None:
    served.script.answer("CreateMemory", MEMORY)
    headers = {"idempotency-key": "x" * 256}
    response = await served.http.post("/api/memories", json={"content": "a"}, headers=headers)
    assert response.status_code == 422
    assert [one["field"] for one in response.json()["fields"]] == ["Idempotency-Key"]


async def test_a_key_of_another_request_and_of_a_running_one_have_their_own_statuses(
    served: Served,
) -> None:
    served.script.fail("CreateMemory", KeyReusedError())
    response = await served.http.post("/api/memories", json={"content": "a"})
    assert (response.status_code, response.json()["reason"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    served.script.fail("CreateMemory", CallInProgressError())
    response = await served.http.post("/api/memories", json={"content": "a"})
    assert (response.status_code, response.json()["reason"]) == (409, "CALL_IN_PROGRESS")
    assert response.headers["retry-after"] == "1"


async def test_each_file_of_an_upload_has_a_key_of_its_own_which_a_repetition_repeats(
    served: Served,
) -> None:
    served.script.answer("CheckIngestCapacity", ingest_pb2.CheckIngestCapacityResponse())
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=JOB))
    assert JOB.state != jobs_pb2.JOB_STATE_UNSPECIFIED
    files = [("files", (f"{name}.txt", b"text", "text/plain")) for name in "ab"]
    for _ in range(2):
        headers = {"idempotency-key": "k-1"}
        response = await served.http.post("/api/documents", files=files, headers=headers)
        assert response.is_success
    first, second, *repeated = keys(served, 4)
    assert first == "k-1"
    assert first != second
    assert repeated == [first, second]
