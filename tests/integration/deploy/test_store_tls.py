"""TLS to PostgreSQL and Neo4j by settings alone; a proxy terminates it, because the local stores have no TLS."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from pydantic import SecretStr

from deploy.local.stores import LocalStores
from services.agent_orchestrator.jobs.job_watch import Listener
from services.graph_query.neo4j.database import Database, open_driver
from services.graph_query.neo4j.queries import load_queries
from services.graph_query.settings import GraphSettings
from services.postgres.pool import Pool, PoolLimits
from services.runtime.errors import StoreUnavailableError
from services.runtime.security import certificates
from services.runtime.security.events import SecurityEvents
from tests.stores import TestDatabase
from tests.stubs.authority import Authority, CertificateFiles
from tests.stubs.tls_terminator import Streams, TlsTerminator

YESTERDAY = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
Events = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def other(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "other")


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Events:
    seen: Events = []
    monkeypatch.setattr(
        SecurityEvents, "record", lambda _, event, **given: seen.append((event, given))
    )
    return seen


def context_of(files: CertificateFiles, clients: Authority | None = None) -> ssl.SSLContext:
    """The TLS context of a store; with `clients`, clients need a certificate of that authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.chain, files.key)
    if clients is not None:
        context.load_verify_locations(clients.file)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


class Postgres:
    """PostgreSQL behind TLS."""

    def __init__(self, database: TestDatabase) -> None:
        self._database = database
        folder = Path(unquote(database.dsn("braid_writer").partition("host=")[2]))
        (socket,) = folder.glob(".s.PGSQL.*[0-9]")
        self._socket = str(socket)
        self.terminator: TlsTerminator | None = None

    def behind(self, context: ssl.SSLContext) -> TlsTerminator:
        self.terminator = TlsTerminator(context, self._open, postgres=True)
        return self.terminator

    def url(self, **parameters: object) -> str:
        """The URL as an operator writes it, with libpq's parameters."""
        assert self.terminator is not None
        split = urlsplit(self._database.dsn("braid_writer"))
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        login = f"{split.username}:{split.password}"
        return f"postgresql://{login}@127.0.0.1:{self.terminator.port}{split.path}?{query}"

    async def _open(self) -> Streams:
        return await asyncio.open_unix_connection(self._socket)


@pytest.fixture
def postgres(shared_vector_database: TestDatabase) -> Postgres:
    return Postgres(shared_vector_database)


async def answer(url: str) -> int:
    """The answer to a query through a pool with this URL."""
    pool = await Pool.open(url, PoolLimits(size=1), application="test")
    try:
        async with pool.session() as session:
            return int(await session.value("select 42"))
    finally:
        await pool.close()


async def test_a_connection_to_postgresql_uses_verified_tls(
    postgres: Postgres, authority: Authority
) -> None:
    async with postgres.behind(context_of(authority.issue("postgres"))) as terminator:
        url = postgres.url(sslmode="verify-full", sslrootcert=authority.file)
        assert await answer(url) == 42
        assert (terminator.encrypted, terminator.plain) == (1, 0)


async def test_postgresql_can_require_a_client_certificate(
    postgres: Postgres, authority: Authority, other: Authority
) -> None:
    async with postgres.behind(context_of(authority.issue("postgres"), clients=authority)):
        verified = {"sslmode": "verify-full", "sslrootcert": authority.file}
        own = authority.issue("braid")
        assert await answer(postgres.url(**verified, sslcert=own.chain, sslkey=own.key)) == 42
        foreign = other.issue("braid")
        for wrong in ({}, {"sslcert": foreign.chain, "sslkey": foreign.key}):
            with pytest.raises(StoreUnavailableError):
                await answer(postgres.url(**verified, **wrong))


@pytest.mark.parametrize("fault", ["authority", "expired", "name"])
async def test_an_untrusted_postgresql_is_rejected_and_recorded(
    postgres: Postgres, authority: Authority, other: Authority, recorded: Events, fault: str
) -> None:
    files = {
        "authority": other.issue("postgres"),
        "expired": authority.issue("expired", expires=YESTERDAY),
        "name": authority.issue("elsewhere", "postgres.internal"),
    }[fault]
    async with postgres.behind(context_of(files)):
        with pytest.raises(StoreUnavailableError):
            await answer(postgres.url(sslmode="verify-full", sslrootcert=authority.file))
    assert recorded == [
        ("tls_handshake_failed", {"reason": "CERTIFICATE_VERIFY_FAILED", "peer": "postgresql"})
    ]


