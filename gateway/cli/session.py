"""One run of the command: gateway, output and exit code."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer
from rich.console import Console

from gateway.cli.discovery import DEFAULT_DATA, find_gateway
from gateway.cli.errors import CliError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.terminal_escape import line
from gateway.cli.tls import tls_context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gateway.cli.api import Api
    from gateway.cli.discovery import Gateway


# Line width for files and pipes: ids must not be wrapped.
_UNLIMITED_WIDTH = 1_000_000


def wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among the command's options. Checked before they are parsed, which may fail."""
    return "--json" in takewhile(lambda word: word != "--", words)


def console(stream: IO[str], environment: Mapping[str, str]) -> Console:
    """Returns a console with colors only on a terminal, and without colors if NO_COLOR is set."""
    if environment.get("NO_COLOR"):
        found = Console(file=stream, highlight=False, color_system=None)
    else:
        found = Console(file=stream, highlight=False)
    if not stream.isatty():
        found.width = _UNLIMITED_WIDTH
    return found


def run(session: Session, command: Callable[[], object]) -> int:
    """Runs the command, a typer app that does not exit by itself, and reports failures. Returns its exit code."""
    try:
        code = _code_of(session, command)
        session.out.file.flush()
    except CliError as error:
        session.fail(error)
        code = error.code
    except BrokenPipeError:
        code = ExitCode.FAILED  # the reader (such as `head`) has closed the pipe
    except OSError as error:
        if error.errno is None:
            raise  # an OSError without a number is a defect
        missing = isinstance(error, FileNotFoundError)
        code = ExitCode.NOT_FOUND if missing else ExitCode.FAILED
        session.fail(CliError(_sentence(error), code=code))
    _flush_or_discard(session.out.file)
    return code


def _code_of(session: Session, command: Callable[[], object]) -> int:
    try:
        result = command()
    except SystemExit as end:  # shell completion
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except typer.TyperException as error:
        return _report_usage(session, error)
    code = result if isinstance(result, int) else ExitCode.OK
    if code == ExitCode.INTERRUPTED:
        session.show_failure(CliError("interrupted", reason="INTERRUPTED"))
    return code


def _report_usage(session: Session, error: typer.TyperException) -> ExitCode:
    message, context = error.format_message(), getattr(error, "ctx", None)
    if "\n" in message:  # the help of a group that was called without a command
        session.err.print(message, markup=False, highlight=False)
        return ExitCode.USAGE
    sentence = message if message.endswith((".", "?")) else f"{message}."
    hint = f" Try `{context.command_path} --help`." if context else ""
    session.fail(CliError(f"{sentence}{hint}", reason="USAGE"))
    return ExitCode.USAGE


def _sentence(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return (
        f"{error.filename}: {reason}" if error.filename else f"reading or writing failed: {reason}"
    )


def _flush_or_discard(output: IO[str]) -> None:
    """Flushes the output, or discards it if that fails: it would fail again at exit, with a traceback."""
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
        """Returns the local stack's data folder."""
        return Path(self.environment.get("BRAID_DATA") or DEFAULT_DATA)

    def api(self, *, changes: bool = False) -> Api:
        """Returns a client of the gateway that is found.

        With `changes`, for commands that change data, prints to stderr a gateway that was not set explicitly.
        """
        # Imported here, because only some commands need it and `--help` must be fast.
        from gateway.cli.api import probe  # noqa: PLC0415

        self.gateway = find_gateway(self.environment, probe)
        if changes and not self.gateway.is_named:
            notice = line(f"braid: using {self.gateway}")
            self.err.print(notice, markup=False, highlight=False, soft_wrap=True)
        return self._api(self.gateway.url, self.key_for(self.gateway))

    def api_at(self, url: str) -> Api:
        """Returns a client of the gateway at an address that the user named."""
        return self._api(url, self.environment.get("BRAID_API_KEY", ""))

    def _api(self, url: str, key: str) -> Api:
        from gateway.cli.api import Api  # noqa: PLC0415

        return Api(url, key, tls=tls_context(self.environment, url))

    def key_for(self, gateway: Gateway) -> str:
        """Returns the key to send to a gateway; says so if BRAID_API_KEY is not for it."""
        key = self.environment.get("BRAID_API_KEY", "")
        if gateway.takes_key_of_environment:
            return key
        if key:
            notice = line(
                f"braid: BRAID_API_KEY is not sent to {gateway}; it is with BRAID_URL={gateway.url}"
            )
            self.err.print(notice, markup=False, highlight=False, soft_wrap=True)
        return gateway.local_key()

    def show_json(self, value: Any) -> None:
        """Prints a value as JSON, for other programs; unprintable characters are escaped."""
        self._write_json(value, indent=2)

    def show_json_line(self, value: Any) -> None:
        """Prints a value as JSON on one line and flushes it."""
        self._write_json(value, indent=None)
        self.out.file.flush()

    def _write_json(self, value: Any, indent: int | None) -> None:
        self._answered = True
        ascii_only = not self.out.encoding.startswith("utf")
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        self.out.file.write(_escaped(text) + "\n")

    def complain(self, error: CliError) -> None:
        """Prints an error in one line."""
        self.err.print(
            f"braid: {line(error.line())}", markup=False, highlight=False, soft_wrap=True
        )

    def warn(self, text: str) -> None:
        """Prints a warning in one line."""
        self.err.print(
            f"braid: warning: {line(text)}", markup=False, highlight=False, soft_wrap=True
        )

    def fail(self, error: CliError) -> None:
        """Reports a failure as text, and as JSON if requested."""
        self.complain(error)
        self.show_failure(error)

    def show_failure(self, error: CliError) -> None:
        """Prints the failure as JSON if requested and nothing was printed before: programs read one object."""
        if self.as_json and not self._answered:
            self.show_json(error.as_json())


def _escaped(text: str) -> str:
    """Returns the same JSON with terminal control characters escaped."""
    return "".join(
        character if character == "\n" or character.isprintable() else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]
