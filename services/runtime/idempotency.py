"""Calls with an idempotency key: a repetition gets the first call's response, and nothing is done twice.

A key belongs to a method, a space and a user. A call claims its key with a lease before it changes anything, renews the
lease while it runs, and records its response when it succeeds. What a call creates has ids derived from the key
(`new_id`), or is recorded in the same transaction as the response (`KeyStore.unit`), so that an attempt that was
interrupted at any point converges with its repetition.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from google.protobuf.message_factory import GetMessageClass

from braid.common.v1 import errors_pb2
from braid_protocol.idempotency import FIELD, keyed_part, method_of, takes_key
from services.runtime.context import (
    call_scope,
    clean_up_scope,
    current_call,
    current_call_or_none,
    enter_call,
    remaining,
)
from services.runtime.errors import (
    BraidError,
    CallInProgressError,
    KeyReusedError,
    StoreUnavailableError,
)
from services.runtime.ids import derived_uuid
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from google.protobuf.message import Message

LEASE_SECONDS = 15.0
RENEW_SECONDS = 5.0
PURGE_SECONDS = 600.0
WAIT_SECONDS = 30.0
# The part of the caller's time that a repetition waits for the first call.
WAIT_SHARE = 0.8
# How long a call that can do without its key waits for the store.
_STORE_SECONDS = 2.0
_FIRST_PAUSE, _MAX_PAUSE = 0.02, 0.5

# Failures that are raised before anything is changed: the key may be used for a corrected request.
_UNCHANGED = frozenset(
    {
        errors_pb2.ERROR_REASON_INVALID_FIELD,
        errors_pb2.ERROR_REASON_MISSING_SCOPE,
        errors_pb2.ERROR_REASON_NOT_FOUND,
        errors_pb2.ERROR_REASON_WRONG_STATE,
        errors_pb2.ERROR_REASON_OVERLOADED,
    }
)


class CallKey(NamedTuple):
    """A key within its space, user and method."""

    space: str
    user: str
    method: str
    key: str


class Claim(NamedTuple):
    """The state of a key: granted to this call, or else held by another, with its response once that has succeeded."""

    granted: bool
    digest: bytes | None = None
    response: bytes | None = None


class KeyStore(Protocol):
    """Where claims and responses are kept, next to what the calls write."""

    async def claim(
        self, key: CallKey, holder: uuid.UUID, digest: bytes | None, *, lease: float, keep: float
    ) -> Claim:
        """Claims a key for `lease` seconds, unless a call holds it, or has succeeded within `keep` seconds.

        A key whose call was interrupted is granted only to the same request, if the digests of both are known.
        """
        ...

    async def renew(self, key: CallKey, holder: uuid.UUID, *, lease: float) -> None:
        """Extends the holder's lease to `lease` seconds from now; 0 ends it."""
        ...

    async def complete(
        self, key: CallKey, holder: uuid.UUID, digest: bytes, response: bytes
    ) -> bool:
        """Records the response; returns false if another call has claimed the key meanwhile."""
        ...

    async def release(self, key: CallKey, holder: uuid.UUID) -> None:
        """Forgets the holder's claim, because it has changed nothing."""
        ...

    async def purge(self) -> None:
        """Deletes keys that are no longer kept."""
        ...

    def unit(self, method: str) -> AbstractAsyncContextManager[None]:
        """Makes everything that the block writes to the store one transaction, if the method allows that."""
        ...


def new_id(name: str) -> str:
    """Returns the id of something that the current call creates, named differently from all else that it creates.

    A repetition with the same idempotency key gets the same id; without a key it is random.
    """
    call = current_call_or_none()
    if call is None or not call.idempotency_key:
        return str(uuid.uuid4())
    return derived_uuid(
        "repeatable", call.space, call.user, call.method, call.idempotency_key, name
    )


@dataclass(eq=False, slots=True)
class _Attempt:
    """A call with a key: its claim, and the digest of its request."""

    key: CallKey
    holder: uuid.UUID
    claim: Claim
    digest: bytes = b""
    completed: bool = False


