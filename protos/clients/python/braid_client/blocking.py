"""Methods of the asyncio client as methods that wait for their results."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    from braid_client.loop_thread import LoopThread

P = ParamSpec("P")
T = TypeVar("T")
_END = object()


def call(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Blocking, P], T]:
    """Converts a coroutine method to one that waits for its result."""

    @wraps(method)
    def waiting(self: Blocking, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(_start(method, self._client, args, kwargs))

    return waiting


def stream(
    method: Callable[Concatenate[Any, P], AsyncIterator[T]],
) -> Callable[Concatenate[Blocking, P], Iterator[T]]:
    """Converts a method that returns an asynchronous iterator to one that returns an iterator."""

    @wraps(method)
    def reading(self: Blocking, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._each(_start(method, self._client, args, kwargs))

    signature = inspect.signature(method)
    returned = str(signature.return_annotation).removeprefix("Async")
    vars(reading)["__signature__"] = signature.replace(return_annotation=returned)
    return reading


def _start(
    method: Callable[..., T], client: Any, args: Iterable[Any], kwargs: Mapping[str, Any]
) -> T:
    """Calls the asynchronous method with iterables converted to lists.

    They are read here because an iterable that calls the client would deadlock on the loop's thread.
    """
    return method(client, *map(_read, args), **{name: _read(kwargs[name]) for name in kwargs})


def _read(value: object) -> object:
    is_stored = isinstance(value, str | bytes | Sequence | Mapping)
    return list(value) if isinstance(value, Iterable) and not is_stored else value


class Blocking:
    """Runs the methods of a client on a thread of its own."""

    _client: Any
    _thread: LoopThread

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
