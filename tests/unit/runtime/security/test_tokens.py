"""Which tokens are valid, and which identity they carry."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from services.runtime.security.tokens import (
    TokenClaims,
    TokenRefusedError,
    TokenVerifier,
    build_token_verifier,
)
from services.runtime.settings import RuntimeSettings
from tests.stubs.issuer import Issuer
from tests.unit.runtime.security.conftest import RecordedEvents

NOW = int(time.time())


def verifier(recorded: RecordedEvents, **settings: Any) -> TokenVerifier:
    built = build_token_verifier(RuntimeSettings(_env_file=None, **settings), recorded)
    assert built is not None
    return built


@pytest.fixture
async def tokens(issuer: Issuer, recorded: RecordedEvents) -> AsyncIterator[TokenVerifier]:
    built = verifier(recorded, **issuer.settings())
    yield built
    await built.close()


def encoded(part: dict[str, Any] | bytes) -> str:
    data = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


async def test_a_token_carries_space_user_and_scopes(issuer: Issuer, tokens: TokenVerifier) -> None:
    token = issuer.token(
        braid_space="acme",
        sub="ann",
        scope="openid braid:read braid:write admin delegate",
        jti="t-1",
    )
    assert await tokens.verify(token) == TokenClaims(
        "jwt:t-1", "acme", "ann", frozenset({"read", "write"})
    )


async def test_claim_names_and_scope_prefix_are_configurable(
    issuer: Issuer, recorded: RecordedEvents
) -> None:
    tokens = verifier(
        recorded,
        **issuer.settings(
            jwt_space_claim="tenant",
            jwt_user_claim="email",
            jwt_scopes_claim="roles",
            jwt_scope_prefix="app/",
        ),
    )
    token = issuer.token(
        tenant="acme", email="ann@acme.test", roles=["app/read", "write", "braid:write"]
    )
    found = await tokens.verify(token)
    assert (found.space, found.user, set(found.scopes)) == ("acme", "ann@acme.test", {"read"})


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": NOW - 3600}, "expired"),
        ({"exp": None}, "claims"),
        ({"nbf": NOW + 3600}, "not_yet_valid"),
        ({"iat": NOW + 3600}, "not_yet_valid"),
        ({"aud": "another"}, "audience"),
        ({"aud": None}, "claims"),
        ({"aud": ["another", "third"]}, "audience"),
        ({"iss": "https://another.test"}, "issuer"),
        ({"iss": None}, "claims"),
        ({"sub": None}, "claims"),
        ({"braid_space": "a b"}, "claims"),
        ({"braid_space": 7}, "claims"),
        ({"sub": "two words"}, "claims"),
        ({"sub": "line\nbreak"}, "claims"),
    ],
)
async def test_a_token_with_invalid_claims_is_refused(
    issuer: Issuer, tokens: TokenVerifier, claims: dict[str, Any], reason: str
) -> None:
    with pytest.raises(TokenRefusedError) as refused:
        await tokens.verify(issuer.token(**{"braid_space": "acme", **claims}))
    assert refused.value.reason == reason


@pytest.mark.parametrize(("claim", "seconds"), [("exp", -10), ("nbf", 10), ("iat", 10)])
async def test_small_clock_differences_are_tolerated(
    issuer: Issuer, tokens: TokenVerifier, claim: str, seconds: int
) -> None:
    claims: dict[str, Any] = {claim: int(time.time()) + seconds}
    token = issuer.token(braid_space="acme", **claims)
    assert (await tokens.verify(token)).space == "acme"


@pytest.mark.parametrize(
    "token", ["", "..", "a.b.c", "a.b", "x" * 20_000, f"{encoded(b'[1]')}.e30.x", "ü.ü.ü"]
)
async def test_a_malformed_token_is_refused_without_fetching_keys(
    issuer: Issuer, tokens: TokenVerifier, token: str
) -> None:
    with pytest.raises(TokenRefusedError) as refused:
        await tokens.verify(token)
    assert refused.value.reason == "malformed"
    assert issuer.stub.requests == []


@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "ES384", "RS512"])
async def test_other_algorithms_are_refused_without_fetching_keys(
    issuer: Issuer, tokens: TokenVerifier, algorithm: str
) -> None:
    _, claims, signature = issuer.token(braid_space="acme").split(".")
    forged = encoded({"alg": algorithm, "kid": "key-1", "typ": "JWT"})
    for token in (f"{forged}.{claims}.{signature}", f"{forged}.{claims}."):
        with pytest.raises(TokenRefusedError) as refused:
            await tokens.verify(token)
        assert refused.value.reason == "algorithm"
    assert issuer.stub.requests == []


async def test_a_public_key_is_not_accepted_as_a_shared_secret(
    issuer: Issuer, tokens: TokenVerifier
) -> None:
    """The token is signed by HS256 with the bytes of the published keys as the secret."""
    header = encoded({"alg": "HS256", "kid": "key-1", "typ": "JWT"})
    claims = issuer.token(braid_space="acme").split(".")[1]
    signature = hmac.new(issuer.key_set(), f"{header}.{claims}".encode(), hashlib.sha256).digest()
    with pytest.raises(TokenRefusedError) as refused:
        await tokens.verify(f"{header}.{claims}.{encoded(signature)}")
    assert refused.value.reason == "algorithm"


@pytest.mark.parametrize("algorithms", ["HS256", "none", "RS256,HS256", ""])
async def test_symmetric_algorithms_cannot_be_allowed(issuer: Issuer, algorithms: str) -> None:
    with pytest.raises(ValueError, match="must be one or more of"):
        RuntimeSettings(_env_file=None, **issuer.settings(jwt_algorithms=algorithms))


async def test_a_tampered_token_is_refused(issuer: Issuer, tokens: TokenVerifier) -> None:
    header, _, signature = issuer.token(braid_space="acme").split(".")
    claims = issuer.token(braid_space="other").split(".")[1]
    with pytest.raises(TokenRefusedError) as refused:
        await tokens.verify(f"{header}.{claims}.{signature}")
    assert refused.value.reason == "signature"


async def test_a_token_signed_by_another_key_with_a_known_id_is_refused(
    issuer: Issuer, tokens: TokenVerifier
) -> None:
    with pytest.raises(TokenRefusedError) as refused:
        await tokens.verify(Issuer().token(braid_space="acme"))
    assert refused.value.reason == "signature"


async def test_a_key_that_does_not_match_the_algorithm_is_not_used(
    issuer: Issuer, tokens: TokenVerifier
) -> None:
    key = generate_private_key(public_exponent=65537, key_size=2048)
    token = jwt.encode({"sub": "ann"}, key, algorithm="RS256", headers={"kid": "key-1"})
    with pytest.raises(TokenRefusedError) as refused:
        await tokens.verify(token)
    assert refused.value.reason == "unknown_signing_key"


async def test_keys_may_be_read_from_a_file(
    issuer: Issuer, recorded: RecordedEvents, tmp_path: Path
) -> None:
    path = tmp_path / "jwks.json"
    path.write_bytes(issuer.key_set())
    tokens = verifier(recorded, **issuer.settings(jwt_jwks=str(path)))
    assert (await tokens.verify(issuer.token(braid_space="acme"))).space == "acme"


@pytest.mark.parametrize(
    "settings",
    [
        {"jwt_jwks": "http://issuer.test/jwks", "jwt_issuer": "i", "jwt_audience": "a"},
        {"jwt_jwks": "ftp://127.0.0.1/jwks", "jwt_issuer": "i", "jwt_audience": "a"},
        {"jwt_jwks": "https://issuer.test/jwks", "jwt_audience": "a"},
        {"jwt_jwks": "https://issuer.test/jwks", "jwt_issuer": "i"},
    ],
)
def test_insecure_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"https address|needs BRAID_JWT_ISSUER"):
        RuntimeSettings(_env_file=None, **settings)
