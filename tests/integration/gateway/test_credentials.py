"""Credentials that are not valid, over real gRPC and real HTTP: refused for what they are, and nothing is done."""

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
import httpx
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
class Doors:
    """A tier and a gateway over it that accept keys and tokens, and what they record."""

    grpc: search_pb2_grpc.VectorSearchServiceStub
    http: httpx.AsyncClient
    url: str
    port: int
    script: Script
    issuer: Issuer
    keys: KeyEditor
    secrets: dict[str, str]
    recorded: list[tuple[str, dict[str, Any]]]

    async def ask_grpc(self, *metadata: tuple[str, str]) -> str:
        """The code that the tier refuses with; empty when it answers."""
        try:
            request = search_pb2.TextSearchRequest(query="q")
            await self.grpc.TextSearch(request, metadata=metadata, timeout=10)
        except grpc.aio.AioRpcError as error:
            return error.code().name
        return ""

    async def ask_http(self, **headers: str) -> tuple[int, str]:
        """Status and reason of the gateway's answer."""
        answer = await self.http.post(SEARCH, json={"query": "q"}, headers=headers)
        return answer.status_code, answer.json().get("reason", "")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Doors]:
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
                yield Doors(
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
def _forget(doors: Doors) -> None:
    doors.script.seen.clear()
    doors.recorded.clear()


async def until(
    ask: Callable[[], Awaitable[object]], expected: object, seconds: float = 30
) -> None:
    """Asks again until the answer is as expected; TimeoutError when it never is."""
    async with asyncio.timeout(seconds):
        while await ask() != expected:
            pass


def unsigned(issuer: Issuer, **header: Any) -> str:
    """A token of the issuer with another header and no signature."""
    claims = issuer.token(braid_space="team-a", scope="read").split(".")[1]
    head = base64.urlsafe_b64encode(json.dumps({"typ": "JWT", **header}).encode())
    return f"{head.decode().rstrip('=')}.{claims}."


async def test_keys_and_tokens_are_accepted_side_by_side(doors: Doors) -> None:
    token = doors.issuer.token(braid_space="team-t", sub="tom", scope="read")
    for credential in (doors.secrets["reader"], token):
        bearer = f"Bearer {credential}"
        assert await doors.ask_grpc(("authorization", bearer)) == ""
        assert await doors.ask_http(authorization=bearer) == (200, "")
    spaces = [(seen.call.space, seen.call.user) for seen in doors.script.seen]
    assert spaces == [("team-a", ""), ("team-a", ""), ("team-t", "tom"), ("team-t", "tom")]
    assert doors.recorded == []


NOT_VALID: dict[str, tuple[Callable[[Doors], str], str]] = {
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
    "token without a space": (lambda d: d.issuer.token(scope="read"), "no_space"),
    "token with a space that is none": (
        lambda d: d.issuer.token(braid_space="team a"),
        "token_claims",
    ),
    "empty": (lambda d: "", "malformed"),
}


@pytest.mark.parametrize("case", NOT_VALID)
async def test_a_credential_that_is_not_valid_is_refused_and_recorded_without_it(
    doors: Doors, case: str
) -> None:
    make, reason = NOT_VALID[case]
    credential = make(doors)
    bearer = f"Bearer {credential}".rstrip()
    assert await doors.ask_grpc(("authorization", bearer)) == "UNAUTHENTICATED"
    assert await doors.ask_http(authorization=bearer) == (401, "INVALID_CREDENTIAL")
    assert doors.script.seen == []
    assert [(event, given["reason"]) for event, given in doors.recorded] == [
        ("credential_refused", reason)
    ] * 2
    assert [given["method"] for _, given in doors.recorded] == [METHOD, "HTTP POST"]
    assert not credential or credential not in str(doors.recorded)
    known = {"revoked": "revoked", "no_space": "jwt:ann"}
    assert {given["key_id"] for _, given in doors.recorded} == {known.get(reason, "")}


async def test_an_expired_key_is_refused(doors: Doors) -> None:
    soon = utc_now() + timedelta(milliseconds=30)
    editor = doors.keys
    _, secret = editor.create(
        key_id="brief", space="team-a", user=None, scopes=["read"], expires_at=soon
    )
    async with asyncio.timeout(10):
        while doors.recorded[-1:] == [] or doors.recorded[-1][1].get("reason") != "expired":
            await doors.ask_grpc(("authorization", f"Bearer {secret}"))
    assert doors.recorded[-1][1]["key_id"] == "brief"
    assert (await doors.ask_http(authorization=f"Bearer {secret}"))[0] == 401


async def test_a_key_that_is_revoked_is_refused_within_two_seconds(doors: Doors) -> None:
    _, secret = doors.keys.create(
        key_id="leaked", space="team-a", user=None, scopes=["read"], expires_at=None
    )
    bearer = ("authorization", f"Bearer {secret}")
    await until(lambda: doors.ask_grpc(bearer), "")
    doors.keys.revoke("leaked")
    await until(lambda: doors.ask_grpc(bearer), "UNAUTHENTICATED", seconds=2)
    assert ("key_revoked", {"key_id": "leaked"}) in doors.recorded
    refused = [given for event, given in doors.recorded if event == "credential_refused"]
    assert (refused[-1]["reason"], refused[-1]["key_id"]) == ("revoked", "leaked")


async def test_a_key_reads_its_own_space_whatever_is_asked(doors: Doors) -> None:
    for name, space in (("reader", "team-a"), ("other", "team-b")):
        await doors.ask_grpc(("authorization", f"Bearer {doors.secrets[name]}"))
        await doors.ask_http(authorization=f"Bearer {doors.secrets[name]}")
        assert {seen.call.space for seen in doors.script.seen} == {space}
        doors.script.seen.clear()


@pytest.mark.parametrize("named", ["braid-space", "braid-user"])
async def test_only_a_delegate_may_name_a_space_or_a_user(doors: Doors, named: str) -> None:
    token = doors.issuer.token(braid_space="team-a", scope="read write admin", jti="t-7")
    for credential, key_id in ((doors.secrets["reader"], "reader"), (token, "jwt:t-7")):
        bearer = f"Bearer {credential}"
        refused = await doors.ask_grpc(("authorization", bearer), (named, "team-b"))
        assert refused == "PERMISSION_DENIED"
        assert await doors.ask_http(authorization=bearer, **{named: "team-b"}) == (
            403,
            "MISSING_SCOPE",
        )
        expected = ("delegation_refused", "no_delegate_scope", key_id)
        found = [(event, given["reason"], given["key_id"]) for event, given in doors.recorded]
        assert found == [expected] * 2
        doors.recorded.clear()
    assert doors.script.seen == []


async def test_a_delegate_of_one_space_stays_in_it(doors: Doors) -> None:
    bearer = f"Bearer {doors.secrets['bound']}"
    refused = await doors.ask_grpc(("authorization", bearer), ("braid-space", "team-b"))
    assert refused == "PERMISSION_DENIED"
    assert (await doors.ask_http(authorization=bearer, **{"braid-space": "team-b"}))[0] == 403
    assert {given["reason"] for _, given in doors.recorded} == {"other_space"}
    assert doors.script.seen == []


async def test_a_missing_scope_is_recorded_with_the_key(doors: Doors) -> None:
    bearer = f"Bearer {doors.secrets['writer']}"
    assert await doors.ask_grpc(("authorization", bearer)) == "PERMISSION_DENIED"
    assert await doors.ask_http(authorization=bearer) == (403, "MISSING_SCOPE")
    assert [(event, given["key_id"]) for event, given in doors.recorded] == [
        ("scope_missing", "writer")
    ] * 2
    assert doors.recorded[1][1]["method"] == f"HTTP POST {SEARCH}"


async def test_an_issuer_that_is_down_is_told_apart_from_a_wrong_token_and_leaves_keys_alone(
    doors: Doors,
) -> None:
    doors.issuer.rotate()
    token = f"Bearer {doors.issuer.token(braid_space='team-a', scope='read')}"
    doors.issuer.stub.answer_always(server_error())
    key = f"Bearer {doors.secrets['reader']}"
    try:
        # The keys were fetched a moment ago: for a while an unknown one causes no other fetch.
        await until(lambda: doors.ask_grpc(("authorization", token)), "UNAVAILABLE")
        await until(lambda: doors.ask_http(authorization=token), (503, "STORE_UNAVAILABLE"))
        assert await doors.ask_grpc(("authorization", key)) == ""
        assert await doors.ask_http(authorization=key) == (200, "")
    finally:
        doors.issuer.stub.answer_always(None)
    await until(lambda: doors.ask_grpc(("authorization", token)), "")


async def test_a_megabyte_of_headers_is_refused(doors: Doors) -> None:
    huge = "x" * 1_000_000
    refused = await doors.ask_grpc(("authorization", f"Bearer {huge}"))
    assert refused in {"RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL"}
    status, _ = await raw_http(doors, f"authorization: Bearer {huge}".encode())
    assert status in {400, 431}
    assert doors.script.seen == []
    assert await doors.ask_grpc(("authorization", f"Bearer {doors.secrets['reader']}")) == ""


@pytest.mark.parametrize("value", [b"Bearer a\x01b", b"Bearer \x7f", b"Bearer a\x00b", b"\xff\xfe"])
async def test_control_characters_in_a_header_are_refused(doors: Doors, value: bytes) -> None:
    status, _ = await raw_http(doors, b"authorization: " + value)
    assert status in {400, 401}
    assert await raw_grpc(doors, (b"authorization", value))
    assert doors.script.seen == []
    assert await doors.ask_grpc(("authorization", f"Bearer {doors.secrets['reader']}")) == ""


@pytest.mark.parametrize("named", ["braid-space", "braid-user"])
@pytest.mark.parametrize("value", [b"team-a\x00", b"team\x01a", b"team-a\x7f", b"team-a\xff"])
async def test_control_characters_name_no_space_and_no_user(
    doors: Doors, named: str, value: bytes
) -> None:
    key = f"Bearer {doors.secrets['service']}".encode()
    pairs = {b"braid-space": b"team-a", b"authorization": key, named.encode(): value}
    status, body = await raw_http(doors, *(b": ".join(pair) for pair in pairs.items()))
    assert status == 400 or (status, named.encode() + b": must be" in body) == (422, True)
    assert await raw_grpc(doors, *pairs.items())
    assert doors.script.seen == []
    assert await doors.ask_grpc(("authorization", f"Bearer {doors.secrets['reader']}")) == ""


async def raw_http(doors: Doors, *headers: bytes) -> tuple[int, bytes]:
    """Status and body of an answer to a request with headers as no client sends them."""
    host, _, port = doors.url.removeprefix("http://").partition(":")
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


async def raw_grpc(doors: Doors, *metadata: tuple[bytes, bytes]) -> bool:
    """Whether a call with metadata as no client sends it is refused: by an error, or by closing the connection."""
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
    reader, writer = await asyncio.open_connection(LOOPBACK, doors.port)
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
    return doors.script.seen == []


def _literal(text: bytes) -> bytes:
    """A string of HPACK without compression, of up to 126 bytes."""
    return bytes([len(text)]) + text


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
    )


def _ended(answer: bytes) -> bool:
    """Whether stream 1 was ended: by trailers, a reset, or the connection's end."""
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


async def test_tokens_alone_are_authentication_enough_to_listen_beyond_loopback() -> None:
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


async def test_with_tokens_alone_nobody_is_local_beyond_loopback(tmp_path: Path) -> None:
    async with Issuer() as issuer:
        settings = RuntimeSettings(_env_file=None, **issuer.settings())
        authenticator = Authenticator.of(settings, allow_local=False)
        with pytest.raises(Exception, match="A valid API key or token is needed"):
            await authenticator.identify({})
        identity = await authenticator.identify(
            {"authorization": f"Bearer {issuer.token(braid_space='team-a', scope='read')}"}
        )
        await authenticator.close()
    assert (identity.space, identity.user, identity.key_id) == ("team-a", "ann", "jwt:ann")
