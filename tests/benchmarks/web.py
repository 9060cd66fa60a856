"""JSON over HTTP with a kept connection, cheap enough to share a machine with what is measured."""

from __future__ import annotations

import http.client
import json
from types import TracebackType
from typing import Any, Self

from tests.benchmarks.command import MeasureError


class WebClient:
    """One caller's connection to the gateway at `host:port`. Blocks: for use in a thread of its own."""

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
        """The answer to a JSON body. MeasureError for any status but 200."""
        headers = {"content-type": "application/json"}
        self._connection.request("POST", path, json.dumps(body).encode(), headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status != http.client.OK:
            raise MeasureError(f"POST {path}: {response.status} {content[:300]!r}")
        answer: dict[str, Any] = json.loads(content)
        return answer
