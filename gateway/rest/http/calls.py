"""Calls on behalf of a request: identity, deadline, field names and cancellation; dependencies of routes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import grpc
from fastapi import Depends, Header, Request
from google.protobuf.message import Message

from braid.common.v1.errors_pb2 import ERROR_REASON_INVALID_CREDENTIAL
from braid_protocol.call_outcome import outcome_of
from braid_protocol.idempotency import method_of, takes_key, with_key
from gateway.clients import Clients
from gateway.rest.http.errors import ClientGoneError, StalledError, TooLargeError
from gateway.rest.http.middleware import RequestState
from gateway.rest.mapping.field_names import renamed, rest_name
from gateway.settings import GatewaySettings
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import DeadlineError, InvalidCredentialError, MissingScopeError
from services.runtime.interceptors.authentication import required_scope
from services.runtime.status import error_from_rpc

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable

    from starlette.requests import Request
    from starlette.types import Receive

    from gateway.rest.mapping.field_names import Named
    from services.runtime.channels import OutgoingMetadata
    from services.runtime.errors import BraidError
    from services.runtime.identity import Identity

Answer = TypeVar("Answer")


# The middleware has accepted the caller's key, so a service that refuses a key refuses the gateway's own.
_OWN_KEY_REFUSED = "A service refused the gateway's own API key: see BRAID_SERVICE_KEY."


@dataclass(frozen=True, slots=True)
class Caller:
    """The context of one request for its calls. `timeout` in seconds."""

    request: Request
    state: RequestState
    identity: Identity
    outgoing: OutgoingMetadata
    timeout: float

    def until(self, deadline: float) -> Caller:
        """Returns the same context with the time left until `deadline` (of `time.monotonic`), for several calls.

        Raises DeadlineError if no time is left.
        """
        left = deadline - monotonic()
        if left <= 0:
            raise DeadlineError
        return replace(self, timeout=left)

    def require(self, method: str) -> None:
        """Raises MissingScopeError unless the caller may call the RPC: the gateway's own key may call all RPCs."""
        scope = required_scope(method)
        if scope not in self.identity.scopes:
            raise MissingScopeError(scope)

    async def call(
        self,
        method: str,
        stub: Callable[..., Awaitable[Answer]],
        message: Message | AsyncIterable[Message],
        named: Named = rest_name,
    ) -> Answer:
        """Calls `method` (`/package.Service/Method`) and waits for its answer.

        Raises the services' typed error with REST field names, or ClientGoneError if the client disconnected.
        """
        self.require(method)
        message = self._keyed(method, message)
        call: Any = stub(message, metadata=self._metadata(method), timeout=self.timeout)
        async with self.cancel_on_disconnect(call.cancel):
            try:
                answer: Answer = await (call if isinstance(message, Message) else outcome_of(call))
            except grpc.aio.AioRpcError as error:
                raise self.error_of(error, named) from None
        return answer

    async def call_before_body(
        self, method: str, stub: Callable[..., Awaitable[Answer]], message: Message
    ) -> Answer:
        """Calls before the request's body is read, without checking whether the client has disconnected."""
        self.require(method)
        try:
            return await stub(message, metadata=self._metadata(method), timeout=self.timeout)
        except grpc.aio.AioRpcError as error:
            raise self.error_of(error) from None

    def open(self, method: str, stub: Callable[..., Any], message: Message) -> Any:
        """Starts a streaming call. The reader must end it."""
        self.require(method)
        message = self._keyed(method, message)
        return stub(message, metadata=self._metadata(method), timeout=self.timeout)

    def error_of(self, error: grpc.aio.AioRpcError, named: Named = rest_name) -> BraidError:
        """Returns the typed error of a failed call, with REST field names."""
        typed = error_from_rpc(error)
        if typed.reason == ERROR_REASON_INVALID_CREDENTIAL:
            return InvalidCredentialError(_OWN_KEY_REFUSED)
        return renamed(typed, named)

    @asynccontextmanager
    async def cancel_on_disconnect(self, cancel: Callable[[], Any]) -> AsyncIterator[None]:
        """Watches the client during a block: if it disconnects, calls `cancel` and raises ClientGoneError."""
        gone = asyncio.Event()
        watch = asyncio.create_task(self._watch(gone, cancel))
        try:
            yield
        except asyncio.CancelledError:
            if gone.is_set():
                raise ClientGoneError from None
            raise
        finally:
            watch.cancel()

    async def _watch(self, gone: asyncio.Event, cancel: Callable[[], Any]) -> None:
        await wait_for_disconnect(self.request.receive)
        gone.set()
        cancel()

    def _keyed(self, method: str, message: Any) -> Any:
        """Adds an idempotency key to a request that takes one: the client's, or a new one for the channel's retries."""
        return with_key(message, self._key(method)) if takes_key(method_of(method)) else message

    def _key(self, method: str) -> str:
        """Returns the key of the request's next call of this method."""
        given, count = self.state.idempotency_key, self.state.keyed_calls[method]
        self.state.keyed_calls[method] += 1
        if not given:
            return uuid.uuid4().hex
        return given if count == 0 else sha256(f"{given}\n{count}".encode()).hexdigest()

    def _metadata(self, method: str) -> tuple[tuple[str, str], ...]:
        context = CallContext(
            request_id=self.state.request_id,
            method=method,
            space=self.identity.space,
            user=self.identity.user,
            scopes=self.identity.scopes,
        )
        with call_scope(context):
            return self.outgoing.metadata()


async def wait_for_disconnect(receive: Receive) -> None:
    """Waits until the client disconnects. Ignores a body that no route reads, complete or not."""
    gone = False
    while not gone:
        with suppress(TooLargeError, StalledError):
            gone = (await receive())["type"] == "http.disconnect"


MAX_TIMEOUT_MS = 600_000


async def _clients(request: Request) -> Clients:
    clients: Clients = request.app.state.clients
    return clients


async def _settings(request: Request) -> GatewaySettings:
    settings: GatewaySettings = request.app.state.settings
    return settings


ClientsDep: TypeAlias = Annotated[Clients, Depends(_clients)]
SettingsDep: TypeAlias = Annotated[GatewaySettings, Depends(_settings)]
TimeoutHeader: TypeAlias = Annotated[
    int | None,
    Header(
        alias="X-Timeout-Ms",
        ge=1,
        le=MAX_TIMEOUT_MS,
        description="How long the answer may take, in milliseconds. Default: the gateway's setting, 10 s "
        "(uploads 120 s).",
    ),
]


def _caller(request: Request, timeout: float) -> Caller:
    state: RequestState = request.state.request_state
    if state.identity is None:
        raise InvalidCredentialError
    clients: Clients = request.app.state.clients
    return Caller(request, state, state.identity, clients.outgoing, timeout)


def _within(default: Callable[[GatewaySettings], float]) -> Callable[..., Awaitable[Caller]]:
    async def caller(
        request: Request, settings: SettingsDep, timeout_ms: TimeoutHeader = None
    ) -> Caller:
        timeout = default(settings) if timeout_ms is None else timeout_ms / 1000
        return _caller(request, timeout)

    return caller


CallerDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.timeout_seconds))]
UploaderDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.upload_timeout_seconds))]
AskerDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.chat_timeout_seconds))]
WatcherDep: TypeAlias = Annotated[Caller, Depends(_within(lambda s: s.watch_seconds))]
