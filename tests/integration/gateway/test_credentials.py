"""Invalid credentials over real gRPC and HTTP are refused with the right reason, and no call is executed."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest
import pytest_asyncio
from pydantic import SecretStr

from braid.vector.v1 import search_pb2, search_pb2_grpc
from gateway.settings import GatewaySettings
from services.runtime.channels import open_channel
from services.runtime.identity import Authenticator
from services.runtime.listen import ListenError
from services.runtime.security.key_file import KeyEditor
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.times import utc_now
from tests.integration.gateway.conftest import serve_gateway
from tests.integration.gateway.scripted import (
    AGENT,
    GRAPH,
    LOOPBACK,
    VECTOR,
    Script,
    start_scripted,
)
from tests.stubs.issuer import Issuer
from tests.stubs.openai_server import server_error

METHOD = "/braid.vector.v1.VectorSearchService/TextSearch"
SEARCH = "/api/search/text"
HOUR = 3600
TARGETS = ("agent_target", "vector_target", "graph_target")

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Endpoints:
    """A tier and a gateway over it that accept keys and tokens, and the security events that they record."""

    grpc: search_pb2_grpc.VectorSearchServiceStub
    http: httpx2.AsyncClient
    url: str
    port: int
    script: Script
    issuer: Issuer
    keys: KeyEditor
    secrets: dict[str, str]
    recorded: list[tuple[str, dict[str, Any]]]

    async def ask_grpc(self, *metadata: tuple[str, str]) -> str:
        """Returns the code that the tier refuses with; empty if it answers."""
        try:
            request = search_pb2.TextSearchRequest(query="q")
            await self.grpc.TextSearch(request, metadata=metadata, timeout=10)
        except grpc.aio.AioRpcError as error:
            return error.code().name
        return ""

    async def ask_http(self, **headers: str) -> tuple[int, str]:
        """Returns status and reason of the gateway's response."""
        answer = await self.http.post(SEARCH, json={"query": "q"}, headers=headers)
        return answer.status_code, answer.json().get("reason", "")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def endpoints(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Endpoints]:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    keys = KeyEditor(path)
    delegate = ["read", "write", "admin", "delegate"]
    wanted: dict[str, tuple[str | None, list[str]]] = {
        "reader": ("team-a", ["read"]),
        "writer": ("team-a", ["write"]),
        "other": ("team-b", ["read"]),
        "revoked": ("team-a", ["read"]),
        "service": (None, delegate),
        "bound": ("team-a", delegate),
    }
    secrets = {
        name: keys.create(key_id=name, space=space, user=None, scopes=scopes, expires_at=None)[1]
        for name, (space, scopes) in wanted.items()
    }
    keys.revoke("revoked")
    script, recorded = Script(), []
    script.answer("TextSearch", search_pb2.TextSearchResponse())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "services.runtime.security.events.SecurityEvents.record",
            lambda _, event, **given: recorded.append((event, given)),
        )
        async with Issuer() as issuer:
            accepted = issuer.settings(api_keys_file=path, allow_local=False)
            server = await start_scripted((*AGENT, *VECTOR, *GRAPH), script, **accepted)
            target = f"{LOOPBACK}:{server.port}"
            targets: dict[str, Any] = dict.fromkeys(TARGETS, target)
            settings = GatewaySettings(
                _env_file=None,
                gateway_listen=f"{LOOPBACK}:0",
                service_key=SecretStr(secrets["service"]),
                log_level="error",
                drain_seconds=1,
                **accepted,
                **targets,
            )
            async with (
                serve_gateway(settings, script) as served,
                open_channel(target, retry=False) as channel,
            ):
                yield Endpoints(
                    search_pb2_grpc.VectorSearchServiceStub(channel),
                    served.http,
                    served.url,
                    server.port,
                    script,
                    issuer,
                    keys,
                    secrets,
                    recorded,
                )
            await server.stop()


@pytest.fixture(autouse=True)
def _forget(endpoints: Endpoints) -> None:
    endpoints.script.seen.clear()
    endpoints.recorded.clear()


async def until(
    ask: Callable[[], Awaitable[object]], expected: object, seconds: float = 30
) -> None:
    """Repeats a call until its result is as expected. Raises TimeoutError after `seconds`."""
    async with asyncio.timeout(seconds):
        while await ask() != expected:
            pass


def unsigned(issuer: Issuer, **header: Any) -> str:
    """Returns a token of the issuer with another header and no signature."""
    claims = issuer.token(braid_space="team-a", scope="braid:read").split(".")[1]
    head = base64.urlsafe_b64encode(json.dumps({"typ": "JWT", **header}).encode())
    return f"{head.decode().rstrip('=')}.{claims}."


