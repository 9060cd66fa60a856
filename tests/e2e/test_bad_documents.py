"""Documents and requests that could break the rules of the stores are handled or rejected over REST."""

from __future__ import annotations

import base64
import contextlib
import json
from http.client import HTTPConnection
from typing import Any

import httpx2
import pytest

from gateway.cli.api import Api
from tests.e2e.conftest import HOSTILE_KEY, System

# The maximum length of a chunk in the contract, in characters.
MAX_CHARACTERS = 32_768
DAY = "2024-01-05T00:00:00Z"


def upload(http: httpx2.Client, **body: Any) -> dict[str, Any]:
    """Uploads a document and returns its job once it has ended."""
    answer = http.post("/api/documents", json=body)
    assert answer.status_code == 202, answer.text
    with Api(str(http.base_url), HOSTILE_KEY) as api:
        *_, job = api.followed(answer.json()["job"])
    return job


def found(http: httpx2.Client, query: str, document_id: str, **more: Any) -> list[str]:
    """The passages of a document that a search finds."""
    body = {"query": query, "limit": 50, "filter": {"document_ids": [document_id]}, **more}
    answer = http.post("/api/search/hybrid", json=body)
    assert answer.status_code == 200, answer.text
    return [hit["content"] for hit in answer.json()["results"]]


def test_a_text_without_breaks_is_split_within_the_maximum_chunk_length(system: System) -> None:
    text = "unbroken " + "x" * (2 * MAX_CHARACTERS)
    with system.client(HOSTILE_KEY) as http:
        job = upload(http, id="long", text=text)
        assert (job["state"], job["failures"]) == ("SUCCEEDED", [])
        chunks = found(http, "unbroken", "long")
        stored = http.get("/api/documents/long").json()
    assert stored["chunk_count"] == job["chunks_written"] == len(stored["chunk_ids"]) > 2
    assert max(map(len, chunks)) < MAX_CHARACTERS


def test_a_second_version_with_the_same_valid_time_is_valid_from_now_on(
    system: System,
) -> None:
    with system.client(HOSTILE_KEY) as http:
        for text in ("The lamp is amber.", "The lamp is violet."):
            job = upload(http, id="lamp", text=text, valid_at=DAY)
            assert (job["state"], job["failures"]) == ("SUCCEEDED", [])
        assert found(http, "lamp", "lamp") == ["The lamp is violet."]
        assert found(http, "lamp", "lamp", as_of=DAY) == ["The lamp is amber."]
        assert http.get("/api/documents/lamp").json()["version"] == 2


@pytest.mark.parametrize("end", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_a_document_dated_at_either_end_of_time_can_be_read(system: System, end: str) -> None:
    with system.client(HOSTILE_KEY) as http:
        job = upload(http, id="ends", text="A clock without hands.", valid_at=end)
        assert (job["state"], job["failures"]) == ("SUCCEEDED", [])
        assert http.get("/api/documents").status_code == 200
        assert found(http, "clock", "ends", as_of=end) == ["A clock without hands."]
        assert http.delete("/api/documents/ends").status_code == 200


@pytest.mark.parametrize("number", ["NaN", "1e400", "-Infinity"])
def test_a_number_that_json_does_not_allow_is_a_field_error(system: System, number: str) -> None:
    body = f'{{"text": "a", "metadata": {{"size": {number}}}}}'
    with system.client(HOSTILE_KEY) as http:
        headers = {"content-type": "application/json"}
        answer = http.post("/api/documents", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["fields"]


@pytest.mark.parametrize("size", [10**9, 99_999_999_999, 2**63])
def test_an_upload_over_the_size_limit_is_rejected_as_too_large(system: System, size: int) -> None:
    """A retryable error would make the caller retry forever."""
    connection = HTTPConnection(system.stack.addresses["gateway"], timeout=30)
    with contextlib.closing(connection):
        connection.putrequest("POST", "/api/documents")
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", str(size))
        connection.endheaders(b"{}")
        assert connection.getresponse().status == 413


@pytest.mark.parametrize("position", [None, 5, True, [], "\ud800"])
def test_a_cursor_with_a_forged_position_is_rejected(system: System, position: Any) -> None:
    with system.client() as http:
        cursor = http.get("/api/documents", params={"limit": 1}).json()["next_cursor"]
        mark, _ = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        forged = base64.urlsafe_b64encode(json.dumps([mark, [position]]).encode()).decode()
        answer = http.get("/api/documents", params={"cursor": forged})
    assert answer.status_code == 422
    assert {wrong["field"] for wrong in answer.json()["fields"]} == {"cursor"}


def test_a_job_kind_with_a_nul_character_is_rejected(system: System) -> None:
    with system.client() as http:
        assert http.get("/api/jobs", params={"kind": "\0"}).status_code == 422
