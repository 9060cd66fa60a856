"""The synchronous client, whose methods are derived from those of `AsyncBraid`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypedDict, TypeVar, Unpack

from braid_client.asynchronous import AsyncBraid
from braid_client.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    import grpc

    from braid_client.tls import Tls

P = ParamSpec("P")
T = TypeVar("T")
_END = object()


class ConnectionOptions(TypedDict, total=False):
    """Options of both clients; documented at `AsyncBraid`."""

    vector_target: str
    graph_target: str
    api_key: str | None
    space: str | None
    user: str | None
    timeout: float
    credentials: grpc.ChannelCredentials | None
    tls: Tls | None


def _call(
    method: Callable[Concatenate[AsyncBraid, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Braid, P], T]:
    """Converts a coroutine method to one that waits for its result."""

    @wraps(method)
    def call(self: Braid, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(_start(method, self._client, args, kwargs))

    return call


def _stream(
    method: Callable[Concatenate[AsyncBraid, P], AsyncIterator[T]],
) -> Callable[Concatenate[Braid, P], Iterator[T]]:
    """Converts a method that returns an asynchronous iterator to one that returns an iterator."""

    @wraps(method)
    def stream(self: Braid, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._each(_start(method, self._client, args, kwargs))

    signature = inspect.signature(method)
    returned = str(signature.return_annotation).removeprefix("Async")
    vars(stream)["__signature__"] = signature.replace(return_annotation=returned)
    return stream


def _start(
    method: Callable[..., T], client: AsyncBraid, args: Iterable[Any], kwargs: Mapping[str, Any]
) -> T:
    """Calls the asynchronous method with iterables converted to lists.

    They are read here because an iterable that calls the client would deadlock on the loop's thread.
    """
    return method(client, *map(_read, args), **{name: _read(kwargs[name]) for name in kwargs})


def _read(value: object) -> object:
    is_stored = isinstance(value, str | bytes | Sequence | Mapping)
    return list(value) if isinstance(value, Iterable) and not is_stored else value


class Braid:
    """Takes the options of `AsyncBraid`, and may be used from any number of threads. Close it, or use `with`."""

    def __init__(
        self, target: str = "127.0.0.1:50050", **options: Unpack[ConnectionOptions]
    ) -> None:
        self._client = AsyncBraid(target, **options)  # first: invalid options start no thread
        self._thread = LoopThread("braid-client")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all channels and ends the thread; running and later calls raise RuntimeError."""
        self._thread.close(self._client.close)

    comprehensive_search = _call(AsyncBraid.comprehensive_search)
    stream_comprehensive_search = _stream(AsyncBraid.stream_comprehensive_search)
    hybrid_search = _call(AsyncBraid.hybrid_search)
    expanded_hybrid_search = _call(AsyncBraid.expanded_hybrid_search)
    vector_search = _call(AsyncBraid.vector_search)
    text_search = _call(AsyncBraid.text_search)
    search_facts = _call(AsyncBraid.search_facts)
    neighborhood = _call(AsyncBraid.neighborhood)
    entities = _stream(AsyncBraid.entities)

    entity_history = _call(AsyncBraid.entity_history)
    snapshot = _call(AsyncBraid.snapshot)
    diff = _call(AsyncBraid.diff)
    find_paths = _call(AsyncBraid.find_paths)
    list_facts = _stream(AsyncBraid.list_facts)
    get_fact = _call(AsyncBraid.get_fact)
    end_fact = _call(AsyncBraid.end_fact)
    withdraw_facts = _call(AsyncBraid.withdraw_facts)
    correct_fact = _call(AsyncBraid.correct_fact)

    add_findings = _call(AsyncBraid.add_findings)
    search_findings = _call(AsyncBraid.search_findings)
    list_findings = _stream(AsyncBraid.list_findings)
    get_ontology = _call(AsyncBraid.get_ontology)
    put_ontology = _call(AsyncBraid.put_ontology)

    save_memory_entity = _call(AsyncBraid.save_memory_entity)
    save_memory_relationship = _call(AsyncBraid.save_memory_relationship)
    save_memory_turn = _call(AsyncBraid.save_memory_turn)
    query_memory_entities = _call(AsyncBraid.query_memory_entities)
    query_memory = _call(AsyncBraid.query_memory)
    delete_memory_entity = _call(AsyncBraid.delete_memory_entity)
    query_memory_relationships = _call(AsyncBraid.query_memory_relationships)
    related_memory_entities = _call(AsyncBraid.related_memory_entities)
    merge_memory_entities = _call(AsyncBraid.merge_memory_entities)
    rename_memory_entity = _call(AsyncBraid.rename_memory_entity)
    restore_memory_entity = _call(AsyncBraid.restore_memory_entity)
    delete_memory_relationship = _call(AsyncBraid.delete_memory_relationship)
    memory_quota = _call(AsyncBraid.memory_quota)
    export_memory = _stream(AsyncBraid.export_memory)
    list_dead_memory_writes = _call(AsyncBraid.list_dead_memory_writes)
    retry_dead_memory_writes = _call(AsyncBraid.retry_dead_memory_writes)
    erase_memory = _call(AsyncBraid.erase_memory)

    create_memory = _call(AsyncBraid.create_memory)
    get_memory = _call(AsyncBraid.get_memory)
    list_memories = _stream(AsyncBraid.list_memories)
    delete_memory = _call(AsyncBraid.delete_memory)
    relate_memories = _call(AsyncBraid.relate_memories)
    unrelate_memories = _call(AsyncBraid.unrelate_memories)
    search_memories = _call(AsyncBraid.search_memories)
    close_memory_session = _call(AsyncBraid.close_memory_session)
    memory_types = _call(AsyncBraid.memory_types)
    put_memory_types = _call(AsyncBraid.put_memory_types)
    run_memory_inference = _call(AsyncBraid.run_memory_inference)
    start_memory_inference = _call(AsyncBraid.start_memory_inference)
    memory_stats = _call(AsyncBraid.memory_stats)

    expand = _call(AsyncBraid.expand)
    put_relations = _call(AsyncBraid.put_relations)
    delete_relations = _call(AsyncBraid.delete_relations)
    list_relations = _stream(AsyncBraid.list_relations)

    ingest_document = _call(AsyncBraid.ingest_document)
    wait_for_job = _call(AsyncBraid.wait_for_job)
    ingest_facts = _call(AsyncBraid.ingest_facts)
    delete_document = _call(AsyncBraid.delete_document)

    get_job = _call(AsyncBraid.get_job)
    list_jobs = _stream(AsyncBraid.list_jobs)
    cancel_job = _call(AsyncBraid.cancel_job)
    retry_job = _call(AsyncBraid.retry_job)
    retry_dead_documents = _call(AsyncBraid.retry_dead_documents)
    list_dead_documents = _stream(AsyncBraid.list_dead_documents)

    check_consistency = _call(AsyncBraid.check_consistency)
    repair_consistency = _call(AsyncBraid.repair_consistency)
    list_quarantines = _stream(AsyncBraid.list_quarantines)
    list_quarantined_items = _stream(AsyncBraid.list_quarantined_items)
    restore_quarantine = _call(AsyncBraid.restore_quarantine)
    purge_quarantine = _call(AsyncBraid.purge_quarantine)

    upsert_document = _call(AsyncBraid.upsert_document)
    upsert_documents = _call(AsyncBraid.upsert_documents)
    get_document = _call(AsyncBraid.get_document)
    list_document_versions = _stream(AsyncBraid.list_document_versions)
    list_documents = _stream(AsyncBraid.list_documents)
    get_text_language = _call(AsyncBraid.get_text_language)
    set_text_language = _call(AsyncBraid.set_text_language)

    ask = _call(AsyncBraid.ask)
    stream_ask = _stream(AsyncBraid.stream_ask)
    run_events = _stream(AsyncBraid.run_events)
    cancel_run = _call(AsyncBraid.cancel_run)
    create_conversation = _call(AsyncBraid.create_conversation)
    get_conversation = _call(AsyncBraid.get_conversation)
    list_conversations = _stream(AsyncBraid.list_conversations)
    list_messages = _stream(AsyncBraid.list_messages)
    rename_conversation = _call(AsyncBraid.rename_conversation)
    delete_conversation = _call(AsyncBraid.delete_conversation)

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._thread.run(call)

    def _each(self, stream: AsyncIterator[T]) -> Iterator[T]:
        try:
            while True:
                item: Any = self._run(_next(stream))
                if item is _END:
                    return
                yield item
        finally:
            self._thread.begin(_left(stream))


async def _left(stream: AsyncIterator[Any]) -> None:
    """Ends a stream that its caller may have left early."""
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()


async def _next(stream: AsyncIterator[Any]) -> Any:
    return await anext(stream, _END)
