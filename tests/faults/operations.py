"""The requests that callers send during a fault: over HTTP with deadlines, and Ask over gRPC."""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import grpc
import httpx2

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from services.runtime.channels import open_channel
from tests.faults.cases import (
    ASK,
    CHAT,
    CONVERSATION,
    DOCUMENT,
    FACT,
    MODEL_ASK,
    RERANKED,
    SEARCH,
    VECTOR,
    Expected,
)
from tests.faults.judging import Attempt
from tests.faults.system import WITH_MODEL, FaultSystem

_DEADLINES = {
    SEARCH: 3.0,
    RERANKED: 3.0,
    CHAT: 12.0,
    ASK: 12.0,
    MODEL_ASK: 12.0,
    DOCUMENT: 4.0,
    FACT: 4.0,
    CONVERSATION: 4.0,
}
# How long after its deadline a request is awaited, to find out whether it hangs.
_PATIENCE = 3.0
_FIRST_SECONDS = 60.0
_READ_ATTEMPTS = 20
_RETRYABLE = frozenset({0, 429, 503, 504})
_FACTS_QUESTION = "Who owns the Ledger Service?"
_DOCUMENTS_QUESTION = "How does the Ledger Service keep bookings apart?"
_TEXT = (
    "The Ledger Service is owned by Jonas Weber. The Ledger Service keeps bookings apart by ledger."
)


@dataclass
class Written:
    """Acknowledged writes, which must exist in the end."""

    jobs: dict[str, str] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)
    conversations: list[str] = field(default_factory=list)


