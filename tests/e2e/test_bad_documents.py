"""Documents that would break a rule of the stores, as a caller of REST sends them: none of them does."""

from __future__ import annotations

from typing import Any

import httpx

from gateway.cli.api import Api
from tests.e2e.conftest import HOSTILE_KEY, System

# What the contract lets a chunk have, in characters.
MOST_CHARACTERS = 32_768
DAY = "2024-01-05T00:00:00Z"


def upload(http: httpx.Client, **body: Any) -> dict[str, Any]:
    """A document's job once it has ended."""
    answer = http.post("/api/documents", json=body)
    assert answer.status_code == 202, answer.text
    with Api(str(http.base_url), HOSTILE_KEY) as api:
        *_, job = api.followed(answer.json()["job"])
    return job


def found(http: httpx.Client, query: str, document_id: str, **more: Any) -> list[str]:
    """What of a document a search finds."""
    body = {"query": query, "limit": 50, "filter": {"document_ids": [document_id]}, **more}
    answer = http.post("/api/search/hybrid", json=body)
    assert answer.status_code == 200, answer.text
    return [hit["content"] for hit in answer.json()["results"]]


def test_a_text_longer_than_a_chunk_may_be_is_cut_wherever_it_has_no_end(system: System) -> None:
    text = "unbroken " + "x" * (2 * MOST_CHARACTERS)
    with system.client(HOSTILE_KEY) as http:
        job = upload(http, id="long", text=text)
        assert (job["state"], job["failures"]) == ("SUCCEEDED", [])
        chunks = found(http, "unbroken", "long")
        stored = http.get("/api/documents/long").json()
    assert stored["chunk_count"] == job["chunks_written"] == len(stored["chunk_ids"]) > 2
    assert max(map(len, chunks)) < MOST_CHARACTERS


def test_of_two_versions_with_the_same_valid_time_the_later_upload_holds_from_now_on(
    system: System,
) -> None:
    with system.client(HOSTILE_KEY) as http:
        for text in ("The lamp is amber.", "The lamp is violet."):
            job = upload(http, id="lamp", text=text, valid_at=DAY)
            assert (job["state"], job["failures"]) == ("SUCCEEDED", [])
        assert found(http, "lamp", "lamp") == ["The lamp is violet."]
        assert found(http, "lamp", "lamp", as_of=DAY) == ["The lamp is amber."]
        assert http.get("/api/documents/lamp").json()["version"] == 2