class KeyedCalls:
    """Wraps the methods of a process that take an idempotency key, of any call shape."""

    def __init__(self, store: KeyStore, *, keep_seconds: float) -> None:
        self._store = store
        self._keep_seconds = keep_seconds

    def wrap(
        self, method: str, behavior: Callable[..., Any], shape: tuple[bool, bool]
    ) -> Callable[..., Any]:
        """Returns the behavior with keys, if the contract of the method (its full name) provides for them.

        `shape` is whether the requests and the responses are streams.
        """
        contract = method_of(method)
        if not takes_key(contract):
            return behavior
        response = GetMessageClass(contract.output_type)
        requests_streamed, responses_streamed = shape
        if responses_streamed:
            return self._streaming(behavior)
        if requests_streamed:
            return self._collecting(behavior, response)
        return self._single(behavior, response)

    async def keep_purging(self) -> None:
        """Deletes keys that are no longer kept, every ten minutes until cancelled."""
        while True:
            await asyncio.sleep(PURGE_SECONDS)
            try:
                await self._store.purge()
            except (BraidError, TimeoutError) as error:
                get_logger("idempotency").warning("not purged", error=type(error).__name__)

    def _single(self, behavior: Callable[..., Any], response: type[Message]) -> Callable[..., Any]:
        async def run(request: Message, context: Any) -> Message:
            name = key_of(request)
            if not name:
                answer: Message = await behavior(request, context)
                return answer
            digest = digest_of(request)
            attempt = await self._begin(name, digest)
            async with self._held(attempt):
                if attempt.claim.granted:
                    return await self._recorded(attempt, partial(behavior, request, context))
                return response.FromString(_response(attempt, digest))

        return run

    def _collecting(
        self, behavior: Callable[..., Any], response: type[Message]
    ) -> Callable[..., Any]:
        async def run(requests: AsyncIterator[Message], context: Any) -> Message:
            first = await anext(requests, None)
            name = "" if first is None else key_of(first)
            if first is None or not name:
                answer: Message = await behavior(_chained(first, requests), context)
                return answer
            digested = _Digested(first, requests)
            attempt = await self._begin(name, None)
            async with self._held(attempt):
                if attempt.claim.granted:
                    work = partial(behavior, digested, context)
                    return await self._recorded(attempt, work, digested)
                async for _ in digested:
                    pass
                return response.FromString(_response(attempt, digested.digest()))

        return run

    def _streaming(self, behavior: Callable[..., Any]) -> Callable[..., Any]:
        """Records a call once its first response is there. A repetition runs the behavior again, which finds what the
        first call has begun by its id (`new_id`). While the store is unavailable or hangs, nothing can be begun twice,
        and the behavior decides whether it can answer without: it runs as a call without a key.
        """

        async def run(request: Message, context: Any) -> AsyncIterator[Message]:
            name, attempt = key_of(request), None
            if name:
                with suppress(StoreUnavailableError):
                    attempt = await self._begin(
                        name, digest_of(request), store_seconds=_STORE_SECONDS
                    )
                    enter_call(replace(current_call(), idempotency_key=name))
            async with self._held(attempt):
                async for answer in behavior(request, context):
                    await self._begun(attempt)
                    yield answer

        return run

    async def _begun(self, attempt: _Attempt | None) -> None:
        if attempt is not None and attempt.claim.granted and not attempt.completed:
            attempt.completed = True
            await self._store.complete(attempt.key, attempt.holder, attempt.digest, b"")

    async def _recorded(
        self,
        attempt: _Attempt,
        work: Callable[[], Awaitable[Message]],
        digested: _Digested | None = None,
    ) -> Message:
        """Does the work and records its response, in one transaction if the store does so for the method."""
        with call_scope(replace(current_call(), idempotency_key=attempt.key.key)):
            async with self._store.unit(attempt.key.method):
                answer = await work()
                digest = digested.digest() if digested is not None else attempt.digest
                encoded = answer.SerializeToString()
                if not await self._store.complete(attempt.key, attempt.holder, digest, encoded):
                    raise CallInProgressError  # this call was suspended, and its repetition has taken over
        attempt.completed = True
        return answer

    async def _begin(
        self, name: str, digest: bytes | None, *, store_seconds: float | None = None
    ) -> _Attempt:
        call = current_call()
        key, holder = CallKey(call.space, call.user, call.method, name), uuid.uuid4()
        claim = await self._claimed(key, holder, digest, store_seconds)
        return _Attempt(key, holder, claim, digest or b"")

    @asynccontextmanager
    async def _held(self, attempt: _Attempt | None) -> AsyncIterator[None]:
        """Renews a granted claim during the block; gives it up if the block fails before its response is recorded."""
        if attempt is None or not attempt.claim.granted:
            yield
            return
        renewing = asyncio.create_task(
            self._renew(attempt.key, attempt.holder), name="idempotency lease"
        )
        try:
            yield
        except BaseException as error:
            if not attempt.completed:
                await self._give_up(attempt.key, attempt.holder, error)
            raise
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _claimed(
        self, key: CallKey, holder: uuid.UUID, digest: bytes | None, store_seconds: float | None
    ) -> Claim:
        """Claims the key, or waits for the call that holds it. Raises KeyReusedError, CallInProgressError.

        A store that does not answer within `store_seconds` is unavailable.
        """
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + WAIT_SHARE * remaining(WAIT_SECONDS), _FIRST_PAUSE
        while True:
            try:
                async with asyncio.timeout(store_seconds):
                    claim = await self._store.claim(
                        key, holder, digest, lease=LEASE_SECONDS, keep=self._keep_seconds
                    )
            except TimeoutError as error:
                raise StoreUnavailableError("idempotency keys") from error
            if claim.granted:
                return claim
            if None not in (digest, claim.digest) and digest != claim.digest:
                raise KeyReusedError
            if claim.response is not None:
                return claim
            if loop.time() + pause > until:
                raise CallInProgressError
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    async def _give_up(self, key: CallKey, holder: uuid.UUID, error: BaseException) -> None:
        """Lets a repetition begin at once; a different request may use the key only if nothing was changed."""
        unchanged = isinstance(error, BraidError) and error.reason in _UNCHANGED
        with suppress(BraidError, TimeoutError), clean_up_scope():
            if unchanged:
                await asyncio.shield(self._store.release(key, holder))
            else:
                await asyncio.shield(self._store.renew(key, holder, lease=0.0))

    async def _renew(self, key: CallKey, holder: uuid.UUID) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with suppress(BraidError, TimeoutError), clean_up_scope():
                await self._store.renew(key, holder, lease=LEASE_SECONDS)


