"""Addresses of providers in settings."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def _with_scheme(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError("is no URL") from None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must begin with http:// or https:// and name a host")
    return url


Endpoint = Annotated[str, AfterValidator(_with_scheme)]
"""An HTTP URL, kept as it was written."""