async def test_keys_and_tokens_are_accepted_side_by_side(endpoints: Endpoints) -> None:
    token = endpoints.issuer.token(braid_space="team-t", sub="tom", scope="braid:read")
    for credential in (endpoints.secrets["reader"], token):
        bearer = f"Bearer {credential}"
        assert await endpoints.ask_grpc(("authorization", bearer)) == ""
        assert await endpoints.ask_http(authorization=bearer) == (200, "")
    spaces = [(seen.call.space, seen.call.user) for seen in endpoints.script.seen]
    assert spaces == [("team-a", ""), ("team-a", ""), ("team-t", "tom"), ("team-t", "tom")]
    assert endpoints.recorded == []


NOT_VALID: dict[str, tuple[Callable[[Endpoints], str], str]] = {
    "revoked key": (lambda d: d.secrets["revoked"], "revoked"),
    "unknown key": (lambda d: "brd_guess", "unknown"),
    "part of a key": (lambda d: d.secrets["reader"][:-1], "unknown"),
    "a key's hash": (lambda d: d.keys.records()[0].hash, "unknown"),
    "expired token": (
        lambda d: d.issuer.token(braid_space="team-a", exp=int(time.time()) - HOUR),
        "token_expired",
    ),
    "future-dated token": (
        lambda d: d.issuer.token(braid_space="team-a", nbf=int(time.time()) + HOUR),
        "token_not_yet_valid",
    ),
    "token issued in the future": (
        lambda d: d.issuer.token(braid_space="team-a", iat=int(time.time()) + HOUR),
        "token_not_yet_valid",
    ),
    "token for another audience": (
        lambda d: d.issuer.token(braid_space="team-a", aud="another"),
        "token_audience",
    ),
    "token of another issuer": (
        lambda d: d.issuer.token(braid_space="team-a", iss="https://another.test"),
        "token_issuer",
    ),
    "alg: none": (lambda d: unsigned(d.issuer, alg="none"), "token_algorithm"),
    "alg: HS256": (lambda d: unsigned(d.issuer, alg="HS256") + "c2ln", "token_algorithm"),
    "no signature": (lambda d: unsigned(d.issuer, alg="ES256", kid="key-1"), "token_signature"),
    "token of a forged key": (lambda d: Issuer().token(braid_space="team-a"), "token_signature"),
    "malformed token": (lambda d: "a.b.c", "token_malformed"),
    "token without a space": (lambda d: d.issuer.token(scope="braid:read"), "no_space"),
    "token with a space that is none": (
        lambda d: d.issuer.token(braid_space="team a"),
        "token_claims",
    ),
    "empty": (lambda d: "", "malformed"),
}


@pytest.mark.parametrize("case", NOT_VALID)
async def test_an_invalid_credential_is_refused_and_recorded_without_its_value(
    endpoints: Endpoints, case: str
) -> None:
    make, reason = NOT_VALID[case]
    credential = make(endpoints)
    bearer = f"Bearer {credential}".rstrip()
    assert await endpoints.ask_grpc(("authorization", bearer)) == "UNAUTHENTICATED"
    assert await endpoints.ask_http(authorization=bearer) == (401, "INVALID_CREDENTIAL")
    assert endpoints.script.seen == []
    assert [(event, given["reason"]) for event, given in endpoints.recorded] == [
        ("credential_refused", reason)
    ] * 2
    assert [given["method"] for _, given in endpoints.recorded] == [METHOD, "HTTP POST"]
    assert not credential or credential not in str(endpoints.recorded)
    known = {"revoked": "revoked", "no_space": "jwt:ann"}
    assert {given["key_id"] for _, given in endpoints.recorded} == {known.get(reason, "")}


async def test_an_expired_key_is_refused(endpoints: Endpoints) -> None:
    soon = utc_now() + timedelta(milliseconds=30)
    editor = endpoints.keys
    _, secret = editor.create(
        key_id="brief", space="team-a", user=None, scopes=["read"], expires_at=soon
    )
    async with asyncio.timeout(10):
        while endpoints.recorded[-1:] == [] or endpoints.recorded[-1][1].get("reason") != "expired":
            await endpoints.ask_grpc(("authorization", f"Bearer {secret}"))
    assert endpoints.recorded[-1][1]["key_id"] == "brief"
    assert (await endpoints.ask_http(authorization=f"Bearer {secret}"))[0] == 401


async def test_a_revoked_key_is_refused_within_two_seconds(endpoints: Endpoints) -> None:
    _, secret = endpoints.keys.create(
        key_id="leaked", space="team-a", user=None, scopes=["read"], expires_at=None
    )
    bearer = ("authorization", f"Bearer {secret}")
    await until(lambda: endpoints.ask_grpc(bearer), "")
    endpoints.keys.revoke("leaked")
    await until(lambda: endpoints.ask_grpc(bearer), "UNAUTHENTICATED", seconds=2)
    assert ("key_revoked", {"key_id": "leaked"}) in endpoints.recorded
    refused = [given for event, given in endpoints.recorded if event == "credential_refused"]
    assert (refused[-1]["reason"], refused[-1]["key_id"]) == ("revoked", "leaked")


