"""Server reflection for tools such as grpcurl: under both names of its protocol, with methods as symbols too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import grpc
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha import reflection, reflection_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable

# Both versions have the same messages.
_VERSIONS: Final = (
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
)


async def _with_known_symbols(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Asks for a method's service in its place: the library does not find methods, and its service describes it."""
    async for request in requests:
        service, _, method = request.file_containing_symbol.rpartition(".")
        if method in _methods_of(service):
            request.file_containing_symbol = service
        yield request


def _methods_of(service: str) -> Collection[str]:
    try:
        return descriptor_pool.Default().FindServiceByName(service).methods_by_name
    except KeyError:
        return ()


def add_reflection(server: grpc.aio.Server, services: Iterable[str]) -> None:
    """Serves the descriptors of these services, by their full names."""
    # The library's types take its asynchronous generator for a coroutine.
    servicer: Any = reflection.aio.ReflectionServicer(services)

    async def answer(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for found in servicer.ServerReflectionInfo(_with_known_symbols(requests), context):
            yield found

    handler = grpc.stream_stream_rpc_method_handler(
        answer,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for version in _VERSIONS:
        server.add_registered_method_handlers(version, {"ServerReflectionInfo": handler})
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(version, {"ServerReflectionInfo": handler}),)
        )
