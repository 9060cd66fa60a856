"""Certificates for a gateway that serves HTTPS: `BRAID_CA_FILE`, `BRAID_CLIENT_CERT_FILE`, `BRAID_CLIENT_KEY_FILE`."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from gateway.cli.errors import CliError

if TYPE_CHECKING:
    from collections.abc import Mapping

_CA, _CERT, _KEY = "BRAID_CA_FILE", "BRAID_CLIENT_CERT_FILE", "BRAID_CLIENT_KEY_FILE"


def tls_context(environment: Mapping[str, str], url: str) -> ssl.SSLContext | None:
    """Returns the TLS context for this address; None for plain HTTP. Raises CliError for unusable files."""
    if not url.lower().startswith("https:"):
        return None
    authorities = environment.get(_CA) or None
    chain, key = environment.get(_CERT) or None, environment.get(_KEY) or None
    if key and not chain:
        raise CliError(f"{_KEY} needs {_CERT}", reason="USAGE")
    try:
        context = ssl.create_default_context(cafile=authorities)
        if chain:
            context.load_cert_chain(chain, key)
    except OSError as error:
        named = ", ".join(name for name in (_CA, _CERT, _KEY) if environment.get(name))
        reason = error.strerror or str(error)
        raise CliError(f"{named}: cannot be used: {reason}", reason="USAGE") from None
    return context
