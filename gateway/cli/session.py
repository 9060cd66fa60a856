"""One run of the command: where the gateway is, where to write, and how it ends."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console

from gateway.cli.discovery import DEFAULT_DATA, find_gateway
from gateway.cli.errors import INTERRUPTED, CliError
from gateway.cli.terminal_escape import line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gateway.cli.api import Api
    from gateway.cli.discovery import Gateway


def wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among the command's options. Asked before they are read: reading them may fail."""
    return "--json" in takewhile(lambda word: word != "--", words)


def run(session: Session, command: Callable[[], object]) -> int:
    """Runs the command, and tells what failed. Its exit code."""
    try:
        code = _code_of(session, command)
        session.out.file.flush()
    except CliError as error:
        session.complain(error)
        session.show_failure(error)
        code = error.code
    except BrokenPipeError:
        code = 1  # the reader (`head`) has what it wanted
    except OSError as error:
        if error.errno is None:
            raise  # a defect: the system gives a number with what it refuses
        failure = CliError(_sentence(error))
        session.complain(failure)
        session.show_failure(failure)
        code = 1
    _let_go(session.out.file)
    return code


def _code_of(session: Session, command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        # typer has already reported usage errors on standard error.
        format_message = getattr(end.__context__, "format_message", None)
        if format_message is not None:
            session.show_failure(CliError(format_message(), reason="USAGE"))
        elif code == INTERRUPTED:
            session.show_failure(CliError("interrupted", reason="INTERRUPTED"))
        return code
    return 0


def _sentence(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return (
        f"{error.filename}: {reason}" if error.filename else f"reading or writing failed: {reason}"
    )


def _let_go(output: IO[str]) -> None:
    """Writes what is left to be written. What cannot be would fail again at exit, with a traceback."""
    try:
        output.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


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

        With `changes`, for commands that change data, a gateway that is not named explicitly is printed to stderr.
        """
        # Only commands that ask need it, and `--help` should be there at once.
        from gateway.cli.api import Api, probe  # noqa: PLC0415

        self.gateway = find_gateway(self.environment, probe)
        if changes and not self.gateway.is_named:
            notice = line(f"braid: using {self.gateway}")
            self.err.print(notice, markup=False, highlight=False, soft_wrap=True)
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