async def test_a_key_reads_its_own_space(endpoints: Endpoints) -> None:
    for name, space in (("reader", "team-a"), ("other", "team-b")):
        await endpoints.ask_grpc(("authorization", f"Bearer {endpoints.secrets[name]}"))
        await endpoints.ask_http(authorization=f"Bearer {endpoints.secrets[name]}")
        assert {seen.call.space for seen in endpoints.script.seen} == {space}
        endpoints.script.seen.clear()


@pytest.mark.parametrize("named", ["braid-space", "braid-user"])
async def test_only_a_delegate_may_name_a_space_or_a_user(endpoints: Endpoints, named: str) -> None:
    token = endpoints.issuer.token(
        braid_space="team-a", scope="braid:read braid:write braid:admin", jti="t-7"
    )
    for credential, key_id in ((endpoints.secrets["reader"], "reader"), (token, "jwt:t-7")):
        bearer = f"Bearer {credential}"
        refused = await endpoints.ask_grpc(("authorization", bearer), (named, "team-b"))
        assert refused == "PERMISSION_DENIED"
        assert await endpoints.ask_http(authorization=bearer, **{named: "team-b"}) == (
            403,
            "MISSING_SCOPE",
        )
        expected = ("delegation_refused", "no_delegate_scope", key_id)
        found = [(event, given["reason"], given["key_id"]) for event, given in endpoints.recorded]
        assert found == [expected] * 2
        endpoints.recorded.clear()
    assert endpoints.script.seen == []


async def test_a_delegate_of_one_space_cannot_name_another(endpoints: Endpoints) -> None:
    bearer = f"Bearer {endpoints.secrets['bound']}"
    refused = await endpoints.ask_grpc(("authorization", bearer), ("braid-space", "team-b"))
    assert refused == "PERMISSION_DENIED"
    assert (await endpoints.ask_http(authorization=bearer, **{"braid-space": "team-b"}))[0] == 403
    assert {given["reason"] for _, given in endpoints.recorded} == {"other_space"}
    assert endpoints.script.seen == []


async def test_a_missing_scope_is_recorded_with_the_key(endpoints: Endpoints) -> None:
    bearer = f"Bearer {endpoints.secrets['writer']}"
    assert await endpoints.ask_grpc(("authorization", bearer)) == "PERMISSION_DENIED"
    assert await endpoints.ask_http(authorization=bearer) == (403, "MISSING_SCOPE")
    assert [(event, given["key_id"]) for event, given in endpoints.recorded] == [
        ("scope_missing", "writer")
    ] * 2
    assert endpoints.recorded[1][1]["method"] == f"HTTP POST {SEARCH}"


async def test_an_unavailable_issuer_is_reported_as_such_and_keys_still_work(
    endpoints: Endpoints,
) -> None:
    endpoints.issuer.rotate()
    token = f"Bearer {endpoints.issuer.token(braid_space='team-a', scope='braid:read')}"
    endpoints.issuer.stub.answer_always(server_error())
    key = f"Bearer {endpoints.secrets['reader']}"
    try:
        # The issuer's keys were just fetched: for a while an unknown key causes no new fetch.
        await until(lambda: endpoints.ask_grpc(("authorization", token)), "UNAVAILABLE")
        await until(lambda: endpoints.ask_http(authorization=token), (503, "STORE_UNAVAILABLE"))
        assert await endpoints.ask_grpc(("authorization", key)) == ""
        assert await endpoints.ask_http(authorization=key) == (200, "")
    finally:
        endpoints.issuer.stub.answer_always(None)
    await until(lambda: endpoints.ask_grpc(("authorization", token)), "")


async def test_a_megabyte_of_headers_is_refused(endpoints: Endpoints) -> None:
    huge = "x" * 1_000_000
    refused = await endpoints.ask_grpc(("authorization", f"Bearer {huge}"))
    assert refused in {"RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL"}
    status, _ = await raw_http(endpoints, f"authorization: Bearer {huge}".encode())
    assert status in {400, 431}
    assert endpoints.script.seen == []
    assert (
        await endpoints.ask_grpc(("authorization", f"Bearer {endpoints.secrets['reader']}")) == ""
    )


@pytest.mark.parametrize("value", [b"Bearer a\x01b", b"Bearer \x7f", b"Bearer a\x00b", b"\xff\xfe"])
async def test_control_characters_in_a_header_are_refused(
    endpoints: Endpoints, value: bytes
) -> None:
    status, _ = await raw_http(endpoints, b"authorization: " + value)
    assert status in {400, 401}
    assert await raw_grpc(endpoints, (b"authorization", value))
    assert endpoints.script.seen == []
    assert (
        await endpoints.ask_grpc(("authorization", f"Bearer {endpoints.secrets['reader']}")) == ""
    )