async def test_a_pool_picks_up_new_authorities_of_postgresql(
    postgres: Postgres, authority: Authority, other: Authority, tmp_path: Path
) -> None:
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(other.file.read_bytes())
    async with postgres.behind(context_of(authority.issue("postgres"))):
        url = postgres.url(sslmode="verify-full", sslrootcert=trusted)
        pool = await Pool.open(url, PoolLimits(size=1), application="test")
        with pytest.raises(StoreUnavailableError):
            async with pool.session():
                pass
        trusted.write_bytes(authority.file.read_bytes())
        async with pool.session() as session:
            assert await session.value("select 42") == 42
        await pool.close()


async def test_notifications_of_postgresql_use_tls_too(
    postgres: Postgres, authority: Authority
) -> None:
    heard = asyncio.Event()
    async with postgres.behind(context_of(authority.issue("postgres"))) as terminator:
        url = postgres.url(sslmode="verify-full", sslrootcert=authority.file)
        listening = asyncio.create_task(Listener(url, "channel", heard.set).run())
        async with asyncio.timeout(10):
            await heard.wait()
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        assert (terminator.encrypted, terminator.plain) == (1, 0)


class Neo4j:
    """Neo4j behind TLS."""

    def __init__(self, stores: LocalStores) -> None:
        self._stores = stores
        split = urlsplit(stores.neo4j.uri)
        self._address = (str(split.hostname), split.port or 0)

    def behind(self, context: ssl.SSLContext) -> TlsTerminator:
        return TlsTerminator(context, lambda: asyncio.open_connection(*self._address))

    async def ping(self, terminator: TlsTerminator, scheme: str = "bolt", **files: Path) -> None:
        """Queries Neo4j with these settings, as the tier's health check does."""
        given: dict[str, Any] = {f"neo4j_{name}": path for name, path in files.items()}
        settings = GraphSettings(
            _env_file=None,
            neo4j_uri=f"{scheme}://127.0.0.1:{terminator.port}",
            neo4j_password=SecretStr(self._stores.neo4j.password),
            **given,
        )
        async with open_driver(
            settings.neo4j_uri,
            settings.neo4j_user,
            settings.neo4j_password,
            certificates=settings.neo4j_certificates(),
        ) as driver:
            await Database(driver, load_queries()).run_text("return 1")


@pytest.fixture
def neo4j(graph_stores: LocalStores) -> Neo4j:
    return Neo4j(graph_stores)


@pytest.mark.parametrize("scheme", ["bolt", "bolt+s"])
async def test_a_connection_to_neo4j_uses_verified_tls(
    neo4j: Neo4j, authority: Authority, scheme: str
) -> None:
    async with neo4j.behind(context_of(authority.issue("neo4j"))) as terminator:
        await neo4j.ping(terminator, scheme, ca_file=authority.file)
        assert terminator.encrypted > 0


async def test_neo4j_can_require_a_client_certificate(neo4j: Neo4j, authority: Authority) -> None:
    context = context_of(authority.issue("neo4j"), clients=authority)
    own = authority.issue("braid")
    certificate: dict[str, Any] = {
        "client_cert_file": own.chain,
        "client_key_file": own.key,
    }
    async with neo4j.behind(context) as terminator:
        await neo4j.ping(terminator, ca_file=authority.file, **certificate)
        with pytest.raises(StoreUnavailableError):
            await neo4j.ping(terminator, ca_file=authority.file)


@pytest.mark.parametrize("fault", ["authority", "expired", "name", "system"])
async def test_an_untrusted_neo4j_is_rejected(
    neo4j: Neo4j, authority: Authority, other: Authority, recorded: Events, fault: str
) -> None:
    files = {
        "authority": other.issue("neo4j"),
        "expired": authority.issue("expired", expires=YESTERDAY),
        "name": authority.issue("elsewhere", "neo4j.internal"),
        "system": authority.issue("private"),
    }[fault]
    async with neo4j.behind(context_of(files)) as terminator:
        with pytest.raises(StoreUnavailableError):
            if fault == "system":
                await neo4j.ping(terminator, "bolt+s")
            else:
                await neo4j.ping(terminator, ca_file=authority.file)
        assert terminator.encrypted == 0
    # With the system's authorities the driver opens the connection itself, so no event is recorded.
    assert ("tls_handshake_failed" in [event for event, _ in recorded]) is (fault != "system")


async def test_a_reloading_context_picks_up_new_authorities_of_neo4j(
    neo4j: Neo4j, authority: Authority, other: Authority, tmp_path: Path
) -> None:
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(other.file.read_bytes())
    context = certificates.ReloadingContext(
        certificates.Certificates(
            chain=None, key=None, authorities=trusted, clock=iter(range(0, 1000, 10)).__next__
        ),
        server=False,
    )
    async with neo4j.behind(context_of(authority.issue("neo4j"))) as terminator:
        place = ("127.0.0.1", terminator.port)
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection(*place, ssl=context)
        trusted.write_bytes(authority.file.read_bytes())
        _, writer = await asyncio.open_connection(*place, ssl=context)
        writer.close()
