"""Certificates from files, reloaded when the files change, for gRPC servers and TLS contexts."""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import grpc

from services.runtime.errors import SetupError
from services.runtime.security import events
from services.runtime.security.events import SecurityEvents

LOOK_INTERVAL = 1.0
"""Seconds between two looks at the files."""


class CertificateError(SetupError):
    """A certificate, a key or a file of authorities cannot be used."""


class Material(NamedTuple):
    """The content of the files, as PEM; None for a file that is not configured. `version` counts the changes."""

    chain: bytes | None
    key: bytes | None
    authorities: bytes | None
    version: int


class Certificates:
    """A certificate chain, its key and the trusted authorities. Safe to use from several threads.

    The files are checked on use, at most once a second. While new ones cannot be used, the last valid ones serve.
    """

    def __init__(
        self,
        *,
        chain: Path | None,
        key: Path | None,
        authorities: Path | None,
        security: SecurityEvents | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.paths = (chain, key, authorities)
        self._events = security or SecurityEvents()
        self._clock = clock
        self._lock = threading.Lock()
        self._looked = -math.inf
        self._stamps: tuple[tuple[int, int] | None, ...] = ()
        self._material: Material | None = None

    def current(self) -> Material:
        """Returns the files' content. Raises CertificateError if they have never been readable."""
        with self._lock:
            if self._material is None:
                self._read()
            elif self._clock() - self._looked >= LOOK_INTERVAL:
                self._reload_if_changed()
            self._looked = self._clock()
            assert self._material is not None  # noqa: S101 - for the type checker: read above
            return self._material

    def context(self, *, server: bool, require_peer: bool) -> ssl.SSLContext:
        """Returns a TLS context of the files' current content. Raises CertificateError if it cannot be created."""
        chain, key, authorities = self.paths
        protocol = ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT
        context = ssl.SSLContext(protocol)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.sslobject_class = _LoggedHandshake
        try:
            if chain is not None:
                context.load_cert_chain(chain, key)
            if authorities is not None:
                context.load_verify_locations(authorities)
            elif not server:
                context.load_default_certs()
        except (OSError, ssl.SSLError) as error:
            raise CertificateError(f"{_named(self.paths)}: {_reason(error)}") from None
        if server and require_peer:
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _reload_if_changed(self) -> None:
        try:
            if self._stamp() == self._stamps:
                return
            self._read()
        except (OSError, CertificateError) as error:
            # Files that are being replaced must not stop the service.
            self._events.record(events.CERTIFICATES_UNREADABLE, error=_reason(error))
            return
        self._events.record(events.CERTIFICATES_CHANGED, files=_named(self.paths))

    def _read(self) -> None:
        try:
            stamps = self._stamp()
            chain, key, authorities = (path.read_bytes() if path else None for path in self.paths)
        except OSError as error:
            raise CertificateError(f"{error.filename}: {_reason(error)}") from None
        # Detects a key that belongs to another certificate, as in the middle of a replacement.
        self.context(server=True, require_peer=False)
        version = self._material.version + 1 if self._material else 1
        self._material, self._stamps = Material(chain, key, authorities, version), stamps

    def _stamp(self) -> tuple[tuple[int, int] | None, ...]:
        stats = (path.stat() if path else None for path in self.paths)
        return tuple((stat.st_mtime_ns, stat.st_ino) if stat else None for stat in stats)


class ReloadingContext(ssl.SSLContext):
    """A TLS context that follows its certificates: each new connection uses the files' current content."""

    def __new__(cls, *_args: object, server: bool, **_options: object) -> ReloadingContext:
        protocol = ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT
        return super().__new__(cls, protocol)

    def __init__(
        self, certificates: Certificates, *, server: bool, require_peer: bool = False
    ) -> None:
        """Raises CertificateError if there are no valid files at the start."""
        self._certificates = certificates
        self._server = server
        self._require_peer = require_peer
        self._version = certificates.current().version
        self._context = self._build()

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        """Creates the TLS side of a new connection."""
        version = self._certificates.current().version
        if version != self._version:
            self._context, self._version = self._build(), version
        return self._context.wrap_bio(*args, **options)

    def _build(self) -> ssl.SSLContext:
        return self._certificates.context(server=self._server, require_peer=self._require_peer)


class _LoggedHandshake(ssl.SSLObject):
    """Records a failed handshake: the event loop itself only closes the connection."""

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError as error:
            side = "server" if self.server_side else "client"
            SecurityEvents().record(events.TLS_HANDSHAKE_FAILED, reason=_reason(error), side=side)
            raise


def server_credentials(certificates: Certificates, *, require_peer: bool) -> grpc.ServerCredentials:
    """Returns credentials of a gRPC server that follow the certificates.

    Raises CertificateError if there are no valid files at the start.
    """
    first = certificates.current()
    seen = [first.version]

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        """Returns changed credentials, else None; gRPC calls it at each new connection, in its own thread."""
        material = certificates.current()
        if material.version == seen[0]:
            return None
        seen[0] = material.version
        return _configuration(material)

    # Its type stubs do not know that None means no change.
    return grpc.dynamic_ssl_server_credentials(_configuration(first), fetch, require_peer)  # type: ignore[arg-type]


def channel_credentials(material: Material) -> grpc.ChannelCredentials:
    """Returns credentials of a gRPC channel; they do not change."""
    return grpc.ssl_channel_credentials(material.authorities, material.key, material.chain)


def _configuration(material: Material) -> grpc.ServerCertificateConfiguration:
    pairs = [(material.key or b"", material.chain or b"")]
    return grpc.ssl_server_certificate_configuration(pairs, material.authorities)


def _named(paths: tuple[Path | None, ...]) -> str:
    return ", ".join(str(path) for path in paths if path is not None)


def _reason(error: Exception) -> str:
    """Returns a failure's reason in a word or two, without content from the peer."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{error.reason}: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return error.reason or "TLS error"
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    return str(error)
