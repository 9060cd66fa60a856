"""API keys for the stack's own processes and its command: stored as hashes in the file that services read."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.local.credentials import load_or_create, write_private

PREFIX = "local-"
"""Ids of these keys begin with it: as long as a user adds no other key, callers on loopback need none."""
_COMMAND = "cli"


class ProcessKeys:
    """The keys under a data folder: `keys.credentials.json` in plain text, `api_keys.json` hashed."""

    def __init__(self, data: Path) -> None:
        self.file = data / "api_keys.json"
        self._secrets = data / "keys.credentials.json"

    def issue(self, scopes: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Return a key for each process; other entries of the file remain.

        Another key is for the `braid` command of the user who owns the folder, who is the user `local` and may export
        what belongs to all users of the space `local`.
        """
        keys = load_or_create(self._secrets, (*scopes, _COMMAND))
        own = [_entry(name, keys[name], scopes[name]) for name in scopes]
        command = _entry(
            _COMMAND, keys[_COMMAND], ("read", "write", "admin", "delegate", "operator")
        )
        own.append(command | {"space": "local", "user": "local"})
        with self._locked():
            write_private(self.file, json.dumps({"keys": [*self._foreign(), *own]}, indent=1))
        return {name: keys[name] for name in scopes}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the file against other writers, such as `braid keys`, for the duration of a block."""
        lock = self.file.with_name(f".{self.file.name}.lock")
        with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _foreign(self) -> list[dict[str, Any]]:
        if not self.file.exists():
            return []
        entries: list[dict[str, Any]] = json.loads(self.file.read_text())["keys"]
        return [entry for entry in entries if not entry["id"].startswith(PREFIX)]


def _entry(name: str, key: str, scopes: Sequence[str]) -> dict[str, Any]:
    return {
        "id": PREFIX + name.replace("_", "-"),
        "hash": f"sha256:{hashlib.sha256(key.encode()).hexdigest()}",
        "space": None,
        "user": None,
        "scopes": list(scopes),
        "expires_at": None,
    }
