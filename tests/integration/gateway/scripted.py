"""Services that respond as a test scripts them, over real sockets and behind the real interceptors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message

from braid.agent.v1 import (
    agent_pb2,
    consistency_pb2,
    entity_memory_pb2,
    ingest_pb2,
    memories_pb2,
    models_pb2,
    profile_pb2,
    search_pb2,
    sources_pb2,
    spaces_pb2,
    transfer_pb2,
)
from braid.graph.v1 import ingest_pb2 as graph_ingest_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import documents_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.runtime.context import CallContext, current_call
from services.runtime.errors import NotFoundError
from services.runtime.server import RunningServer, Service, start_server
from services.runtime.settings import RuntimeSettings

CAPACITY = "CheckIngestCapacity"
LOOPBACK = "127.0.0.1"
CONTRACTS = (
    agent_pb2,
    entity_memory_pb2,
    memories_pb2,
    ingest_pb2,
    search_pb2,
    query_pb2,
    graph_ingest_pb2,
    documents_pb2,
    vector_pb2,
    consistency_pb2,
    models_pb2,
    profile_pb2,
    sources_pb2,
    spaces_pb2,
    transfer_pb2,
)
AGENT = (
    "braid.agent.v1.AgentService",
    "braid.agent.v1.EntityMemoryService",
    "braid.agent.v1.MemoryService",
    "braid.agent.v1.SearchService",
    "braid.agent.v1.IngestService",
    "braid.agent.v1.JobService",
    "braid.agent.v1.ConsistencyService",
    "braid.agent.v1.ModelService",
    "braid.agent.v1.SourceService",
    "braid.agent.v1.SpaceService",
    "braid.agent.v1.ProfileService",
)
VECTOR = ("braid.vector.v1.VectorSearchService", "braid.vector.v1.DocumentService")
GRAPH = ("braid.graph.v1.GraphQueryService", "braid.graph.v1.GraphIngestService")


@dataclass
class Seen:
    """One call as a service saw it."""

    method: str
    call: CallContext
    messages: list[Any] = field(default_factory=list)
    time_left: float = 0.0

    @property
    def message(self) -> Any:
        """The only message."""
        (message,) = self.messages
        return message


class Script:
    """What each RPC does, by its name: answer with messages, fail, or hang until canceled."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.cancelled = asyncio.Event()
        self.reached = asyncio.Event()
        self._acts: dict[str, Callable[[], AsyncIterator[Message]]] = {}
        self._refused: dict[str, Exception] = {}
        # Called before every upload, relevant to few tests: succeeds unless a test makes it fail, and is not recorded.
        self.answer(CAPACITY, ingest_pb2.CheckIngestCapacityResponse())
        # Called before a file is taken whose name may stand for another one.
        self.fail("GetDocument", NotFoundError("document"))

    def of(self, rpc: str) -> list[Seen]:
        """The calls of an RPC."""
        return [one for one in self.seen if one.method.endswith(f"/{rpc}")]

    def answer(self, rpc: str, *messages: Message, after: float = 0) -> None:
        """`rpc` answers with these messages, `after` seconds later."""

        async def act() -> AsyncIterator[Message]:
            await asyncio.sleep(after)
            for message in messages:
                yield message

        self._acts[rpc] = act

    def answer_once(self, rpc: str, message: Message, error: Exception) -> None:
        """`rpc` answers the first call with the message and fails from then on."""
        left = [message]

        async def act() -> AsyncIterator[Message]:
            if not left:
                raise error
            yield left.pop()

        self._acts[rpc] = act

    def answer_in_turn(self, rpc: str, *messages: Message) -> None:
        """`rpc` answers each call with the next of these messages."""
        left = list(messages)

        async def act() -> AsyncIterator[Message]:
            yield left.pop(0)

        self._acts[rpc] = act

    def fail(self, rpc: str, error: Exception, *before: Message) -> None:
        """`rpc` fails, after answering with `before` where it streams."""

        async def act() -> AsyncIterator[Message]:
            for message in before:
                yield message
            raise error

        self._acts[rpc] = act

    def refuse(self, rpc: str, error: Exception) -> None:
        """`rpc` fails at the first message of a stream, and reads no other."""
        self._refused[rpc] = error

    def hang(self, rpc: str, *before: Message) -> None:
        """`rpc` answers with `before` and then never again; `cancelled` is set when the call is canceled."""

        async def act() -> AsyncIterator[Message]:
            for message in before:
                yield message
            self.reached.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise

        self._acts[rpc] = act

    async def run(self, method: str, messages: AsyncIterator[Any]) -> AsyncIterator[Message]:
        """Records a call and responds to it."""
        rpc = method.rpartition("/")[2]
        seen = Seen(method, current_call())
        deadline = seen.call.deadline or 0.0
        seen.time_left = deadline - asyncio.get_running_loop().time()
        if not method.endswith(CAPACITY):
            self.seen.append(seen)
        async for message in messages:
            seen.messages.append(message)
            if rpc in self._refused:
                raise self._refused[rpc]
        async for answer in self._acts[rpc]():
            yield answer


class ScriptInTurn:
    """The script of the current test, for services that tests share; a call keeps the script it started with."""

    def __init__(self) -> None:
        self.current = Script()

    def run(self, method: str, messages: AsyncIterator[Any]) -> AsyncIterator[Message]:
        """Records a call and responds to it."""
        return self.current.run(method, messages)


def scripted(name: str, script: Script | ScriptInTurn) -> Service:
    """Returns a service whose every method follows the script."""
    descriptor = descriptor_pool.Default().FindServiceByName(name)
    handlers = {method.name: _handler(method, script) for method in descriptor.methods}
    generic = grpc.method_handlers_generic_handler(name, handlers)
    return Service(name, lambda server: server.add_generic_rpc_handlers((generic,)))


async def start_scripted(
    names: tuple[str, ...], script: Script | ScriptInTurn, **settings: Any
) -> RunningServer:
    """Starts a server of these services on a free port."""
    return await start_server(
        settings=RuntimeSettings(drain_seconds=0, log_level="error", **settings),
        listen=f"{LOOPBACK}:0",
        services=[scripted(name, script) for name in names],
        probes={},
    )


def _handler(method: Any, script: Script | ScriptInTurn) -> Any:
    path = f"/{method.containing_service.full_name}/{method.name}"
    takes = message_factory.GetMessageClass(method.input_type)
    gives = message_factory.GetMessageClass(method.output_type)
    shape = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
    }[method.client_streaming, method.server_streaming]
    behavior = _streaming(path, script) if method.server_streaming else _single(path, script)
    return shape(behavior, takes.FromString, gives.SerializeToString)


def _single(path: str, script: Script | ScriptInTurn) -> Any:
    async def single(request: Any, context: Any) -> Message:
        async for answer in script.run(path, _messages(request)):
            return answer
        raise AssertionError(f"{path} has no answer")

    return single


def _streaming(path: str, script: Script | ScriptInTurn) -> Any:
    async def streaming(request: Any, context: Any) -> AsyncIterator[Message]:
        async for answer in script.run(path, _messages(request)):
            yield answer

    return streaming


async def _messages(request: Any) -> AsyncIterator[Any]:
    if isinstance(request, Message):
        yield request
        return
    async for message in request:
        yield message
