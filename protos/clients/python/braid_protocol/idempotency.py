"""Idempotency keys of requests: which methods take them, and where a request has its key."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pool
from google.protobuf.message import Message

from braid.common.v1 import options_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable

    from google.protobuf.descriptor import MethodDescriptor

FIELD = "idempotency_key"


def takes_key(method: MethodDescriptor) -> bool:
    """Returns whether the contract of a method provides for an idempotency key."""
    repetition = method.GetOptions().Extensions[options_pb2.repetition]
    return bool(repetition == options_pb2.REPETITION_KEY)


def is_read(method: MethodDescriptor) -> bool:
    """Returns whether a method reads: it has no side effects, or only counts that something was read."""
    options = method.GetOptions()
    counts = options.Extensions[options_pb2.repetition] == options_pb2.REPETITION_COUNT
    return bool(counts or options.idempotency_level == options.NO_SIDE_EFFECTS)


def method_of(path: str) -> MethodDescriptor:
    """Returns the descriptor of a method by gRPC's name, `/package.Service/Method`."""
    service, _, name = path.lstrip("/").partition("/")
    return descriptor_pool.Default().FindMethodByName(f"{service}.{name}")


def keyed_part(request: Message) -> Message:
    """Returns the part of a request that has a field for the key: the request itself, or its first part."""
    for oneof in request.DESCRIPTOR.oneofs:
        name = request.WhichOneof(oneof.name)
        field = request.DESCRIPTOR.fields_by_name[name] if name else None
        if field is not None and field.message_type is not None:
            part: Message = getattr(request, field.name)
            if FIELD in part.DESCRIPTOR.fields_by_name:
                return part
    return request


def with_key(request: Any, key: str) -> Any:
    """Returns a request, or a stream of requests, with the key unless it has one already."""
    if isinstance(request, Message):
        part = keyed_part(request)
        if FIELD in part.DESCRIPTOR.fields_by_name and not getattr(part, FIELD):
            setattr(part, FIELD, key)
        return request
    if hasattr(request, "__aiter__"):
        return _each(request, key)
    return _all(request, key)


class KeyedChannel:
    """A `grpc.aio.Channel` that gives a new idempotency key to each call that takes one; its retries repeat the key."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel

    def unary_unary(self, method: str, *args: Any, **options: Any) -> Callable[..., Any]:
        """See `grpc.aio.Channel`."""
        return _keyed(method, self._channel.unary_unary(method, *args, **options))

    def unary_stream(self, method: str, *args: Any, **options: Any) -> Callable[..., Any]:
        """See `grpc.aio.Channel`."""
        return _keyed(method, self._channel.unary_stream(method, *args, **options))

    def stream_unary(self, method: str, *args: Any, **options: Any) -> Callable[..., Any]:
        """See `grpc.aio.Channel`."""
        return _keyed(method, self._channel.stream_unary(method, *args, **options))

    def stream_stream(self, method: str, *args: Any, **options: Any) -> Callable[..., Any]:
        """See `grpc.aio.Channel`."""
        return _keyed(method, self._channel.stream_stream(method, *args, **options))

    async def close(self) -> None:
        """Closes the channel."""
        await self._channel.close()


def _keyed(method: str, call: Callable[..., Any]) -> Callable[..., Any]:
    if not takes_key(method_of(method)):
        return call
    return lambda request, **options: call(with_key(request, uuid.uuid4().hex), **options)


async def _each(requests: AsyncIterable[Message], key: str) -> AsyncIterator[Message]:
    first = True
    async for request in requests:
        yield with_key(request, key) if first else request
        first = False


def _all(requests: Iterable[Message], key: str) -> Iterator[Message]:
    first = True
    for request in requests:
        yield with_key(request, key) if first else request
        first = False