class Operations:
    """Sends requests of one caller, each a new one. A context manager."""

    def __init__(self, system: FaultSystem) -> None:
        self._system = system
        self._numbers = itertools.count(1)
        self._channels: list[grpc.aio.Channel] = []
        self._exits = AsyncExitStack()
        self.written = Written()

    async def __aenter__(self) -> Self:
        addresses = self._system.stack.addresses
        url = f"http://{addresses['gateway']}"
        # No certificates are loaded, which takes long: no TLS is used.
        self._http = await self._exits.enter_async_context(
            httpx2.AsyncClient(base_url=url, verify=False)
        )
        self._agents = {
            name: agent_pb2_grpc.AgentServiceStub(
                await self._exits.enter_async_context(open_channel(address, retry=False))
            )
            for name, address in (
                (ASK, self._system.proxies["agent_orchestrator"].address),
                (MODEL_ASK, addresses[WITH_MODEL]),
            )
        }
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._exits.aclose()

    async def attempt(self, operation: str, expected: Expected) -> Attempt:
        """Runs one operation; records an acknowledged write."""
        number = next(self._numbers)
        question = _DOCUMENTS_QUESTION if VECTOR in expected.legs else _FACTS_QUESTION
        actions: Mapping[str, Callable[[], Awaitable[Attempt]]] = {
            SEARCH: lambda: self._post(SEARCH, "/api/search/comprehensive", _search(number)),
            RERANKED: lambda: self._post(
                RERANKED,
                "/api/search/comprehensive",
                _search(number) | {"rerank": "cross_encoder"},
            ),
            CHAT: lambda: self._post(CHAT, "/api/chat", {"question": question}),
            ASK: lambda: self._ask(ASK, question),
            MODEL_ASK: lambda: self._ask(MODEL_ASK, _FACTS_QUESTION),
            DOCUMENT: lambda: self._document(number),
            FACT: lambda: self._fact(number),
            CONVERSATION: self._conversation,
        }
        return await actions[operation]()

    async def seed(self) -> str:
        """Adds the document and the fact that the questions are about; returns the document's job.

        The limit is longer here, because the first writes to a new system are the slowest.
        """
        body = {"id": "ledger", "title": "Ledger Service", "text": _TEXT}
        fact = {"facts": [_fact_body("Jonas Weber", "OWNS")]}
        document = await self._send(DOCUMENT, "POST", "/api/documents", _FIRST_SECONDS, json=body)
        added_fact = await self._send(FACT, "POST", "/api/facts", _FIRST_SECONDS, json=fact)
        assert document.succeeded, document
        assert added_fact.succeeded, added_fact
        return str(document.body["jobs"][0]["id"])

    async def state_of(self, job_id: str) -> str:
        """Returns a job's state, "" while it cannot be read."""
        response = await self._get(f"/api/jobs/{job_id}")
        return str(response.body["state"]) if response.succeeded else ""

    async def lost(self) -> list[str]:
        """Returns acknowledged facts and conversations that do not exist; documents are checked by their jobs."""
        missing = []
        for name in self.written.facts:
            found = await self._read("/api/facts", params={"subject": name})
            if not (found.succeeded and found.body["facts"]):
                missing.append(f"fact of {name}: {found.status}")
        for one in self.written.conversations:
            found = await self._read(f"/api/conversations/{one}")
            if not found.succeeded:
                missing.append(f"conversation {one}: {found.status}")
        return missing

    async def _read(self, path: str, **more: Any) -> Attempt:
        """Reads with retries while the service is unavailable, because such a response says nothing about existence."""
        attempt = await self._get(path, **more)
        for _ in range(_READ_ATTEMPTS):
            if attempt.status not in _RETRYABLE:
                break
            attempt = await self._get(path, **more)
        return attempt

    async def _document(self, number: int) -> Attempt:
        name = f"note-{number}"
        body = {"id": name, "title": name, "text": f"Note {number} says that all is well."}
        attempt = await self._post(DOCUMENT, "/api/documents", body)
        if attempt.succeeded:
            self.written.jobs[str(attempt.body["jobs"][0]["id"])] = name
        return attempt

    async def _fact(self, number: int) -> Attempt:
        name = f"Engineer {number}"
        attempt = await self._post(FACT, "/api/facts", {"facts": [_fact_body(name, "MAINTAINS")]})
        if attempt.succeeded:
            self.written.facts.append(name)
        return attempt

    async def _conversation(self) -> Attempt:
        attempt = await self._post(CONVERSATION, "/api/conversations", {"title": "drill"})
        if attempt.succeeded:
            self.written.conversations.append(str(attempt.body["id"]))
        return attempt

    async def _post(self, operation: str, path: str, body: Mapping[str, Any]) -> Attempt:
        return await self._send(operation, "POST", path, json=body)

    async def _get(self, path: str, **more: Any) -> Attempt:
        return await self._send(SEARCH, "GET", path, **more)

    async def _send(
        self, operation: str, method: str, path: str, deadline: float = 0.0, **more: Any
    ) -> Attempt:
        deadline = deadline or _DEADLINES[operation]
        headers = {"X-Timeout-Ms": str(int(deadline * 1000))}
        began = time.perf_counter()
        try:
            answer = await self._http.request(
                method, path, headers=headers, timeout=deadline + _PATIENCE, **more
            )
        except httpx2.HTTPError:
            return Attempt(operation, deadline, time.perf_counter() - began, 0)
        elapsed = time.perf_counter() - began
        return Attempt(operation, deadline, elapsed, answer.status_code, answer.json())

    async def _ask(self, operation: str, question: str) -> Attempt:
        """Asks over gRPC; maps a failure to an HTTP status, so that all attempts are judged alike."""
        deadline = _DEADLINES[operation]
        request = agent_pb2.AskRequest(question=question, skip_memory=True)
        began = time.perf_counter()
        status = 0
        body: dict[str, Any] = {}
        try:
            async for answer in self._agents[operation].Ask(request, timeout=deadline):
                event = answer.event
                if event.WhichOneof("event") == "done":
                    named = list(event.done.unavailable)
                    body = {"answer": event.done.answer, "unavailable": named}
                    status = HTTPStatus.OK
                elif event.WhichOneof("event") == "error":
                    body = {"detail": event.error.message, "reason": event.error.reason}
                    internal = event.error.reason == "INTERNAL"
                    status = (
                        HTTPStatus.INTERNAL_SERVER_ERROR
                        if internal
                        else HTTPStatus.SERVICE_UNAVAILABLE
                    )
        except grpc.aio.AioRpcError as error:
            body = {"detail": error.details()}
            status = {
                grpc.StatusCode.DEADLINE_EXCEEDED: HTTPStatus.GATEWAY_TIMEOUT,
                grpc.StatusCode.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
                grpc.StatusCode.UNKNOWN: HTTPStatus.INTERNAL_SERVER_ERROR,
            }.get(error.code(), HTTPStatus.SERVICE_UNAVAILABLE)
        return Attempt(operation, deadline, time.perf_counter() - began, int(status), body)


def _search(number: int) -> dict[str, Any]:
    # The query differs each time, so that no cached response hides a failure.
    return {"query": f"Ledger Service bookings {number}", "limit": 5}


def _fact_body(subject: str, relation: str) -> dict[str, Any]:
    return {"subject": subject, "relation": relation, "object": "Ledger Service"}
