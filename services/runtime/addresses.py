"""Addresses that callers name."""

from __future__ import annotations

from urllib.parse import urlsplit


def has_password(address: str) -> bool:
    """Whether an address holds a password; what is no address holds none."""
    try:
        return urlsplit(address).password is not None
    except ValueError:
        return False
