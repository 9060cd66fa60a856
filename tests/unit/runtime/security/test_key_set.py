"""Signing keys are fetched over HTTP, cached and refreshed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.runtime.security import key_set
from services.runtime.security.key_set import (
    KeySet,
    KeySetUnavailableError,
    from_url,
    parse_key_set,
)
from tests.stubs.issuer import Issuer
from tests.stubs.openai_server import Reply, hang, raw, server_error
from tests.unit.runtime.security.conftest import RecordedEvents


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def keys(issuer: Issuer, recorded: RecordedEvents, clock: Clock) -> AsyncIterator[KeySet]:
    built = KeySet(
        from_url(issuer.url, None),
        recorded,
        refresh_seconds=300,
        refetch_seconds=10,
        max_stale_seconds=3600,
        clock=clock,
    )
    yield built
    await built.close()


async def test_keys_are_fetched_once_and_cached(issuer: Issuer, keys: KeySet) -> None:
    assert await keys.find("key-1", "ES256") is await keys.find("key-1", "ES256")
    assert len(issuer.stub.requests) == 1


async def test_concurrent_callers_wait_for_one_fetch(issuer: Issuer, keys: KeySet) -> None:
    found = await asyncio.gather(*(keys.find("key-1", "ES256") for _ in range(20)))
    assert None not in found
    assert len(issuer.stub.requests) == 1


async def test_a_new_key_is_fetched_at_its_first_use(
    issuer: Issuer, keys: KeySet, clock: Clock, recorded: RecordedEvents
) -> None:
    await keys.find("key-1", "ES256")
    issuer.rotate()
    clock.now += 10
    assert await keys.find("key-2", "ES256") is not None
    assert recorded.seen == [("key_set_changed", {"keys": 2})]


async def test_unknown_keys_do_not_cause_a_fetch_each(
    issuer: Issuer, keys: KeySet, clock: Clock
) -> None:
    await keys.find("key-1", "ES256")
    clock.now += 10
    for number in range(50):
        assert await keys.find(f"guess-{number}", "ES256") is None
    assert len(issuer.stub.requests) == 2


async def test_a_withdrawn_key_is_unknown_after_the_next_refresh(
    issuer: Issuer, keys: KeySet, clock: Clock
) -> None:
    issuer.rotate()
    await keys.find("key-1", "ES256")
    issuer.withdraw("key-1")
    clock.now += 300
    await keys.find("key-2", "ES256")  # starts the refresh and does not wait for it
    assert await keys.find("guess", "ES256") is None  # waits for it
    assert await keys.find("key-1", "ES256") is None
    assert len(issuer.stub.requests) == 2


async def test_known_keys_are_used_while_the_endpoint_is_down(
    issuer: Issuer, keys: KeySet, clock: Clock, recorded: RecordedEvents
) -> None:
    await keys.find("key-1", "ES256")
    issuer.stub.answer_always(server_error())
    clock.now += 600
    assert await keys.find("key-1", "ES256") is not None
    with pytest.raises(KeySetUnavailableError):
        await keys.find("key-2", "ES256")
    assert "key_set_unavailable" in recorded.names


async def test_known_keys_expire_while_the_endpoint_is_down(
    issuer: Issuer, keys: KeySet, clock: Clock
) -> None:
    await keys.find("key-1", "ES256")
    issuer.stub.answer_always(server_error())
    clock.now += 3600
    with pytest.raises(KeySetUnavailableError):
        await keys.find("key-1", "ES256")
    issuer.stub.answer_always(None)
    clock.now += 1
    assert await keys.find("key-1", "ES256") is not None


@pytest.mark.parametrize(
    "answer",
    [
        server_error(),
        raw(b"", 204),
        raw(b"{"),
        raw(b"[]"),
        raw(b'{"keys": []}'),
        raw(b'{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "key-1"}]}'),
        raw(b"x" * 1_100_000),
        lambda _: Reply(302, headers={"location": "http://127.0.0.1:1/"}),
        lambda _: Reply(cut=True),
    ],
)
async def test_an_endpoint_without_a_valid_key_set_counts_as_unavailable(
    issuer: Issuer, keys: KeySet, answer: Any
) -> None:
    issuer.stub.answer_always(answer)
    with pytest.raises(KeySetUnavailableError):
        await keys.find("key-1", "ES256")


async def test_a_fetch_from_a_hung_endpoint_times_out(
    issuer: Issuer, keys: KeySet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_set, "FETCH_SECONDS", 0.05)
    issuer.stub.answer_always(hang())
    async with asyncio.timeout(2):
        with pytest.raises(KeySetUnavailableError):
            await keys.find("key-1", "ES256")


async def test_a_failing_endpoint_is_requested_at_most_once_per_second(
    issuer: Issuer, keys: KeySet, clock: Clock
) -> None:
    issuer.stub.answer_always(server_error())
    for _ in range(10):
        with pytest.raises(KeySetUnavailableError):
            await keys.find("key-1", "ES256")
    assert len(issuer.stub.requests) == 1
    clock.now += 1
    with pytest.raises(KeySetUnavailableError):
        await keys.find("key-1", "ES256")
    assert len(issuer.stub.requests) == 2


async def test_a_token_without_a_key_id_is_checked_with_the_only_key(
    issuer: Issuer, keys: KeySet, clock: Clock
) -> None:
    assert await keys.find(None, "ES256") is not None
    issuer.rotate()
    clock.now += 10
    assert await keys.find("key-2", "ES256") is not None
    assert await keys.find(None, "ES256") is None


def test_keys_for_encryption_and_shared_secrets_are_left_out() -> None:
    rsa = {"kty": "RSA", "kid": "a", "n": "x", "e": "AQAB"}
    document = {"keys": [rsa, rsa | {"kid": "b", "use": "enc"}, {"kty": "oct", "kid": "c"}, 7]}
    assert parse_key_set(json.dumps(document).encode()) == {"a": rsa}
