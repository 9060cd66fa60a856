"""The one server interceptor: runs the stages around every call shape, and maps errors to status."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.message import DecodeError

from services.runtime.errors import BraidError, FieldError, InternalError, InvalidFieldError
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.status import to_status
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from google.protobuf.message import Message

    from services.runtime.admission import AdmissionQueue
    from services.runtime.idempotency import KeyedCalls
    from services.runtime.rate_limits import RateLimits

# Health and reflection are called without a credential and reveal nothing about a space.
_OPEN_PREFIXES = ("/grpc.health.", "/grpc.reflection.")
STREAM_IDLE_SECONDS = 60.0
# gRPC reports a missing deadline as one some centuries away.
_NO_DEADLINE_SECONDS = 365 * 24 * 3600.0

_UNREADABLE = object()

Handler = Any
Context = Any


@dataclass(frozen=True, slots=True)
class DefaultDeadlines:
    """The time limits, in seconds, of calls without a caller's deadline."""

    unary: float = 120.0
    stream: float = 3600.0


class Pipeline(grpc.aio.ServerInterceptor):
    """Wraps each method once, for its call shape; a stage is written once for all four shapes.

    A streaming caller must send each next message within `idle_seconds`, so that none holds a slot forever. A call
    without a deadline gets one of `deadlines`. `rates` counts a call once its caller is identified. A method in
    `queues`, by its full name, runs in one of the slots there, from its first check to the end of its answer. `keyed`
    serves the methods that take an idempotency key, by service.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        idle_seconds: float = STREAM_IDLE_SECONDS,
        queues: Mapping[str, AdmissionQueue] | None = None,
        keyed: Mapping[str, KeyedCalls] | None = None,
        rates: RateLimits | None = None,
        deadlines: DefaultDeadlines | None = None,
    ) -> None:
        self._idle_seconds = idle_seconds
        self._rates = rates
        self._deadlines = deadlines or DefaultDeadlines()
        self.stages = tuple(stages)
        self._queues = queues or {}
        self._keyed = keyed or {}
        self._wrapped: dict[str, Handler] = {}
        self._log = get_logger("pipeline")

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Returns the wrapped handler of a method; unknown methods, health and reflection are not wrapped."""
        method = handler_call_details.method
        known = self._wrapped.get(method)
        if known is not None:
            return known
        handler = await continuation(handler_call_details)
        if handler is None or method.startswith(_OPEN_PREFIXES):
            return handler
        self._wrapped[method] = self._wrap(method, handler)
        return self._wrapped[method]

    def _wrap(self, method: str, handler: Handler) -> Handler:
        shape = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[handler.request_streaming, handler.response_streaming]
        behavior = (
            handler.unary_unary
            or handler.unary_stream
            or handler.stream_unary
            or handler.stream_stream
        )
        behavior = self._repeatable(method, behavior, handler)
        answers = self._streaming if handler.response_streaming else self._single
        wrapped = answers(method, behavior, request_streaming=handler.request_streaming)
        return shape(wrapped, _reading(handler.request_deserializer), handler.response_serializer)

    def _repeatable(self, method: str, behavior: Handler, handler: Handler) -> Handler:
        """Returns the behavior with idempotency keys, if the method takes them."""
        keyed = self._keyed.get(method.split("/")[1])
        if keyed is None:
            return behavior
        shape = (handler.request_streaming, handler.response_streaming)
        return keyed.wrap(method, behavior, shape)

    def _single(self, method: str, behavior: Handler, *, request_streaming: bool) -> Handler:
        async def run(request: Any, context: Context) -> Any:
            seconds = self._deadlines.stream if request_streaming else self._deadlines.unary
            call = _begin(method, context, seconds)
            try:
                with ExitStack() as stack:
                    await self._enter(stack, call)
                    await self._count(call)
                    checked = self._checked(call, request, streaming=request_streaming)
                    async with asyncio.timeout_at(call.default_deadline), self._slot(method):
                        return await behavior(checked, context)
            except Exception as error:  # noqa: BLE001 - no exception of a stage may reach the caller
                await self._abort(context, call, error)

        return run

    def _streaming(self, method: str, behavior: Handler, *, request_streaming: bool) -> Handler:
        async def run(request: Any, context: Context) -> AsyncIterator[Any]:
            call = _begin(method, context, self._deadlines.stream)
            try:
                with ExitStack() as stack:
                    await self._enter(stack, call)
                    await self._count(call)
                    checked = self._checked(call, request, streaming=request_streaming)
                    async with asyncio.timeout_at(call.default_deadline), self._slot(method):
                        async for answer in behavior(checked, context):
                            yield answer
            except Exception as error:  # noqa: BLE001 - as above
                await self._abort(context, call, error)

        return run

    async def _abort(self, context: Context, call: Call, error: Exception) -> None:
        """Ends a call with its error's status; a defect of a stage is reported like one of a handler."""
        if isinstance(error, grpc.aio.AbortError):
            raise error
        if not isinstance(error, BraidError):
            self._log.exception("defect", method=call.method, request_id=call.request_id)
            error = InternalError()
        with suppress(grpc.aio.InternalError):  # the call has ended already
            await context.abort_with_status(self._status(error, call))

    def _status(self, error: BraidError, call: Call) -> grpc.Status:
        try:
            return to_status(error, call.request_id)
        except Exception:  # noqa: BLE001 - gRPC would send the exception's text to the caller
            self._log.exception("defect", method=call.method, request_id=call.request_id)
            return to_status(InternalError(), call.request_id)

    async def _count(self, call: Call) -> None:
        if self._rates is not None and call.identity is not None:
            await self._rates.check(call.identity, call.metadata)

    def _slot(self, method: str) -> AbstractAsyncContextManager[None]:
        slots = self._queues.get(method)
        return slots.slot() if slots is not None else nullcontext()

    async def _enter(self, stack: ExitStack, call: Call) -> None:
        for stage in self.stages:
            await stage.prepare(call)
            stack.enter_context(stage.around(call))

    def _checked(self, call: Call, request: Any, *, streaming: bool) -> Any:
        if streaming:
            return self._each_checked(call, request)
        self._check(call, request)
        return request

    async def _each_checked(
        self, call: Call, requests: AsyncIterator[Message]
    ) -> AsyncIterator[Message]:
        while True:
            async with asyncio.timeout(self._idle_seconds):
                message = await anext(requests, None)
            if message is None:
                return
            self._check(call, message)
            yield message

    def _check(self, call: Call, message: Message) -> None:
        if message is _UNREADABLE:
            raise InvalidFieldError(FieldError("request", "is no message of this method"))
        for stage in self.stages:
            stage.on_message(call, message)


def _reading(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """Returns a deserializer that leaves invalid bytes to the pipeline: gRPC itself would use an unspecific code."""
    if deserialize is None:
        return None

    def read(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return _UNREADABLE

    return read


def _begin(method: str, context: Context, default_seconds: float) -> Call:
    pairs = context.invocation_metadata() or ()
    metadata = {key: value for key, value in pairs if isinstance(value, str)}
    left = context.time_remaining()
    now = asyncio.get_running_loop().time()
    if left is not None and left < _NO_DEADLINE_SECONDS:
        return Call(method=method, metadata=metadata, deadline=now + left)
    deadline = now + default_seconds
    return Call(method=method, metadata=metadata, deadline=deadline, default_deadline=deadline)
