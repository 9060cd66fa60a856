"""The public keys of token issuers: a JWKS document from a file or an HTTPS endpoint, cached."""

from __future__ import annotations

import asyncio
import json
import math
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jwt
from jwt import PyJWK

from services.runtime.errors import StoreUnavailableError
from services.runtime.security import events

if TYPE_CHECKING:
    from services.runtime.security.events import SecurityEvents

FETCH_SECONDS = 3.0
RETRY_SECONDS = 1.0
"""Seconds between two attempts while the key set cannot be fetched."""
_MAX_BYTES = 1024 * 1024
_MAX_KEYS = 100
# Symmetric keys (`oct`) do not belong in a public key set.
_KEY_TYPES = frozenset({"RSA", "EC", "OKP"})
_OK = 200

Fetch = Callable[[], Awaitable[bytes]]


class KeySetUnavailableError(StoreUnavailableError):
    """A token cannot be checked now, because its signing keys cannot be fetched. The token may be valid."""

    def __init__(self) -> None:
        super().__init__(
            "jwks",
            RETRY_SECONDS,
            message="The token cannot be checked now: the issuer's keys cannot be fetched.",
        )


class KeySet:
    """Signing keys by id, refreshed in the background while known keys serve; to be closed at the end.

    `refresh_seconds` is how long a fetched set is used before it is refreshed, `refetch_seconds` the minimum time
    between two fetches for a key that is not in the set, `max_stale_seconds` how long known keys serve while the set
    cannot be fetched.
    """

    def __init__(
        self,
        fetch: Fetch,
        security: SecurityEvents,
        *,
        refresh_seconds: float,
        refetch_seconds: float,
        max_stale_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._events = security
        self._refresh_seconds = refresh_seconds
        self._refetch_seconds = refetch_seconds
        self._max_stale_seconds = max_stale_seconds
        self._clock = clock
        self._jwks: dict[str | None, Mapping[str, Any]] = {}
        self._keys: dict[tuple[str | None, str], PyJWK] = {}
        self._fetched = self._attempted = -math.inf
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """Returns the key named by a token's header; None if unknown.

        Raises KeySetUnavailableError if that cannot be determined.
        """
        age = self._clock() - self._fetched
        if age >= self._max_stale_seconds:
            await self._attempt(RETRY_SECONDS)
            if self._failed:
                raise KeySetUnavailableError
        elif age >= self._refresh_seconds:
            self._start(RETRY_SECONDS)
        key = self._known(key_id, algorithm)
        if key is None:
            await self._attempt(RETRY_SECONDS if self._failed else self._refetch_seconds)
            key = self._known(key_id, algorithm)
            if key is None and self._failed:
                raise KeySetUnavailableError
        return key

    async def close(self) -> None:
        """Cancels a running fetch."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)

    def _known(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        place = (key_id, algorithm)
        if place not in self._keys:
            jwk = self._jwk(key_id)
            if jwk is None or jwk.get("alg", algorithm) != algorithm:
                return None
            try:
                self._keys[place] = PyJWK(dict(jwk), algorithm)
            except jwt.PyJWTError:  # The key's type does not match the algorithm.
                return None
        return self._keys[place]

    def _jwk(self, key_id: str | None) -> Mapping[str, Any] | None:
        # A token without an id refers to the only key.
        if key_id is None and len(self._jwks) == 1:
            return next(iter(self._jwks.values()))
        return self._jwks.get(key_id)

    async def _attempt(self, interval: float) -> None:
        """Waits for a fetch: the running one, or a new one if the last was at least `interval` seconds ago."""
        task = self._start(interval)
        if task is not None:
            await asyncio.shield(task)

    def _start(self, interval: float) -> asyncio.Task[None] | None:
        if self._fetching is not None and not self._fetching.done():
            return self._fetching
        if self._clock() - self._attempted < interval:
            return None
        self._attempted = self._clock()
        self._fetching = asyncio.create_task(self._refresh(), name="jwks")
        return self._fetching

    async def _refresh(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                jwks = parse_key_set(await self._fetch())
        except Exception as error:  # noqa: BLE001 - any failure means that there is no new key set
            self._failed = True
            self._events.record(
                events.KEY_SET_UNAVAILABLE, reason=type(error).__name__, has_keys=bool(self._jwks)
            )
            return
        if self._jwks and jwks != self._jwks:
            self._events.record(events.KEY_SET_CHANGED, keys=len(jwks))
        if jwks != self._jwks:
            self._keys.clear()
        self._jwks, self._failed, self._fetched = jwks, False, self._clock()


def parse_key_set(data: bytes) -> dict[str | None, Mapping[str, Any]]:
    """Parses the signing keys of a JWKS document by id. Raises ValueError if it is not one, or has no usable key."""
    document = json.loads(data)
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise ValueError("the document is no JSON Web Key Set")  # noqa: TRY004 - an invalid value, like the others
    found: dict[str | None, Mapping[str, Any]] = {}
    for jwk in keys[:_MAX_KEYS]:
        if isinstance(jwk, dict) and jwk.get("kty") in _KEY_TYPES and jwk.get("use") != "enc":
            key_id = jwk.get("kid")
            found[key_id if isinstance(key_id, str) else None] = jwk
    if not found:
        raise ValueError("the key set has no public signing key")
    return found


def from_file(path: Path) -> Fetch:
    """Returns a function that reads the document from a file."""

    async def fetch() -> bytes:
        return await asyncio.to_thread(path.read_bytes)

    return fetch


def from_url(url: str, ca_file: Path | None) -> Fetch:
    """Returns a function that reads the document over HTTP, trusting the authorities in `ca_file` or the system's."""

    async def fetch() -> bytes:
        # Imported here, so that a process without tokens does not load the library.
        import httpx2  # noqa: PLC0415

        context = await asyncio.to_thread(ssl.create_default_context, cafile=ca_file)
        async with (
            httpx2.AsyncClient(verify=context, timeout=FETCH_SECONDS, trust_env=False) as http,
            http.stream("GET", url, headers={"accept": "application/json"}) as response,
        ):
            if response.status_code != _OK:
                raise ValueError("the endpoint did not answer with a document")
            body = b""
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    raise ValueError("the document is too large")
        return body

    return fetch
