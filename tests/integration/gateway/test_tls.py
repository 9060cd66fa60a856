"""HTTPS of the gateway and TLS of every hop behind it: accepted and refused clients, and changed certificates."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from braid.vector.v1 import search_pb2
from braid_client import AsyncBraid, BraidCallError, Tls
from gateway.cli.api import Api
from gateway.cli.errors import CliError
from gateway.cli.tls import tls_context
from gateway.healthcheck import is_alive
from gateway.http_server import gateway_server
from gateway.settings import GatewaySettings
from services.runtime.security import certificates
from services.runtime.security.events import SecurityEvents
from tests.integration.gateway.scripted import (
    AGENT,
    GRAPH,
    LOOPBACK,
    VECTOR,
    Script,
    start_scripted,
)
from tests.stubs.authority import Authority, CertificateFiles

SEARCH = "/api/search/text"
KEY = {"authorization": "Bearer reader"}


@pytest.fixture(autouse=True)
def _check_files_at_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "LOOK_INTERVAL", 0.0)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def other(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "other")


@asynccontextmanager
async def serve(files: CertificateFiles, **more: Any) -> AsyncIterator[str]:
    """Serves a gateway over HTTPS. Yields its address."""
    settings = GatewaySettings(
        _env_file=None,
        gateway_listen=f"{LOOPBACK}:0",
        gateway_tls_cert_file=files.chain,
        gateway_tls_key_file=files.key,
        log_level="error",
        drain_seconds=1,
        **more,
    )
    async with gateway_server(settings) as (server, listener):
        running = asyncio.create_task(server.serve(sockets=[listener]))
        async with asyncio.timeout(10):
            while not server.started:  # noqa: ASYNC110 - the server has no event to wait for
                await asyncio.sleep(0.005)
        try:
            yield f"https://{LOOPBACK}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


async def alive(
    url: str, authority: Authority, certificate: CertificateFiles | None = None
) -> bool:
    """Returns whether a client that trusts this authority is served."""
    context = ssl.create_default_context(cafile=authority.file)
    if certificate is not None:
        context.load_cert_chain(certificate.chain, certificate.key)
    async with httpx2.AsyncClient(base_url=url, verify=context, timeout=10) as http:
        try:
            return (await http.get("/healthz")).status_code == 200
        except httpx2.TransportError:
            return False


async def test_only_https_is_served(authority: Authority, other: Authority) -> None:
    async with serve(authority.issue("gateway")) as url:
        assert await alive(url, authority)
        assert not await alive(url, other)
        assert not await alive(url.replace("https", "http"), authority)


async def test_a_client_certificate_can_be_required(
    authority: Authority, other: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr(
        SecurityEvents, "record", lambda _, event, **given: seen.append((event, given))
    )
    async with serve(authority.issue("gateway"), gateway_tls_client_ca_file=authority.file) as url:
        assert await alive(url, authority, authority.issue("client"))
        assert seen == []
        assert not await alive(url, authority)
        assert not await alive(url, authority, other.issue("client"))
    assert [event for event, _ in seen] == ["tls_handshake_failed"] * 2
    assert {given["side"] for _, given in seen} == {"server"}
    assert "certificate" in str(seen[0][1]["reason"]).lower()


async def test_a_changed_certificate_and_changed_client_authorities_are_reloaded(
    authority: Authority, other: Authority, tmp_path: Path
) -> None:
    files = authority.issue("gateway")
    clients = tmp_path / "clients.pem"
    clients.write_bytes(authority.file.read_bytes())
    async with serve(files, gateway_tls_client_ca_file=clients) as url:
        assert await alive(url, authority, authority.issue("client"))
        new = other.issue("gateway")
        files.key.write_bytes(new.key.read_bytes())
        files.chain.write_bytes(new.chain.read_bytes())
        clients.write_bytes(other.file.read_bytes())
        assert await alive(url, other, other.issue("client"))
        assert not await alive(url, other, authority.issue("client"))
        assert not await alive(url, authority, other.issue("client"))


async def test_every_hop_uses_tls_with_certificates_on_both_sides(
    authority: Authority, key_file: Path, script: Script
) -> None:
    """Client → gateway by HTTPS, gateway → services by mutual TLS."""
    service, gateway = authority.issue("service"), authority.issue("gateway")
    server = await start_scripted(
        (*AGENT, *VECTOR, *GRAPH),
        script,
        api_keys_file=key_file,
        tls_cert_file=service.chain,
        tls_key_file=service.key,
        tls_client_ca_file=authority.file,
    )
    script.answer("TextSearch", search_pb2.TextSearchResponse())
    target = f"{LOOPBACK}:{server.port}"
    async with serve(
        gateway,
        tls_cert_file=gateway.chain,
        tls_key_file=gateway.key,
        tls_ca_file=authority.file,
        api_keys_file=key_file,
        service_key=SecretStr("gateway"),
        **dict.fromkeys(("agent_target", "vector_target", "graph_target"), target),
    ) as url:
        context = ssl.create_default_context(cafile=authority.file)
        async with httpx2.AsyncClient(base_url=url, verify=context, timeout=20) as http:
            response = await http.post(SEARCH, json={"query": "q"}, headers=KEY)
            ready = await http.get("/readyz")
    await server.stop()
    assert (response.status_code, ready.status_code) == (200, 200)
    assert script.seen[0].call.space == "team-a"


async def test_a_missing_client_certificate_of_the_gateway_is_not_reported_as_a_wrong_key(
    authority: Authority, key_file: Path, script: Script
) -> None:
    service = authority.issue("service")
    server = await start_scripted(
        VECTOR,
        script,
        tls_cert_file=service.chain,
        tls_key_file=service.key,
        tls_client_ca_file=authority.file,
    )
    async with serve(
        authority.issue("gateway"),
        tls_ca_file=authority.file,
        vector_target=f"{LOOPBACK}:{server.port}",
    ) as url:
        context = ssl.create_default_context(cafile=authority.file)
        async with httpx2.AsyncClient(base_url=url, verify=context, timeout=20) as http:
            response = await http.post(SEARCH, json={"query": "q"})
    await server.stop()
    assert (response.status_code, response.json()["reason"]) == (503, "STORE_UNAVAILABLE")
    assert script.seen == []


async def test_the_health_check_of_the_container_presents_the_gateways_certificate(
    authority: Authority,
) -> None:
    files = authority.issue("gateway", "gateway.internal")
    own = {
        "BRAID_GATEWAY_TLS_CERT_FILE": str(files.chain),
        "BRAID_GATEWAY_TLS_KEY_FILE": str(files.key),
    }
    async with serve(files, gateway_tls_client_ca_file=authority.file) as url:
        address = url.removeprefix("https://")
        assert await asyncio.to_thread(is_alive, address, own)
        assert not await asyncio.to_thread(is_alive, address, {})
    assert not await asyncio.to_thread(is_alive, address, own)


async def test_the_command_uses_the_given_certificates(
    authority: Authority, other: Authority
) -> None:
    client = authority.issue("client")

    def ready(environment: dict[str, str], url: str) -> Any:
        with Api(url, tls=tls_context(environment, url)) as api:
            return api.get("/healthz")

    async with serve(authority.issue("gateway"), gateway_tls_client_ca_file=authority.file) as url:
        given = {
            "BRAID_CA_FILE": str(authority.file),
            "BRAID_CLIENT_CERT_FILE": str(client.chain),
            "BRAID_CLIENT_KEY_FILE": str(client.key),
        }
        assert await asyncio.to_thread(ready, given, url) == {"status": "ok"}
        for wrong in ({}, {"BRAID_CA_FILE": str(other.file)}):
            with pytest.raises(CliError) as failed:
                await asyncio.to_thread(ready, wrong, url)
            assert failed.value.reason == "UNREACHABLE"


@pytest.mark.parametrize(
    "environment",
    [
        {"BRAID_CA_FILE": "/no/such/file"},
        {"BRAID_CA_FILE": __file__},
        {"BRAID_CLIENT_CERT_FILE": __file__},
        {"BRAID_CLIENT_KEY_FILE": __file__},
    ],
)
def test_the_command_names_an_unusable_certificate_file(environment: dict[str, str]) -> None:
    with pytest.raises(CliError) as failed:
        tls_context(environment, "https://braid.test")
    assert next(iter(environment)) in failed.value.detail


async def test_the_python_client_uses_the_given_certificates(
    authority: Authority, script: Script
) -> None:
    service, client = authority.issue("service"), authority.issue("client")
    server = await start_scripted(
        VECTOR,
        script,
        tls_cert_file=service.chain,
        tls_key_file=service.key,
        tls_client_ca_file=authority.file,
    )
    script.answer("TextSearch", search_pb2.TextSearchResponse())
    target = f"{LOOPBACK}:{server.port}"
    whole = Tls(authority.file, client.chain, client.key)
    async with AsyncBraid(vector_target=target, tls=whole) as braid:
        await braid.text_search("q")
    async with AsyncBraid(vector_target=target, tls=Tls(authority.file), timeout=1) as braid:
        with pytest.raises(BraidCallError):
            await braid.text_search("q")
    await server.stop()


def test_the_python_client_needs_a_key_with_its_certificate() -> None:
    with pytest.raises(ValueError, match="go together"):
        Tls(cert_file="client.pem")


@pytest.mark.parametrize(
    "given",
    [
        {"gateway_tls_cert_file": Path("a")},
        {"gateway_tls_key_file": Path("a")},
        {"gateway_tls_client_ca_file": Path("a")},
    ],
)
def test_incomplete_tls_settings_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="BRAID_GATEWAY_TLS_"):
        GatewaySettings(_env_file=None, **given)