@pytest.mark.parametrize("named", ["braid-space", "braid-user"])
@pytest.mark.parametrize("value", [b"team-a\x00", b"team\x01a", b"team-a\x7f", b"team-a\xff"])
async def test_control_characters_in_the_name_of_a_space_or_user_are_refused(
    endpoints: Endpoints, named: str, value: bytes
) -> None:
    key = f"Bearer {endpoints.secrets['service']}".encode()
    pairs = {b"braid-space": b"team-a", b"authorization": key, named.encode(): value}
    status, body = await raw_http(endpoints, *(b": ".join(pair) for pair in pairs.items()))
    assert status == 400 or (status, named.encode() + b": must be" in body) == (422, True)
    assert await raw_grpc(endpoints, *pairs.items())
    assert endpoints.script.seen == []
    assert (
        await endpoints.ask_grpc(("authorization", f"Bearer {endpoints.secrets['reader']}")) == ""
    )


async def raw_http(endpoints: Endpoints, *headers: bytes) -> tuple[int, bytes]:
    """Returns status and body of the response to a request with headers that no client sends."""
    host, _, port = endpoints.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = [b"POST /api/search/text HTTP/1.1", b"host: 127.0.0.1", *headers, b"content-length: 2"]
    body = b""
    async with asyncio.timeout(10):
        writer.write(b"\r\n".join([*lines, b"connection: close", b"", b"{}"]))
        try:
            await writer.drain()
            body = await reader.read()
        except ConnectionError:
            body = body or b"HTTP/1.1 431 closed"
        writer.close()
    return int(body.split(b" ", 2)[1]), body


async def raw_grpc(endpoints: Endpoints, *metadata: tuple[bytes, bytes]) -> bool:
    """Returns whether a call with metadata that no client sends is refused: by an error or a closed connection."""
    pairs = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", METHOD.encode()),
        (b":authority", b"127.0.0.1"),
        (b"content-type", b"application/grpc"),
        (b"te", b"trailers"),
        *metadata,
    ]
    fields = b"".join(b"\x00" + _literal(name) + _literal(value) for name, value in pairs)
    message = search_pb2.TextSearchRequest(query="q").SerializeToString()
    data = b"\x00" + len(message).to_bytes(4, "big") + message
    end_headers, end_stream = 0x4, 0x1
    reader, writer = await asyncio.open_connection(LOOPBACK, endpoints.port)
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(4, 0, 0, b""))
    writer.write(_frame(1, end_headers, 1, fields) + _frame(0, end_stream, 1, data))
    answer = b""
    async with asyncio.timeout(10):
        await writer.drain()
        while part := await reader.read(65536):
            answer += part
            if _ended(answer):
                break
    writer.close()
    return endpoints.script.seen == []


def _literal(text: bytes) -> bytes:
    """Encodes a string of up to 126 bytes in HPACK without compression."""
    return bytes([len(text)]) + text


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
    )


def _ended(answer: bytes) -> bool:
    """Returns whether stream 1 has ended: by trailers, a reset, or the connection's end."""
    reset, goaway, end_stream = 3, 7, 0x1
    while len(answer) >= 9:
        length, kind, flags = int.from_bytes(answer[:3], "big"), answer[3], answer[4]
        stream = int.from_bytes(answer[5:9], "big")
        if kind == goaway or (
            stream == 1 and (kind == reset or (kind == 1 and flags & end_stream))
        ):
            return True
        answer = answer[9 + length :]
    return False


async def test_token_authentication_alone_allows_listening_beyond_loopback() -> None:
    async with Issuer() as issuer:
        settings = RuntimeSettings(_env_file=None, drain_seconds=0, **issuer.settings())
        server = await start_server(settings=settings, listen="0.0.0.0:0", services=[], probes={})
        await server.stop()
        with pytest.raises(ListenError):
            await start_server(
                settings=RuntimeSettings(_env_file=None),
                listen="0.0.0.0:0",
                services=[],
                probes={},
            )


async def test_with_token_authentication_no_caller_is_local(
    tmp_path: Path,
) -> None:
    async with Issuer() as issuer:
        settings = RuntimeSettings(_env_file=None, **issuer.settings())
        authenticator = Authenticator.of(settings, listen="127.0.0.1:0")
        with pytest.raises(Exception, match="A valid API key or token is needed"):
            await authenticator.identify({})
        identity = await authenticator.identify(
            {"authorization": f"Bearer {issuer.token(braid_space='team-a', scope='braid:read')}"}
        )
        await authenticator.close()
    assert (identity.space, identity.user, identity.key_id) == ("team-a", "ann", "jwt:ann")
