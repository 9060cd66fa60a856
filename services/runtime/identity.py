"""The identity of a caller: space, user and scopes of an API key, of a token, or of a caller on this machine."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.runtime.errors import (
    BraidError,
    FieldError,
    InvalidCredentialError,
    InvalidFieldError,
    MissingScopeError,
)
from services.runtime.ids import is_space
from services.runtime.listen import is_loopback
from services.runtime.security import events
from services.runtime.security.api_keys import ALL_SCOPES, USER_PATTERN, KeyRing
from services.runtime.security.events import SecurityEvents
from services.runtime.security.tokens import (
    TokenRefusedError,
    TokenVerifier,
    build_token_verifier,
    looks_like_token,
)
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.runtime.settings import RuntimeSettings

LOCAL_SPACE = "local"
LOCAL_USER = "local"
_USER = re.compile(USER_PATTERN)
# Logged for a missing or malformed credential.
_MISSING = "missing"
_MALFORMED = "malformed"
_NO_SPACE = "no_space"
_FORWARDED = "forwarded"
# Added by proxies: their caller may be on another machine.
_PROXY_HEADERS = frozenset(
    {"forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip"}
    | {"x-original-forwarded-for", "x-proxyuser-ip", "fastly-client-ip", "fly-client-ip"}
    | {"x-original-host", "x-original-url", "cdn-loop", "client-ip"}
)
_PROXY_PREFIXES = ("x-forwarded", "x-envoy-", "cf-", "x-azure-", "x-appengine-")


@dataclass(frozen=True, slots=True)
class Identity:
    """The space, user and scopes of a call.

    `key_id` is the API key's id, `jwt:<id>` of a token, or empty for a caller without a credential.
    """

    space: str
    user: str
    scopes: frozenset[str]
    key_id: str = ""


@dataclass(frozen=True, slots=True)
class _Credential:
    """An accepted credential, before the space and user named by the caller are checked."""

    id: str
    space: str | None
    user: str | None
    scopes: frozenset[str]


class _RefusedError(Exception):
    """The reason for a refused call, for the log. Callers get `answer`: one sentence for all invalid credentials."""

    def __init__(
        self,
        reason: str,
        key_id: str = "",
        *,
        event: str = events.CREDENTIAL_REFUSED,
        answer: BraidError | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.key_id = key_id
        self.event = event
        self.answer = answer or InvalidCredentialError()


class Authenticator:
    """Resolves call metadata to an identity, and records refusals.

    A caller without a credential is `local` in space `local`, only if `allow_local`, which means that the server
    listens on loopback alone, and if no proxy has forwarded the call. With `process_keys`, also only while the ids of
    all keys begin with that prefix.
    """

    def __init__(
        self,
        ring: KeyRing | None,
        *,
        allow_local: bool,
        process_keys: str = "",
        tokens: TokenVerifier | None = None,
        security: SecurityEvents | None = None,
    ) -> None:
        self._ring = ring
        self._allow_local = allow_local
        self._process_keys = process_keys
        self._tokens = tokens
        self.events = security or SecurityEvents()

    @classmethod
    def of(cls, settings: RuntimeSettings, *, listen: str) -> Authenticator:
        """Builds it from a process's settings and its address. Raises KeyFileError if its key file cannot be read."""
        security = SecurityEvents()
        ring = None
        if settings.api_keys_file is not None:
            ring = KeyRing(
                settings.api_keys_file,
                max_stale_seconds=settings.api_keys_max_stale_seconds,
                security=security,
            )
            ring.reload()
        return cls(
            ring,
            allow_local=is_loopback(listen) and _allows_local(settings, listen),
            process_keys=settings.process_key_prefix if settings.allow_local is None else "",
            tokens=build_token_verifier(settings, security),
            security=security,
        )

    async def close(self) -> None:
        """Stops background work."""
        if self._tokens is not None:
            await self._tokens.close()

    async def identify(
        self, metadata: Mapping[str, str], *, method: str = "", request_id: str = ""
    ) -> Identity:
        """Returns the caller's identity. `method` and `request_id` name the call in the log.

        `braid-scopes` in the metadata narrows the caller's scopes to those that it names.

        Raises InvalidCredentialError without a valid credential, MissingScopeError if a key or token names a space or a
        user without permission, KeySetUnavailableError or KeysUnavailableError if it cannot be checked now.
        """
        try:
            return _narrowed(await self._identify(metadata), metadata)
        except _RefusedError as refused:
            self.events.record(
                refused.event,
                reason=refused.reason,
                key_id=refused.key_id,
                method=method,
                request_id=request_id,
            )
            raise refused.answer from None

    async def _identify(self, metadata: Mapping[str, str]) -> Identity:
        header = metadata.get("authorization")
        if header is None:
            return self._without_credential(metadata)
        credential = await self._credential(header)
        if "delegate" in credential.scopes:
            return _delegated(credential, metadata)
        if credential.space is None:
            raise _RefusedError(_NO_SPACE, credential.id)
        if "braid-space" in metadata or "braid-user" in metadata:
            raise _delegation_refused(
                "no_delegate_scope", credential.id, MissingScopeError("delegate")
            )
        return Identity(credential.space, credential.user or "", credential.scopes, credential.id)

    def _without_credential(self, metadata: Mapping[str, str]) -> Identity:
        if not self._is_open() or "braid-space" in metadata or "braid-user" in metadata:
            raise _RefusedError(_MISSING)
        if is_forwarded(metadata):
            raise _RefusedError(_FORWARDED)
        return Identity(LOCAL_SPACE, LOCAL_USER, ALL_SCOPES - {"delegate"})

    def _is_open(self) -> bool:
        """Returns whether callers on loopback need no credential now."""
        if not self._allow_local or self._ring is None or not self._process_keys:
            return self._allow_local
        return self._ring.all_begin_with(self._process_keys)

    async def _credential(self, header: str) -> _Credential:
        scheme, _, given = header.partition(" ")
        given = given.strip()
        if scheme.lower() != "bearer" or not given or not given.isascii():
            raise _RefusedError(_MALFORMED)
        if self._tokens is not None and looks_like_token(given):
            return await self._of_token(self._tokens, given)
        return self._of_key(given)

    async def _of_token(self, tokens: TokenVerifier, token: str) -> _Credential:
        try:
            claims = await tokens.verify(token)
        except TokenRefusedError as refused:
            raise _RefusedError(f"token_{refused.reason}") from None
        return _Credential(claims.token_id, claims.space, claims.user, claims.scopes)

    def _of_key(self, key: str) -> _Credential:
        if self._ring is None:
            raise _RefusedError("unknown")
        record, refusal = self._ring.find(key)
        if record is None or refusal:
            raise _RefusedError(refusal, record.id if record else "")
        return _Credential(record.id, record.space, record.user, record.scopes)


