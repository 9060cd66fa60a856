"""JSON Web Tokens (RFC 7519): checked against the issuer's keys, then mapped to space, user and scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jwt

from services.runtime.ids import is_space
from services.runtime.security.api_keys import ALL_SCOPES, USER_PATTERN
from services.runtime.security.key_set import KeySet, from_file, from_url

if TYPE_CHECKING:
    from services.runtime.security.events import SecurityEvents
    from services.runtime.security.settings import SecuritySettings

# Longer ones exceed a call's metadata limit anyway.
_MAX_TOKEN_CHARACTERS = 16 * 1024
_MAX_KEY_ID_CHARACTERS = 256
_USER = re.compile(USER_PATTERN)
_FILE_REFRESH_SECONDS = 1.0
_REQUIRED = ["exp", "iss", "aud", "sub"]

_REFUSALS: tuple[tuple[type[jwt.PyJWTError], str], ...] = (
    (jwt.ExpiredSignatureError, "expired"),
    (jwt.ImmatureSignatureError, "not_yet_valid"),
    (jwt.InvalidAudienceError, "audience"),
    (jwt.InvalidIssuerError, "issuer"),
    (jwt.InvalidSignatureError, "signature"),
    (jwt.InvalidAlgorithmError, "algorithm"),
    (jwt.MissingRequiredClaimError, "claims"),
    (jwt.PyJWTError, "malformed"),
)


class TokenRefusedError(Exception):
    """The token is not valid; `reason` is one of a few words for logs and metrics."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The requirements on a token, and the names of its claims."""

    issuer: str
    audience: tuple[str, ...]
    algorithms: tuple[str, ...]
    leeway_seconds: float
    space_claim: str
    user_claim: str
    scopes_claim: str
    scope_prefix: str


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The claims of a valid token; `space` is None if it names none."""

    token_id: str
    space: str | None
    user: str | None
    scopes: frozenset[str]


def looks_like_token(credential: str) -> bool:
    """Returns whether a credential has the three parts of a token. Braid's own keys never do."""
    return credential.count(".") == 2  # noqa: PLR2004


class TokenVerifier:
    """Checks tokens of one issuer."""

    def __init__(self, rules: TokenRules, key_set: KeySet) -> None:
        self._rules = rules
        self._key_set = key_set

    async def verify(self, token: str) -> TokenClaims:
        """Returns the token's claims.

        Raises TokenRefusedError if it is not valid, KeySetUnavailableError if that cannot be determined.
        """
        key_id, algorithm = self._header(token)
        key = await self._key_set.find(key_id, algorithm)
        if key is None:
            raise TokenRefusedError("unknown_signing_key")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(self._rules.algorithms),
                issuer=self._rules.issuer,
                audience=list(self._rules.audience),
                leeway=self._rules.leeway_seconds,
                options={"require": _REQUIRED, "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            raise TokenRefusedError(_refusal(error)) from None
        return self._read(claims)

    async def close(self) -> None:
        """Stops background work."""
        await self._key_set.close()

    def _header(self, token: str) -> tuple[str | None, str]:
        """Returns a token's key id and algorithm.

        Raises TokenRefusedError for a malformed token or algorithm, before any key is fetched for it.
        """
        if len(token) > _MAX_TOKEN_CHARACTERS or not token.isascii():
            raise TokenRefusedError("malformed")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise TokenRefusedError("malformed") from None
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in self._rules.algorithms:
            raise TokenRefusedError("algorithm")
        if key_id is not None and len(key_id) > _MAX_KEY_ID_CHARACTERS:
            raise TokenRefusedError("malformed")
        return key_id, algorithm

    def _read(self, claims: Mapping[str, Any]) -> TokenClaims:
        space = claims.get(self._rules.space_claim)
        user = claims.get(self._rules.user_claim)
        if space is not None and not (isinstance(space, str) and is_space(space)):
            raise TokenRefusedError("claims")
        if user is not None and not (isinstance(user, str) and _USER.fullmatch(user)):
            raise TokenRefusedError("claims")
        return TokenClaims(_token_id(claims), space, user, self._scopes(claims))

    def _scopes(self, claims: Mapping[str, Any]) -> frozenset[str]:
        given = claims.get(self._rules.scopes_claim)
        words = given.split() if isinstance(given, str) else given
        if not isinstance(words, list):
            return frozenset()
        prefix = self._rules.scope_prefix
        named = {
            word.removeprefix(prefix)
            for word in words
            if isinstance(word, str) and word.startswith(prefix)
        }
        return frozenset(named & ALL_SCOPES)


def build_token_verifier(
    settings: SecuritySettings, security: SecurityEvents
) -> TokenVerifier | None:
    """Returns the verifier described by the settings; None if they name no key set."""
    if settings.jwt_jwks is None:
        return None
    is_url = "://" in settings.jwt_jwks
    fetch = (
        from_url(settings.jwt_jwks, settings.jwt_ca_file)
        if is_url
        else from_file(Path(settings.jwt_jwks))
    )
    refresh = settings.jwt_refresh_seconds if is_url else _FILE_REFRESH_SECONDS
    key_set = KeySet(
        fetch,
        security,
        refresh_seconds=refresh,
        refetch_seconds=min(settings.jwt_refetch_seconds, refresh),
        max_stale_seconds=max(settings.jwt_max_stale_seconds, refresh),
    )
    rules = TokenRules(
        issuer=settings.jwt_issuer or "",
        audience=settings.jwt_audience,
        algorithms=settings.jwt_algorithms,
        leeway_seconds=settings.jwt_leeway_seconds,
        space_claim=settings.jwt_space_claim,
        user_claim=settings.jwt_user_claim,
        scopes_claim=settings.jwt_scopes_claim,
        scope_prefix=settings.jwt_scope_prefix,
    )
    return TokenVerifier(rules, key_set)


def _refusal(error: jwt.PyJWTError) -> str:
    return next(reason for kind, reason in _REFUSALS if isinstance(error, kind))


def _token_id(claims: Mapping[str, Any]) -> str:
    """Returns a token's name in logs: its id if it has one, else its subject."""
    named = claims.get("jti") or claims["sub"]
    return f"jwt:{named}" if _USER.fullmatch(named) else "jwt"
