"""Classifies failed attempts by what they say about a provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from services.models.language.limited_model import Fault, ProviderFailed

_SERVER_ERROR = 500
_TOO_MANY = 429
_PASSING = frozenset({408, 409, _TOO_MANY})
# Status codes for a request that is too long, or whose content the provider refuses.
_OF_THE_PROMPT = frozenset({400, 413, 422})


def status_failure(status: int, wait: float | None) -> ProviderFailed:
    """Classifies an HTTP status: a refusal is permanent; a rate limit does not mean that the provider is broken."""
    broken = status >= _SERVER_ERROR
    return ProviderFailed(
        f"HTTP {status}",
        passing=broken or status in _PASSING,
        broken=broken,
        retry_after=wait,
        fault=Fault.PROMPT if status in _OF_THE_PROMPT else Fault.NONE,
        rate_limited=status == _TOO_MANY,
    )


def cut_off() -> ProviderFailed:
    """Returns the failure of a truncated answer: a retry would be as long, and as expensive."""
    return ProviderFailed("answer cut off", passing=False, broken=False, fault=Fault.ANSWER)


def refused_here(error: Exception) -> ProviderFailed:
    """Returns the failure of a prompt that the library itself refuses to send, permanently."""
    cause = f"not sent: {type(error).__name__}"
    return ProviderFailed(cause, passing=False, broken=False, fault=Fault.PROMPT)


@contextmanager
def sending() -> Iterator[None]:
    """Distinguishes a prompt that cannot be sent from an answer that cannot be read."""
    try:
        yield
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise _malformed() from None
    except ValueError as error:
        raise refused_here(error) from None
    except (TypeError, AttributeError, IndexError):
        raise _malformed() from None


@contextmanager
def reading() -> Iterator[None]:
    """Treats an answer of an unexpected shape as a temporary failure."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        raise _malformed() from None


def _malformed() -> ProviderFailed:
    return ProviderFailed("malformed answer", passing=True, broken=False, fault=Fault.ANSWER)
