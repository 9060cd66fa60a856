"""An event loop in its own thread, for synchronous callers."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar

from braid_client.connection import CLOSED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from concurrent.futures import Future

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for any number of threads until it is closed; then raises RuntimeError."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        # The loop must not end between the check and the submission of a call: its caller would wait forever.
        # Reentrant, because garbage collection of a stream in the same thread may acquire it again.
        self._lock = threading.RLock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs the coroutine; returns its result or raises its exception."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a call within a call would wait for itself")
        try:
            return self._submit(work).result()
        except CancelledError:
            if self._closed:
                raise RuntimeError(CLOSED) from None
            raise
        except BaseException:
            self._cancel(
                work
            )  # Ctrl-C ends the wait, so cancel the call; no effect on one that has ended
            raise

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._closed:
                work.close()
                raise RuntimeError(CLOSED)
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _cancel(self, work: Coroutine[Any, Any, Any]) -> None:
        """Cancels the call. It is found by its coroutine: Ctrl-C may come before its future is known."""

        def cancel() -> None:
            task = next((one for one in asyncio.all_tasks() if one.get_coro() is work), None)
            if task is not None:
                task.cancel()
            else:
                work.close()  # never submitted, or ended

        with self._lock:
            if not self._closed:  # `close` cancels all tasks
                self._loop.call_soon_threadsafe(cancel)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts the coroutine without waiting for it; does nothing after `close`."""
        with self._lock:
            if self._closed:
                work.close()
                return
            asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, first: Callable[[], Awaitable[None]]) -> None:
        """Awaits `first` on the loop, ends all running tasks, then the thread; may be called again."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        try:
            asyncio.run_coroutine_threadsafe(self._end(first), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _end(self, first: Callable[[], Awaitable[None]]) -> None:
        try:
            await first()
        finally:
            running = asyncio.all_tasks() - {asyncio.current_task()}
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await self._loop.shutdown_asyncgens()
