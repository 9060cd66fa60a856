"""A call with an idempotency key whose store hangs: what can be answered without the key is answered in time."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import pytest

from braid.agent.v1 import agent_pb2
from services.runtime import idempotency
from services.runtime.context import CallContext, call_scope, current_call
from services.runtime.idempotency import CallKey, Claim, KeyedCalls

ASK = "/braid.agent.v1.AgentService/Ask"


class HangingStore:
    """A store of keys that never answers."""

    async def claim(
        self, key: CallKey, holder: uuid.UUID, digest: bytes | None, *, lease: float, keep: float
    ) -> Claim:
        await asyncio.Event().wait()
        raise AssertionError

    async def renew(self, key: CallKey, holder: uuid.UUID, *, lease: float) -> None:
        raise AssertionError

    async def complete(
        self, key: CallKey, holder: uuid.UUID, digest: bytes, response: bytes
    ) -> bool:
        raise AssertionError

    async def release(self, key: CallKey, holder: uuid.UUID) -> None:
        raise AssertionError

    async def purge(self) -> None:
        raise AssertionError

    def unit(self, method: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()


async def test_a_streaming_call_runs_without_its_key_while_the_store_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(idempotency, "_STORE_SECONDS", 0.01)
    keys: list[str] = []

    async def ask(_request: Any, _context: object) -> AsyncIterator[agent_pb2.AskResponse]:
        keys.append(current_call().idempotency_key)
        yield agent_pb2.AskResponse()

    wrapped: Callable[..., Any] = KeyedCalls(HangingStore(), keep_seconds=60).wrap(
        ASK, ask, (False, True)
    )
    request = agent_pb2.AskRequest(question="Who?", idempotency_key="one")
    call = CallContext("r", ASK, "acme", "ann", frozenset())
    with call_scope(call):
        async with asyncio.timeout(5):
            answers = [one async for one in wrapped(request, None)]
    assert (len(answers), keys) == (1, [""])
