"""Which sources this machine reads: those whose place its user has given here.

Whoever may write to a space may set a source, also to a folder of this machine, or to a site that a secret of its
environment would be sent to. So a source that was set elsewhere is read by its name only after its place was given here
once.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from gateway.cli.errors import CliError

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.cli.sources.spec import SourceSpec

_FILE = "sources.json"
_PRIVATE = 0o600


class Approvals:
    """Keeps the places that were given on this machine, for one gateway."""

    def __init__(self, folder: Path | None, gateway: str) -> None:
        """`folder` is where the user's state is kept; without one nothing is kept."""
        self._file = folder / _FILE if folder is not None else None
        self._gateway = gateway

    def require(self, spec: SourceSpec) -> None:
        """Raises CliError for a source whose place was not given here."""
        if self._digest(spec) not in self._known():
            raise CliError(
                f"{spec.name} was set on another machine: give its place here once, "
                f"`braid sync {spec.root} --name {spec.name} --kind {spec.kind}`"
            )

    def add(self, spec: SourceSpec) -> None:
        """Keeps the place of a source that the user gives."""
        digest, known = self._digest(spec), self._known()
        if self._file is None or digest in known:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        written = self._file.with_suffix(".new")
        with open(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w") as file:  # noqa: PTH123 - with its mode
            json.dump([*known, digest], file)
        written.replace(self._file)

    def _known(self) -> list[str]:
        try:
            found = json.loads(self._file.read_text()) if self._file is not None else []
        except (OSError, ValueError):
            return []
        return [str(one) for one in found] if isinstance(found, list) else []

    def _digest(self, spec: SourceSpec) -> str:
        place = [self._gateway, spec.name, spec.kind, spec.root, spec.credential_variable]
        return hashlib.sha256(json.dumps(place).encode()).hexdigest()
