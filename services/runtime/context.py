"""The caller, space and deadline of a call, carried by a context variable."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.runtime.errors import DeadlineError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call, as determined by its credential and its caller's deadline.

    `deadline` is on the event loop's clock, in seconds; None if the caller set none. `idempotency_key` is empty unless
    the caller may repeat the call.
    """

    request_id: str
    method: str
    space: str
    user: str
    scopes: frozenset[str]
    deadline: float | None = None
    idempotency_key: str = ""


# A timeout this short does not mean that the provider is down.
SHORT_TIMEOUT_SECONDS = 0.25
CLEAN_UP_SECONDS = 5.0

_current: ContextVar[CallContext] = ContextVar("braid_call")


def current_call() -> CallContext:
    """Returns the call being served. Raises LookupError outside of one, where there is no space to work in."""
    return _current.get()


def current_call_or_none() -> CallContext | None:
    """Returns the call being served; None outside of one."""
    return _current.get(None)


def may_write() -> bool:
    """Returns whether the caller may change data; a caller with the scope `read` alone leaves no trace in any store."""
    return "write" in current_call().scopes


def enter_call(call: CallContext) -> None:
    """Makes `call` the current one until the running task ends; each RPC has a task of its own."""
    _current.set(call)


@contextmanager
def call_scope(call: CallContext) -> Iterator[CallContext]:
    """Runs a block as part of `call`: for background work and tests."""
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def remaining(limit: float) -> float:
    """Returns the seconds left of the caller's deadline, at most `limit`. Raises DeadlineError if none are left."""
    call = _current.get(None)
    if call is None or call.deadline is None:
        return limit
    left = call.deadline - asyncio.get_running_loop().time()
    if left <= 0:
        raise DeadlineError
    return min(limit, left)


def share_of_remaining(share: float) -> float | None:
    """Returns a share of the seconds left until the caller's deadline; None without one.

    Raises DeadlineError past it.
    """
    call = _current.get(None)
    if call is None or call.deadline is None:
        return None
    return remaining(float("inf")) * share


def is_short_timeout(seconds: float | None) -> bool:
    """Returns whether a timeout is too short to say anything about the provider's health."""
    return seconds is not None and seconds < SHORT_TIMEOUT_SECONDS


@contextmanager
def clean_up_scope(seconds: float = CLEAN_UP_SECONDS) -> Iterator[None]:
    """Gives the block `seconds` of its own: what a failed call leaves behind is removed even past its deadline."""
    call = _current.get(None)
    if call is None:
        yield
        return
    with call_scope(replace(call, deadline=asyncio.get_running_loop().time() + seconds)):
        yield
