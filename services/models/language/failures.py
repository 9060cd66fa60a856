"""What failed attempts say about a provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from services.models.language.limited_model import Fault, ProviderFailed

_SERVER_ERROR = 500
_TOO_MANY = 429
_PASSING = frozenset({408, 409, _TOO_MANY})
# What a provider says of a request that is too long, or whose content it does not take.
_OF_THE_PROMPT = frozenset({400, 413, 422})


def status_failure(status: int, wait: float | None) -> ProviderFailed:
    """What an HTTP status says: a refusal is for good, a rate limit says nothing against the provider."""
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
    """The answer was longer than it may be: asked again it would be as long, and as dear."""
    return ProviderFailed("answer cut off", passing=False, broken=False, fault=Fault.ANSWER)


def refused_here(error: Exception) -> ProviderFailed:
    """The library itself does not send this prompt, now or later."""
    cause = f"not sent: {type(error).__name__}"
    return ProviderFailed(cause, passing=False, broken=False, fault=Fault.PROMPT)


@contextmanager
def sending() -> Iterator[None]:
    """Tells a prompt that cannot be sent from an answer that cannot be read."""
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
    """An answer of another shape than promised is a passing failure."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        raise _malformed() from None


def _malformed() -> ProviderFailed:
    return ProviderFailed("malformed answer", passing=True, broken=False, fault=Fault.ANSWER)
