"""Keeps web pages of other sites from using the identity that loopback callers have without a credential."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from services.runtime.listen import is_loopback

if TYPE_CHECKING:
    from starlette.datastructures import Headers


def may_be_local(headers: Headers) -> bool:
    """Whether a request has a credential or may do without: a browser's that comes from elsewhere may not.

    A page that a person happens to visit can send forms to 127.0.0.1, and read the answers after rebinding its
    own name to that address: the first shows in `Origin`, the second in `Host`.
    """
    if "authorization" in headers:
        return True
    host = headers.get("host", "")
    origin = headers.get("origin")
    try:
        return _is_local_name(host) and (origin is None or urlsplit(origin).netloc == host)
    except ValueError:  # a bracket without its other half
        return False


def _is_local_name(host: str) -> bool:
    split = urlsplit(f"//{host}")
    return is_loopback(f"{split.hostname or ''}:0")
