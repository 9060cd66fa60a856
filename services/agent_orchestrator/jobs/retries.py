"""Retries with backoff while a tier or the embedder is unavailable, and the reason shown to users on failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_delay,
    wait_exponential_jitter,
)

from braid.common.v1 import errors_pb2
from services.models.errors import TextsRefused, is_unusable
from services.runtime.context import current_call_or_none
from services.runtime.errors import INTERNAL_MESSAGE, BraidError

Result = TypeVar("Result")

FIRST_WAIT = 0.1
MAX_WAIT = 5.0

_PASSING = frozenset(
    {
        errors_pb2.ERROR_REASON_STORE_UNAVAILABLE,
        errors_pb2.ERROR_REASON_EMBEDDER_UNAVAILABLE,
        errors_pb2.ERROR_REASON_DEADLINE,
    }
)
_MODEL_FIELD = "embedding_model"


class Retries:
    """Retries idempotent work with growing waits until it succeeds or `seconds` have passed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def run(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Returns the work's result. Raises the last transient failure after `seconds`, other failures immediately."""
        retrying = AsyncRetrying(
            retry=retry_if_exception(is_transient),
            stop=stop_after_delay(self._seconds),
            wait=_Wait(),
            reraise=True,
        )

        async def attempt() -> Result:
            return await work()

        return await retrying(attempt)


class _Wait(wait_exponential_jitter):
    """Grows with each attempt; at least as long as the server asked for, at most the maximum wait."""

    def __init__(self) -> None:
        super().__init__(multiplier=FIRST_WAIT, max=MAX_WAIT, jitter=FIRST_WAIT)

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = (error.retry_after or 0.0) if isinstance(error, BraidError) else 0.0
        return max(super().__call__(retry_state), min(asked, MAX_WAIT))


def is_transient(error: BaseException) -> bool:
    """Whether waiting can help. An overload without a known wait means that the message is too large: it cannot."""
    if not isinstance(error, BraidError):
        return isinstance(error, TimeoutError)
    if error.reason == errors_pb2.ERROR_REASON_OVERLOADED:
        return error.retry_after is not None
    if isinstance(error, TextsRefused) or is_unusable(error):
        return False
    return error.reason in _PASSING


def reason_of(error: BraidError) -> str:
    """Returns the reason of a failure without field paths that the caller never sent; for a defect, the request id."""
    if error.reason == errors_pb2.ERROR_REASON_INTERNAL:
        # A job's reader has no request id of their own: the id of the worker's call is in the logs of all services.
        call = current_call_or_none()
        return f"{INTERNAL_MESSAGE} It is {call.request_id}." if call else INTERNAL_MESSAGE
    if any(field.field == _MODEL_FIELD for field in error.fields):
        return error.message
    return "; ".join(description for _, description in error.fields) or error.message