def key_of(request: Message) -> str:
    """Returns the key of a request, which may be in its first part; empty without one."""
    return str(getattr(keyed_part(request), FIELD, ""))


def digest_of(request: Message) -> bytes:
    """Returns the SHA-256 of a request without its key."""
    digest = hashlib.sha256()
    _add(digest, request)
    return digest.digest()


def _add(digest: Any, request: Message) -> None:
    """Adds a message. Bytes are added as they are, so that it does not matter how a caller divides them."""
    data = getattr(request, "data", None)
    if isinstance(data, bytes) and data:
        digest.update(data)
        return
    plain = type(request)()
    plain.CopyFrom(request)
    keyed = keyed_part(plain)
    if FIELD in keyed.DESCRIPTOR.fields_by_name:
        keyed.ClearField(FIELD)
    encoded = plain.SerializeToString(deterministic=True)
    digest.update(len(encoded).to_bytes(8, "big"))
    digest.update(encoded)


def _response(attempt: _Attempt, digest: bytes) -> bytes:
    """Returns the recorded response. Raises KeyReusedError if it belongs to another request."""
    if attempt.claim.digest != digest or attempt.claim.response is None:
        raise KeyReusedError
    return attempt.claim.response


async def _chained(first: Message | None, rest: AsyncIterator[Message]) -> AsyncIterator[Message]:
    if first is not None:
        yield first
    async for message in rest:
        yield message


class _Digested:
    """A stream of requests that is digested as it is read."""

    def __init__(self, first: Message, rest: AsyncIterator[Message]) -> None:
        self._messages = _chained(first, rest)
        self._digest = hashlib.sha256()

    def __aiter__(self) -> _Digested:
        return self

    async def __anext__(self) -> Message:
        message = await anext(self._messages)
        _add(self._digest, message)
        return message

    def digest(self) -> bytes:
        """Returns the digest of the messages read so far."""
        return self._digest.digest()
