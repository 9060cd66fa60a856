"""TLS options of a client: trusted authorities and client certificate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import grpc


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files, which are read once, when a channel is first used.

    `ca_file` has the certificate authorities for Braid's servers (default: the system's); `cert_file` and `key_file`
    are for servers that require a client certificate; `server_name` is the name in the server's certificate if it is
    not its address.
    """

    ca_file: str | Path | None = None
    cert_file: str | Path | None = None
    key_file: str | Path | None = None
    server_name: str | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a certificate without a key, or a key without a certificate."""
        if (self.cert_file is None) is not (self.key_file is None):
            raise ValueError("cert_file and key_file go together")

    def credentials(self) -> grpc.ChannelCredentials:
        """Returns credentials for `grpc.secure_channel`. Raises OSError if a file cannot be read."""
        return grpc.ssl_channel_credentials(
            _content(self.ca_file), _content(self.key_file), _content(self.cert_file)
        )

    def channel_options(self) -> list[tuple[str, str]]:
        """Returns further options of a channel."""
        name = self.server_name
        return [("grpc.ssl_target_name_override", name)] if name is not None else []


def _content(file: str | Path | None) -> bytes | None:
    return Path(file).read_bytes() if file is not None else None
