"""Keeps web pages of other sites from using the identity that loopback callers have without a credential."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from services.runtime.errors import InvalidCredentialError
from services.runtime.listen import is_loopback

if TYPE_CHECKING:
    from starlette.datastructures import Headers


def check_origin(headers: Headers) -> None:
    """InvalidCredentialError for a browser's request that comes from elsewhere and brings no credential.

    A page that a person happens to visit can send forms to 127.0.0.1, and read the answers after rebinding its
    own name to that address: the first shows in `Origin`, the second in `Host`.
    """
    if "authorization" in headers:
        return
    host = headers.get("host", "")
    origin = headers.get("origin")
    try:
        foreign = not _is_local_name(host) or (
            origin is not None and urlsplit(origin).netloc != host
        )
    except ValueError:  # a bracket without its other half
        foreign = True
    if foreign:
        raise InvalidCredentialError


def _is_local_name(host: str) -> bool:
    split = urlsplit(f"//{host}")
    return is_loopback(f"{split.hostname or ''}:0")
