"""Runs the command to its end, whatever end that is: an exit code, and what failed in a sentence."""

from __future__ import annotations

import os
from itertools import takewhile
from typing import IO, TYPE_CHECKING

from gateway.cli.errors import INTERRUPTED, CliError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gateway.cli.session import Session


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
        # What typer itself refuses it has told of on standard error by now.
        told = getattr(end.__context__, "format_message", None)
        if told is not None:
            session.show_failure(CliError(told(), reason="USAGE"))
        elif code == INTERRUPTED:
            session.show_failure(CliError("interrupted", reason="INTERRUPTED"))
        return code
    return 0


def _sentence(error: OSError) -> str:
    told = (error.strerror or str(error)).lower()
    return f"{error.filename}: {told}" if error.filename else f"reading or writing failed: {told}"


def _let_go(output: IO[str]) -> None:
    """Writes what is left to be written. What cannot be would fail again at exit, with a traceback."""
    try:
        output.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
