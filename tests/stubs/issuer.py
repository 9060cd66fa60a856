"""An issuer of JSON Web Tokens that serves its keys over HTTP on a free loopback port.

async with Issuer() as issuer:
    settings = RuntimeSettings(**issuer.settings())
    token = issuer.token(braid_space="acme", scope="braid:read")
    issuer.rotate()          # new tokens are signed with a new key
    issuer.stub.answer_always(server_error())
"""

from __future__ import annotations

import json
import time
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from jwt.algorithms import ECAlgorithm

from tests.stubs.openai_server import OpenAIStub, Reply

ISSUER = "https://issuer.test"
AUDIENCE = "braid"
PATH = "/v1/jwks.json"


class Issuer:
    """The issuer; `stub.requests` records the requests to its endpoint."""

    def __init__(self) -> None:
        self.stub = OpenAIStub()
        self.stub.routes[PATH] = lambda _: Reply(body=self.key_set())
        self._keys: dict[str, EllipticCurvePrivateKey] = {}
        self.rotate()

    @property
    def url(self) -> str:
        """Returns the URL of the key set."""
        return f"{self.stub.base_url.removesuffix('/v1')}{PATH}"

    def settings(self, **more: Any) -> dict[str, Any]:
        """Returns settings for a process that accepts this issuer's tokens."""
        return {
            "jwt_jwks": self.url,
            "jwt_issuer": ISSUER,
            "jwt_audience": (AUDIENCE,),
            **more,
        }

    def rotate(self) -> str:
        """Adds a key with which later tokens are signed; returns its id."""
        key_id = f"key-{len(self._keys) + 1}"
        self._keys[key_id] = generate_private_key(SECP256R1())
        return key_id

    def withdraw(self, key_id: str) -> None:
        """Removes a key from the key set."""
        del self._keys[key_id]

    def key_set(self) -> bytes:
        """Returns the JWKS document."""
        keys = [
            {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": key_id, "use": "sig"}
            for key_id, key in self._keys.items()
        ]
        return json.dumps({"keys": keys}).encode()

    def token(self, *, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """Returns a token for one hour, signed with the latest key; a claim of None is omitted."""
        key_id, key = list(self._keys.items())[-1]
        now = int(time.time())
        usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 3600}
        given = {name: value for name, value in (usual | claims).items() if value is not None}
        return jwt.encode(given, key, algorithm="ES256", headers={"kid": key_id, **(headers or {})})

    async def __aenter__(self) -> Self:
        await self.stub.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stub.__aexit__()
