"""A `/rerank` endpoint for the HTTP stub: passages score by how many of the question's words they have."""

from __future__ import annotations

import json
from typing import Any

from tests.stubs.openai_server import Reply

PATH = "/v1/rerank"


def by_words(request: dict[str, Any]) -> Reply:
    """A usual answer, best first."""
    asked = set(request["query"].lower().split())
    scores = [len(asked & set(text.lower().split())) for text in request["documents"]]
    results = [{"index": n, "relevance_score": float(score)} for n, score in enumerate(scores)]
    results.sort(key=lambda item: -item["relevance_score"])
    return Reply(body=json.dumps({"results": results}).encode())
