"""A gRPC channel that records a client span for each call within a recorded trace, by OpenTelemetry's conventions.

No interceptor: gRPC's would cost every call something, recorded or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import grpc
from opentelemetry import propagate, trace

from services.runtime.tracing import fail

if TYPE_CHECKING:
    from collections.abc import Iterable

_CLIENT = trace.SpanKind.CLIENT
_HEALTH = "/grpc.health.v1.Health/"
"""Health checks poll: they have no spans."""


class TracedChannel(grpc.aio.Channel):
    """The same calls on `channel`. A span ends with its call, however that ends, and says nothing of its content."""

    def __init__(self, channel: grpc.aio.Channel, target: str) -> None:
        """`target` is the address that `channel` was opened for."""
        self._channel = channel
        self._server = _server(target)
        self._tracer = trace.get_tracer("braid")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Closes the channel."""
        await self._channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """The state of the channel."""
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Waits until the channel leaves a state."""
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until the channel is connected."""
        await self._channel.channel_ready()

    def unary_unary(self, method: str, *args: Any, **options: Any) -> Any:
        """A method with spans."""
        return self._traced(method, self._channel.unary_unary(method, *args, **options))

    def unary_stream(self, method: str, *args: Any, **options: Any) -> Any:
        """A method with spans, each of which lasts until its stream has ended."""
        return self._traced(method, self._channel.unary_stream(method, *args, **options))

    def stream_unary(self, method: str, *args: Any, **options: Any) -> Any:
        """A method with spans."""
        return self._traced(method, self._channel.stream_unary(method, *args, **options))

    def stream_stream(self, method: str, *args: Any, **options: Any) -> Any:
        """A method with spans, each of which lasts until its stream has ended."""
        return self._traced(method, self._channel.stream_stream(method, *args, **options))

    def _traced(self, method: str, call: Any) -> Any:
        if method.startswith(_HEALTH):
            return call
        return _TracedMethod(self._tracer, method.lstrip("/"), self._server, call)


class _TracedMethod:
    """One method of a contract."""

    def __init__(
        self, tracer: trace.Tracer, method: str, server: dict[str, str | int], call: Any
    ) -> None:
        self._tracer = tracer
        self._name = method
        service, _, name = method.rpartition("/")
        self._attributes = {
            "rpc.system": "grpc",
            "rpc.service": service,
            "rpc.method": name,
            **server,
        }
        self._call = call

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not trace.get_current_span().is_recording():
            return self._call(*args, **options)
        span = self._tracer.start_span(self._name, kind=_CLIENT, attributes=self._attributes)
        options["metadata"] = _within(span, options.get("metadata") or ())
        try:
            call = self._call(*args, **options)
        except BaseException as error:
            fail(span, type(error).__name__)
            span.end()
            raise
        call.add_done_callback(lambda done: _end(span, done))
        return call


def _within(span: trace.Span, metadata: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """Metadata with the span as the parent of whatever the other side records."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier, trace.set_span_in_context(span))
    return (*(pair for pair in metadata if pair[0] not in carrier), *carrier.items())


def _end(span: trace.Span, call: grpc.aio.Call) -> None:
    code = _code(call)
    span.set_attribute("rpc.grpc.status_code", code.value[0])
    if code is not grpc.StatusCode.OK:
        fail(span, code.name)
    span.end()


def _code(call: grpc.aio.Call) -> grpc.StatusCode:
    """How a call ended that is over: its code is there without waiting, which needs no task."""
    asking = call.code().__await__()
    try:
        next(asking)
    except StopIteration as answer:
        code: grpc.StatusCode = answer.value
        return code
    asking.close()
    return grpc.StatusCode.UNKNOWN


def _server(target: str) -> dict[str, str | int]:
    """The address of a target such as `dns:///vector:50051`, `ipv4:127.0.0.1:50051` or `unix:/run/vector`."""
    scheme, _, rest = target.partition(":")
    if scheme in {"dns", "ipv4", "ipv6"}:
        target = rest.rpartition("/")[2]
    elif scheme == "unix":
        return {"server.address": rest}
    host, _, port = target.rpartition(":")
    if not (host and port.isdecimal()):
        return {"server.address": target}
    return {"server.address": host.strip("[]"), "server.port": int(port)}
