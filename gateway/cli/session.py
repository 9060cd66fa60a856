"""What every command works with: where the gateway is, and where to write."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from gateway.cli.discovery import DEFAULT_DATA, find_gateway
from gateway.cli.safe import line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.cli.api import Api
    from gateway.cli.discovery import Gateway
    from gateway.cli.errors import CliError


@dataclass(slots=True)
class Session:
    """One run of the command."""

    environment: Mapping[str, str]
    out: Console
    err: Console
    as_json: bool = False
    gateway: Gateway | None = field(default=None, init=False)
    _answered: bool = field(default=False, init=False)

    @property
    def data(self) -> Path:
        """The local stack's data folder."""
        return Path(self.environment.get("BRAID_DATA") or DEFAULT_DATA)

    def api(self, *, changes: bool = False) -> Api:
        """A client of the gateway that is found.

        With `changes`, for commands that change data, a gateway that nothing here names is told on standard error.
        """
        # Only commands that ask need it, and `--help` should be there at once.
        from gateway.cli.api import Api, probe  # noqa: PLC0415

        self.gateway = find_gateway(self.environment, probe)
        if changes and not self.gateway.is_named:
            told = line(f"braid: using {self.gateway}")
            self.err.print(told, markup=False, highlight=False, soft_wrap=True)
        return Api(self.gateway.url, self.environment.get("BRAID_API_KEY", ""))

    def show_json(self, value: Any) -> None:
        """Prints a value as JSON, for other programs: as it is, escaped where it is not printable."""
        self._answered = True
        text = json.dumps(value, indent=2, ensure_ascii=not self.out.encoding.startswith("utf"))
        self.out.file.write(_escaped(text) + "\n")

    def complain(self, error: CliError) -> None:
        """Tells what went wrong, in one line."""
        self.err.print(
            f"braid: {line(error.line())}", markup=False, highlight=False, soft_wrap=True
        )

    def show_failure(self, error: CliError) -> None:
        """Prints the failure as JSON where that is asked for and nothing was answered: programs read one object."""
        if self.as_json and not self._answered:
            self.show_json(error.as_json())


def _escaped(text: str) -> str:
    """JSON in which what a terminal would obey is escaped; it stays the same JSON."""
    return "".join(
        character if character == "\n" or character.isprintable() else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]
