"""Generated passwords and keys: created once, stored in files that only their owner may read."""

import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically; only its owner can ever read it."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def load_or_create(path: Path, names: Iterable[str]) -> dict[str, str]:
    """Read the secrets with these names, and generate missing ones."""
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    missing = [name for name in names if name not in known]
    if missing:
        known |= {name: secrets.token_hex(24) for name in missing}
        write_private(path, json.dumps(known, indent=1))
    return known
