"""Loads content that every kind of search finds with the fuzzer's words, because empty responses hide defects."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import httpx2

from tests.fuzz.messages import WORDS

_QUERY = " ".join(WORDS[:4])
# The loaded content answers these questions; the user's entity memory answers the second one.
QUESTIONS = (_QUERY, "What tools do I use?")
_POLLS, _POLL_SECONDS = 600, 0.2
_ENDED = {"SUCCEEDED", "FAILED", "CANCELLED"}
_SUBJECT = f"{WORDS[0]} {WORDS[1]}"
_DOCUMENT = {"id": "seeded", "title": _SUBJECT, "text": f"The {' '.join(WORDS)} is documented."}
_FACT = {
    "subject": _SUBJECT,
    "relation": "OWNS",
    "object": WORDS[5],
    "fact": f"{_SUBJECT} {_QUERY} {WORDS[5]}.",
    "valid_at": "2024-01-01",
}
_FINDINGS = (
    {"finding": {"key_insight": f"{_QUERY} is slow.", "confidence": 0.8}},
    {"intent": {"goal": f"{_QUERY} is fast."}},
    {
        "outcome": {
            "result": f"{_QUERY} was made fast.",
            "metrics": [{"name": "latency", "value": 1.5, "unit": "ms"}],
        }
    },
)
_MEMORY = {"title": _SUBJECT, "content": f"{_QUERY} prefers {WORDS[5]}."}
_RELATIONSHIP = {"type": "USES", "target": {"name": WORDS[6], "type": "tool"}}
# Every search, and the field of its response that contains the hits.
SEARCHES: Mapping[str, str] = MappingProxyType(
    {
        "/api/search/vector": "results",
        "/api/search/text": "results",
        "/api/search/hybrid": "results",
        "/api/search/graph": "results",
        "/api/search/comprehensive": "results",
        "/api/findings/search": "findings",
        "/api/memories/search": "",
        "/api/memory/query": "answers",
    }
)


class SeedingError(Exception):
    """The content could not be loaded, or a search does not find it."""


async def load(url: str, key: str) -> None:
    """Loads a document, facts, findings, memories and a quarantine. Raises SeedingError if a search finds nothing."""
    headers = {"authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as http:
        accepted = await _post(http, "/api/documents", _DOCUMENT)
        for job in accepted["jobs"]:
            await _until_ended(http, job["id"])
        await _post(http, "/api/facts", {"facts": [_FACT]})
        # Its document is unknown, so it is quarantined.
        lost = {**_FACT, "relation": "LOST_BY", "document_id": "lost"}
        await _post(http, "/api/facts", {"facts": [lost]})
        await _post(http, "/api/consistency?apply=true", None)
        for one in _FINDINGS:
            about = [{"name": _SUBJECT}]
            await _post(http, "/api/findings", {"findings": [{**one, "about_entities": about}]})
        await _post(http, "/api/memories", _MEMORY)
        await _post(http, "/api/memory/relationships", _RELATIONSHIP)
        for path, hits in SEARCHES.items():
            query = QUESTIONS[1] if path == "/api/memory/query" else QUESTIONS[0]
            answer = await _post(http, path, {"query": query})
            if not (answer[hits] if hits else answer):
                raise SeedingError(f"{path} finds nothing")


async def _until_ended(http: httpx2.AsyncClient, job_id: str) -> None:
    for _ in range(_POLLS):
        if (await http.get(f"/api/jobs/{job_id}")).json()["state"] in _ENDED:
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise SeedingError("a document was not ingested in time")


async def _post(http: httpx2.AsyncClient, path: str, body: Any) -> Any:
    response = await http.post(path, json=body)
    if not response.is_success:
        raise SeedingError(f"{path}: {response.status_code} {response.text[:300]}")
    return response.json()
