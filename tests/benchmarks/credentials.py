"""An API key for the measuring command, with access to every space."""

from __future__ import annotations

import hashlib
import json
import secrets
from pathlib import Path

_KEYS = "api_keys.json"
_OWN = "measuring.key"
LOCAL_SPACE = "local"

Metadata = tuple[tuple[str, str], ...]


def issue(data: Path) -> None:
    """Adds the key to the keys file of a stack that is about to start."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    keys = data / _KEYS
    if (data / _OWN).exists() or keys.exists():
        return
    key = secrets.token_urlsafe(32)
    entry = {
        "id": "measuring",
        "hash": f"sha256:{hashlib.sha256(key.encode()).hexdigest()}",
        "space": None,
        "user": None,
        "scopes": ["read", "write", "delegate"],
        "expires_at": None,
    }
    for path, text in ((data / _OWN, key), (keys, json.dumps({"keys": [entry]}))):
        path.touch(mode=0o600)
        path.write_text(text)


def credential(data: Path, space: str) -> Metadata:
    """Returns call metadata for a caller in `space`; empty for the space of local callers."""
    if space == LOCAL_SPACE:
        return ()
    key = (data / _OWN).read_text()
    return (("authorization", f"Bearer {key}"), ("braid-space", space))
