"""An OpenAI-compatible server on a free loopback port, whose vectors depend only on the text.

    async with OpenAIStub() as stub:
        stub.answer_next(rate_limited(0.01), server_error())   # for two requests
        client = AsyncOpenAI(base_url=stub.base_url, api_key="sk-test")
        ...
        assert len(stub.requests) == 3

`routes` has further endpoints: paths with functions from the request's JSON to a `Reply`.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class Reply:
    """One HTTP response; a `delay` of None never responds, `cut` closes the connection before the body's end."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float | None = 0.0
    cut: bool = False


@dataclass(frozen=True)
class Request:
    """A received request; header names are in lower case."""

    path: str
    headers: dict[str, str]
    json: dict[str, Any]


Answer = Callable[[dict[str, Any]], Reply]


def rate_limited(retry_after: float | str | None = None) -> Answer:
    """Responds with 429, and with Retry-After if given (seconds or an HTTP date)."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return lambda _: Reply(429, b'{"error": {"message": "slow down"}}', headers)


def server_error(status: int = 500) -> Answer:
    """Responds with a server error whose body repeats the request, as some servers do."""
    return lambda request: Reply(status, json.dumps({"error": {"message": request}}).encode())


def hang() -> Answer:
    """Accepts the request and never responds."""
    return lambda _: Reply(delay=None)


def raw(body: bytes, status: int = 200) -> Answer:
    """Responds with exactly these bytes."""
    return lambda _: Reply(status, body)


def garbled() -> Answer:
    """Responds with an invalid HTTP header."""
    return lambda _: Reply(headers={"x-head": "cut\r\nno header at all"})


def vectors(change: Callable[[list[Any]], list[Any]], dimension: int = 1536) -> Answer:
    """Responds with a changed list of embeddings: shortened, reordered or corrupted."""

    def answer(request: dict[str, Any]) -> Reply:
        data = embeddings(request, dimension)
        return Reply(body=json.dumps({**data, "data": change(data["data"])}).encode())

    return answer


def vector_of(text: str, dimension: int) -> list[float]:
    """Returns the stub's vector of a text: the same in every run, not normalized."""
    seed = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    values: list[float] = (3 * np.random.default_rng(seed).standard_normal(dimension)).tolist()
    return values


def embeddings(request: dict[str, Any], dimension: int) -> dict[str, Any]:
    """Returns the body of a normal response; `dimensions` in the request takes precedence."""
    texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
    size = request.get("dimensions", dimension)
    return {
        "object": "list",
        "model": request["model"],
        "data": [
            {"object": "embedding", "index": index, "embedding": vector_of(text, size)}
            for index, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)},
    }


class OpenAIStub:
    """The server; `requests` records the requests, `dimension` is the length of vectors."""

    def __init__(self, dimension: int = 1536) -> None:
        self.dimension = dimension
        self.requests: list[Request] = []
        self.routes: dict[str, Answer] = {"/v1/embeddings": self._embeddings}
        self._next: deque[Answer] = deque()
        self._always: Answer | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """Returns the base URL for clients, including `/v1`."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def answer_next(self, *answers: Answer) -> None:
        """Uses each of these for one of the next requests."""
        self._next.extend(answers)

    def answer_always(self, answer: Answer | None) -> None:
        """Uses this for every later request; None restores the normal responses."""
        self._always = answer

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _embeddings(self, request: dict[str, Any]) -> Reply:
        return Reply(body=json.dumps(embeddings(request, self.dimension)).encode())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                while True:
                    await self._exchange(reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        self.requests.append(request)
        reply = self._pick(request.path)(request.json)
        if reply.delay is None:
            await asyncio.Event().wait()
        else:
            await asyncio.sleep(reply.delay)
        writer.write(_head(reply) + reply.body)
        await writer.drain()
        if reply.cut:
            raise ConnectionResetError

    def _pick(self, path: str) -> Answer:
        if self._next:
            return self._next.popleft()
        return self._always or self.routes.get(path, raw(b'{"error": "no such path"}', 404))


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(head[0].split(" ")[1], headers, json.loads(body or b"{}"))


def _head(reply: Reply) -> bytes:
    headers = {
        "content-type": "application/json",
        "content-length": str(len(reply.body) + reply.cut),
        **reply.headers,
    }
    lines = [f"HTTP/1.1 {reply.status} -", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
