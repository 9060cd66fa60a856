"""Idempotency keys in Neo4j: claims, leases, responses, and the calls that use them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from braid.graph.v1 import findings_pb2
from deploy.local.stores import LocalStores
from services.graph_query.neo4j_store import Neo4jStore
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import FieldError, InvalidFieldError, KeyReusedError
from services.runtime.idempotency import CallKey, Claim, KeyedCalls
from tests.store_suite.graph.neo4j_graph import opened

METHOD = "/braid.graph.v1.GraphIngestService/AddFindings"
FIRST, SECOND = b"1" * 32, b"2" * 32
TIMES = {"lease": 15.0, "keep": 60.0}


@pytest.fixture
async def store(graph_stores: LocalStores) -> AsyncIterator[Neo4jStore]:
    async with opened(graph_stores) as found:
        yield found


@pytest.fixture
def key() -> CallKey:
    return CallKey(f"space-{uuid.uuid4().hex}", "ann", METHOD, "one-key")


async def test_a_key_is_granted_once_and_its_response_is_kept(
    store: Neo4jStore, key: CallKey
) -> None:
    holder, other = uuid.uuid4(), uuid.uuid4()
    assert (await store.keys.claim(key, holder, FIRST, **TIMES)).granted
    assert await store.keys.claim(key, other, FIRST, **TIMES) == Claim(False, FIRST, None)
    assert not await store.keys.complete(key, other, FIRST, b"response")
    assert await store.keys.complete(key, holder, FIRST, b"response")
    assert await store.keys.claim(key, other, FIRST, **TIMES) == Claim(False, FIRST, b"response")


async def test_an_interrupted_key_is_granted_to_the_same_request_only(
    store: Neo4jStore, key: CallKey
) -> None:
    holder, other = uuid.uuid4(), uuid.uuid4()
    await store.keys.claim(key, holder, FIRST, **TIMES)
    await store.keys.renew(key, holder, lease=0.0)
    assert not (await store.keys.claim(key, other, SECOND, **TIMES)).granted
    assert (await store.keys.claim(key, other, FIRST, **TIMES)).granted
    assert not await store.keys.complete(key, holder, FIRST, b"late")


async def test_released_and_expired_keys_are_free(store: Neo4jStore, key: CallKey) -> None:
    holder = uuid.uuid4()
    await store.keys.claim(key, holder, FIRST, **TIMES)
    await store.keys.release(key, holder)
    assert (await store.keys.claim(key, holder, SECOND, lease=15.0, keep=0.0)).granted
    await store.keys.complete(key, holder, SECOND, b"response")
    await store.keys.purge()
    assert (await store.keys.claim(key, holder, FIRST, **TIMES)).granted


async def test_a_wrapped_method_runs_once_for_a_key(store: Neo4jStore, key: CallKey) -> None:
    calls = 0

    async def add(_request: Any, _context: object) -> findings_pb2.AddFindingsResponse:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise InvalidFieldError(FieldError("findings", "is wrong"))
        return findings_pb2.AddFindingsResponse(added_count=calls)

    wrapped: Callable[..., Any] = KeyedCalls(store.keys, keep_seconds=60).wrap(
        METHOD, add, (False, False)
    )
    request = findings_pb2.AddFindingsRequest(idempotency_key=key.key)
    request.embedding_model = "compass"
    context = CallContext("r-1", METHOD, key.space, key.user, frozenset({"write"}))
    with call_scope(context):
        with pytest.raises(InvalidFieldError):
            await wrapped(request, None)
        answers = [await wrapped(request, None) for _ in range(3)]
        request.embedding_model = "other"
        with pytest.raises(KeyReusedError):
            await wrapped(request, None)
    assert [answer.added_count for answer in answers] == [2, 2, 2]
    assert calls == 2
