"""TLS between processes over sockets: trusted and refused peers, and certificates that change."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.runtime.channels import open_channel
from services.runtime.healthcheck import is_serving
from services.runtime.security import certificates
from services.runtime.security.certificates import CertificateError
from services.runtime.security.events import SecurityEvents
from services.runtime.server import RunningServer, start_server
from services.runtime.settings import RuntimeSettings
from services.runtime.status import error_from_rpc
from tests.stubs.authority import Authority, CertificateFiles

YESTERDAY = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)

Serve = Callable[..., Awaitable[RunningServer]]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def other(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "other")


@pytest.fixture(autouse=True)
def _check_files_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "LOOK_INTERVAL", 0.0)


def settings(
    files: CertificateFiles | None = None,
    *,
    servers: Authority | None = None,
    clients: Authority | None = None,
    **more: Any,
) -> RuntimeSettings:
    """Returns settings of a process with this certificate that trusts servers and clients of these authorities."""
    return RuntimeSettings(
        _env_file=None,
        drain_seconds=0,
        tls_cert_file=files and files.chain,
        tls_key_file=files and files.key,
        tls_ca_file=servers and servers.file,
        tls_client_ca_file=clients and clients.file,
        **more,
    )


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    running: list[RunningServer] = []

    async def start(given: RuntimeSettings) -> RunningServer:
        server = await start_server(settings=given, listen="127.0.0.1:0", services=[], probes={})
        running.append(server)
        return server

    yield start
    for server in running:
        await server.stop()


async def ask(channel: grpc.aio.Channel) -> int:
    """Calls the health check of the server."""
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=5)
    return int(answer.status)


async def is_served(server: RunningServer, caller: RuntimeSettings) -> bool:
    """Returns whether a process with these settings is served."""
    async with open_channel(f"127.0.0.1:{server.port}", retry=False, security=caller) as channel:
        with suppress(grpc.aio.AioRpcError):
            return await ask(channel) == health_pb2.HealthCheckResponse.SERVING
    return False


async def test_processes_of_one_authority_can_connect(authority: Authority, serve: Serve) -> None:
    server = await serve(settings(authority.issue("server")))
    assert await is_served(server, settings(servers=authority))


async def test_a_caller_without_tls_is_refused(authority: Authority, serve: Serve) -> None:
    server = await serve(settings(authority.issue("server")))
    assert not await is_served(server, settings())


async def test_a_caller_with_tls_cannot_connect_to_a_server_without_tls(
    authority: Authority, serve: Serve
) -> None:
    server = await serve(settings())
    assert not await is_served(server, settings(servers=authority))


async def test_a_server_of_another_authority_is_not_trusted(
    authority: Authority, other: Authority, serve: Serve
) -> None:
    server = await serve(settings(other.issue("server")))
    assert not await is_served(server, settings(servers=authority))


async def test_an_untrusted_server_counts_as_unreachable_and_is_recorded(
    authority: Authority, other: Authority, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr(
        SecurityEvents, "record", lambda _, event, **given: seen.append((event, given))
    )
    server = await serve(settings(other.issue("server")))
    caller = settings(servers=authority)
    async with open_channel(f"127.0.0.1:{server.port}", retry=False, security=caller) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await ask(channel)
    assert error_from_rpc(failed.value).message == "A service cannot be reached now."
    expected = {"reason": "CERTIFICATE_VERIFY_FAILED", "side": "client"}
    assert seen == [("tls_handshake_failed", expected)]


async def test_an_expired_certificate_is_not_trusted(authority: Authority, serve: Serve) -> None:
    server = await serve(settings(authority.issue("server", expires=YESTERDAY)))
    assert not await is_served(server, settings(servers=authority))


async def test_a_certificate_for_another_name_is_not_trusted_unless_the_name_is_set(
    authority: Authority, serve: Serve
) -> None:
    server = await serve(settings(authority.issue("server", "vector.internal")))
    assert not await is_served(server, settings(servers=authority))
    assert await is_served(server, settings(servers=authority, tls_server_name="vector.internal"))


async def test_mutual_tls_serves_only_callers_of_its_authority(
    authority: Authority, other: Authority, serve: Serve
) -> None:
    server = await serve(settings(authority.issue("server"), clients=authority))
    assert await is_served(server, settings(authority.issue("caller"), servers=authority))
    assert not await is_served(server, settings(servers=authority))
    assert not await is_served(server, settings(other.issue("caller"), servers=authority))
    expired = authority.issue("expired", expires=YESTERDAY)
    assert not await is_served(server, settings(expired, servers=authority))


async def test_a_server_reloads_its_changed_certificate(
    authority: Authority, other: Authority, serve: Serve
) -> None:
    files = authority.issue("server")
    server = await serve(settings(files))
    new = other.issue("server")
    files.key.write_bytes(new.key.read_bytes())
    files.chain.write_bytes(new.chain.read_bytes())
    assert await is_served(server, settings(servers=other))
    assert not await is_served(server, settings(servers=authority))


async def test_while_a_certificate_is_half_replaced_the_previous_one_is_used(
    authority: Authority, serve: Serve
) -> None:
    files = authority.issue("server")
    server = await serve(settings(files))
    files.key.write_bytes(authority.issue("next").key.read_bytes())
    assert await is_served(server, settings(servers=authority))


async def test_a_server_reloads_the_authorities_of_its_callers(
    authority: Authority, other: Authority, serve: Serve
) -> None:
    server = await serve(settings(authority.issue("server"), clients=authority))
    caller = settings(other.issue("caller"), servers=authority)
    assert not await is_served(server, caller)
    authorities = authority.file.read_bytes() + other.file.read_bytes()
    authority.file.write_bytes(authorities)
    assert await is_served(server, caller)


async def test_a_channel_reloads_its_certificates_without_interrupting_calls(
    authority: Authority, other: Authority, serve: Serve, tmp_path: Path
) -> None:
    first = await serve(settings(authority.issue("server")))
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(other.file.read_bytes())
    caller = RuntimeSettings(_env_file=None, tls_ca_file=trusted)
    async with open_channel(f"127.0.0.1:{first.port}", retry=False, security=caller) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await ask(channel)
        assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
        trusted.write_bytes(authority.file.read_bytes())
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watching = stub.Watch(health_pb2.HealthCheckRequest(), timeout=5)
        assert (await watching.read()).status == health_pb2.HealthCheckResponse.SERVING
        trusted.write_bytes(authority.file.read_bytes() + other.file.read_bytes())
        assert await ask(channel) == health_pb2.HealthCheckResponse.SERVING
        assert not watching.done()
        watching.cancel()


async def test_the_health_check_of_a_container_uses_the_certificate_of_its_process(
    authority: Authority, serve: Serve
) -> None:
    files = authority.issue("server", "vector.internal")
    server = await serve(settings(files, clients=authority))
    own = {"BRAID_TLS_CERT_FILE": str(files.chain), "BRAID_TLS_KEY_FILE": str(files.key)}
    address = f"127.0.0.1:{server.port}"
    assert await asyncio.to_thread(is_serving, address, own)
    assert await asyncio.to_thread(
        is_serving, address, own | {"BRAID_TLS_CA_FILE": str(authority.file)}
    )
    assert not await asyncio.to_thread(is_serving, address, {}, 0.5)


@pytest.mark.parametrize("broken", ["chain", "key", "missing"])
async def test_a_server_without_a_usable_certificate_does_not_start(
    authority: Authority, serve: Serve, broken: str
) -> None:
    files = authority.issue("server")
    if broken == "missing":
        files.chain.unlink()
    else:
        getattr(files, broken).write_text("no PEM")
    with pytest.raises(CertificateError) as refused:
        await serve(settings(files))
    assert str(files.chain) in str(refused.value)


@pytest.mark.parametrize(
    "given",
    [
        {"tls_cert_file": Path("a")},
        {"tls_key_file": Path("a")},
        {"tls_client_ca_file": Path("a")},
    ],
)
def test_incomplete_tls_settings_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="BRAID_TLS_"):
        RuntimeSettings(_env_file=None, **given)
