"""Channels to other services, and the metadata of outgoing calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import grpc
from opentelemetry import propagate

from braid_protocol.channel import MAX_MESSAGE_BYTES, channel_options
from services.runtime.context import current_call
from services.runtime.errors import SetupError
from services.runtime.rate_limits import ADMITTED
from services.runtime.security.certificates import Certificates, channel_credentials
from services.runtime.security.reloading_channel import ReloadingChannel
from services.runtime.traced_channel import TracedChannel

if TYPE_CHECKING:
    from pydantic import SecretStr

    from services.runtime.security.certificates import Material
    from services.runtime.security.settings import SecuritySettings
    from services.runtime.settings import RuntimeSettings

Metadata = tuple[tuple[str, str], ...]


def open_channel(
    target: str,
    *,
    retry: bool = True,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    security: SecuritySettings | None = None,
) -> grpc.aio.Channel:
    """Opens a lazily connecting channel to `target`, balanced over all its addresses.

    Each call within a recorded trace has a client span.
    With `retry`, idempotent reads that fail with UNAVAILABLE are tried up to three times within the call's deadline. If
    `security` names authorities, the channel uses TLS and follows its certificates; raises CertificateError if they
    cannot be used.
    """
    options = channel_options(retry=retry, max_message_bytes=max_message_bytes)
    if security is None or security.tls_ca_file is None:
        return TracedChannel(grpc.aio.insecure_channel(target, options=options), target)
    if security.tls_server_name is not None:
        options.append(("grpc.ssl_target_name_override", security.tls_server_name))

    def secure(material: Material) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(target, channel_credentials(material), options=options)

    certificates = Certificates(
        chain=security.tls_cert_file,
        key=security.tls_key_file,
        authorities=security.tls_ca_file,
    )
    return TracedChannel(ReloadingChannel(certificates, secure), target)


class ServiceKeyError(SetupError):
    """Callers are authenticated here, but this process has no key to name their space to other services."""


class OutgoingMetadata:
    """Metadata of calls made on behalf of the call being served.

    With `narrow_scopes`, the other service serves a call with the caller's scopes alone: for a process that only hands
    calls on, whose own key may do more than its callers.
    """

    def __init__(self, service_key: SecretStr | None, *, narrow_scopes: bool = False) -> None:
        self._key = service_key
        self._narrow_scopes = narrow_scopes

    @classmethod
    def of(cls, settings: RuntimeSettings, *, narrow_scopes: bool = False) -> Self:
        """Builds it from a process's settings.

        Raises ServiceKeyError if outgoing calls would be served as space `local`, whatever the caller's space.
        """
        if settings.authenticated and settings.service_key is None:
            raise ServiceKeyError(
                "BRAID_SERVICE_KEY is needed where BRAID_API_KEYS_FILE or BRAID_JWT_JWKS is set"
            )
        return cls(settings.service_key, narrow_scopes=narrow_scopes)

    def metadata(self) -> Metadata:
        """Returns the metadata of a call made for `current_call()`.

        It has the credential, the delegated space and user, the request id, the trace, and a mark that rate limits
        already count the call. Without a service key nothing is delegated: the other service then uses its own local
        identity.
        """
        call = current_call()
        carrier: dict[str, str] = {"x-request-id": call.request_id, ADMITTED: "1"}
        propagate.inject(carrier)
        if self._key is not None:
            carrier["authorization"] = f"Bearer {self._key.get_secret_value()}"
            carrier["braid-space"] = call.space
            carrier["braid-user"] = call.user
        if self._narrow_scopes:
            carrier["braid-scopes"] = " ".join(sorted(call.scopes))
        return tuple(carrier.items())
