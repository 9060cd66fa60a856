"""A lightweight JSON client over a persistent HTTP connection, which costs the measured machine little."""

from __future__ import annotations

import http.client
import json
from types import TracebackType
from typing import Any, Self

from tests.benchmarks.command import MeasureError


class WebClient:
    """A caller's connection to the gateway at `host:port`. It blocks, and so needs a thread."""

    def __init__(self, address: str, *, timeout: float = 30.0) -> None:
        host, _, port = address.rpartition(":")
        self._connection = http.client.HTTPConnection(host, int(port), timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Posts a JSON body; returns the response. Raises MeasureError for any status but 200."""
        headers = {"content-type": "application/json"}
        self._connection.request("POST", path, json.dumps(body).encode(), headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status != http.client.OK:
            raise MeasureError(f"POST {path}: {response.status} {content[:300]!r}")
        answer: dict[str, Any] = json.loads(content)
        return answer
