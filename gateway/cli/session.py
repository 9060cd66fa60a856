"""What every command works with: where the gateway is, and where to write."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from gateway.cli.errors import CliError
from gateway.cli.safe import line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.cli.api import Api

DEFAULT_DATA = ".braid"


@dataclass(slots=True)
class Session:
    """One run of the command."""

    environment: Mapping[str, str]
    out: Console
    err: Console
    as_json: bool = False
    _answered: bool = field(default=False, init=False)

    @property
    def data(self) -> Path:
        """The local stack's data folder."""
        return Path(self.environment.get("BRAID_DATA") or DEFAULT_DATA)

    def api(self) -> Api:
        """A client of the gateway: `BRAID_URL`, else the local stack that runs over the data folder."""
        # Only commands that ask need it, and `--help` should be there at once.
        from gateway.cli.api import Api  # noqa: PLC0415

        url = self.environment.get("BRAID_URL") or self._local_url()
        return Api(url, self.environment.get("BRAID_API_KEY", ""))

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

    def _local_url(self) -> str:
        try:
            told = json.loads((self.data / "run.json").read_text())
            return f"http://{told['addresses']['gateway']}"
        except (OSError, ValueError, KeyError, TypeError):
            raise CliError(
                f"no running stack under {self.data}: start one with `braid up`, or set BRAID_URL"
            ) from None


def _escaped(text: str) -> str:
    """JSON in which what a terminal would obey is escaped; it stays the same JSON."""
    return "".join(
        character if character == "\n" or character.isprintable() else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]