def _allows_local(settings: RuntimeSettings, listen: str) -> bool:
    """Returns whether callers on loopback may need no credential; warns if a setting opens what keys would close."""
    if settings.allow_local is None:
        only_processes = settings.process_key_prefix != "" and not settings.tokens_accepted
        return only_processes or not settings.authenticated
    if settings.allow_local and settings.authenticated:
        get_logger("server").warning(
            "callers on loopback need no credential, although keys or tokens are configured",
            listen=listen,
            setting="BRAID_ALLOW_LOCAL",
        )
    return settings.allow_local


def is_forwarded(names: Iterable[str]) -> bool:
    """Returns whether headers or metadata with these names were added by a proxy, so that the caller is not local."""
    return any(name in _PROXY_HEADERS or name.startswith(_PROXY_PREFIXES) for name in names)


def _narrowed(identity: Identity, metadata: Mapping[str, str]) -> Identity:
    named = metadata.get("braid-scopes")
    if named is None:
        return identity
    scopes = frozenset(named.replace(",", " ").split())
    if not scopes <= ALL_SCOPES:
        known = ", ".join(sorted(ALL_SCOPES))
        raise InvalidFieldError(FieldError("metadata.braid-scopes", f"must be some of: {known}"))
    return replace(identity, scopes=identity.scopes & scopes)


def _delegated(credential: _Credential, metadata: Mapping[str, str]) -> Identity:
    space = metadata.get("braid-space", credential.space)
    if space is None:
        # With any default, a backend that forgot the space would mix its tenants in it.
        raise InvalidFieldError(FieldError("metadata.braid-space", "must name the space to act in"))
    if not is_space(space):
        raise InvalidFieldError(
            FieldError("metadata.braid-space", "must be 1 to 64 of A-Z a-z 0-9 _ -")
        )
    user = metadata.get("braid-user") or credential.user or ""
    if user and _USER.fullmatch(user) is None:
        raise InvalidFieldError(
            FieldError(
                "metadata.braid-user", "must be 1 to 128 printable ASCII characters without spaces"
            )
        )
    # A key bound to a space may name users in it, not other spaces.
    if credential.space is not None and space != credential.space:
        error = MissingScopeError("delegate", "The API key is bound to another space.")
        raise _delegation_refused("other_space", credential.id, error)
    return Identity(space, user, credential.scopes, credential.id)


def _delegation_refused(reason: str, key_id: str, answer: BraidError) -> _RefusedError:
    """Returns the refusal of a space or a user that the caller may not name."""
    return _RefusedError(reason, key_id, event=events.DELEGATION_REFUSED, answer=answer)
