"""A `/rerank` endpoint for the HTTP stub: the score of a passage is the number of the question's words in it."""

from __future__ import annotations

import json
from typing import Any

from tests.stubs.openai_server import Reply

PATH = "/v1/rerank"


def by_words(request: dict[str, Any]) -> Reply:
    """Responds with the scores, best first."""
    query_words = set(request["query"].lower().split())
    scores = [len(query_words & set(text.lower().split())) for text in request["documents"]]
    results = [{"index": n, "relevance_score": float(score)} for n, score in enumerate(scores)]
    results.sort(key=lambda item: -item["relevance_score"])
    return Reply(body=json.dumps({"results": results}).encode())
