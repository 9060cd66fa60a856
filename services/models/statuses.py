"""What HTTP statuses say about a provider."""

from __future__ import annotations

from services.models.language_limits import ProviderFailed

_SERVER_ERROR = 500
_PASSING = frozenset({408, 409, 429})


def status_failure(status: int, wait: float | None) -> ProviderFailed:
    """What an HTTP status says: a refusal is for good, a rate limit says nothing against the provider."""
    broken = status >= _SERVER_ERROR
    return ProviderFailed(
        f"HTTP {status}", passing=broken or status in _PASSING, broken=broken, retry_after=wait
    )
