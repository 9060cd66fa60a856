"""TLS of a client: which authorities it trusts, and the certificate that it presents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import grpc


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files, read when a channel is opened: at first use, not again.

    `ca_file` has the authorities of Braid's servers (default: the system's); `cert_file` and `key_file` are for servers
    that ask for a certificate; `server_name` is the name in theirs, where it is not their address.
    """

    ca_file: str | Path | None = None
    cert_file: str | Path | None = None
    key_file: str | Path | None = None
    server_name: str | None = None

    def __post_init__(self) -> None:
        """ValueError for a certificate without a key, or a key without a certificate."""
        if (self.cert_file is None) is not (self.key_file is None):
            raise ValueError("cert_file and key_file go together")

    def credentials(self) -> grpc.ChannelCredentials:
        """For `grpc.secure_channel`. OSError when a file cannot be read."""
        return grpc.ssl_channel_credentials(
            _content(self.ca_file), _content(self.key_file), _content(self.cert_file)
        )

    def channel_options(self) -> list[tuple[str, str]]:
        """Further options of a channel."""
        name = self.server_name
        return [("grpc.ssl_target_name_override", name)] if name is not None else []


def _content(file: str | Path | None) -> bytes | None:
    return Path(file).read_bytes() if file is not None else None
