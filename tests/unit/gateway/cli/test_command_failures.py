"""A failing command ends with a message and an exit code and, with `--json`, prints one object."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
import typer
from rich.console import Console

from gateway.cli.errors import CliError, StillRunningError
from gateway.cli.session import Session, run, wants_json

FIELDS = (("limit", "is odd"),)


def failing(error: BaseException) -> Callable[[], None]:
    """Returns a command that fails."""

    def command() -> None:
        raise error

    return command


def run_command(command: Callable[[], object], *, as_json: bool = True) -> tuple[int, str, str]:
    """Returns a command's exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    session = Session({}, Console(file=out), Console(file=err), as_json=as_json)
    return run(session, command), out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("error", "code", "body"),
    [
        (CliError("no stack"), 1, {"detail": "no stack", "reason": "FAILED"}),
        (
            CliError("limit: is odd", reason="INVALID_FIELD", request_id="r-1", fields=FIELDS),
            2,
            {
                "detail": "limit: is odd",
                "reason": "INVALID_FIELD",
                "fields": [{"field": "limit", "description": "is odd"}],
                "request_id": "r-1",
            },
        ),
        (
            StillRunningError("the job goes on"),
            130,
            {"detail": "interrupted: the job goes on", "reason": "INTERRUPTED"},
        ),
        (
            NotADirectoryError(20, "Not a directory", "/data/x"),
            1,
            {"detail": "/data/x: not a directory", "reason": "FAILED"},
        ),
    ],
)
def test_a_failure_is_printed_as_a_message_and_with_json_as_an_object(
    error: Exception, code: int, body: dict[str, Any]
) -> None:
    exit_code, out, err = run_command(failing(error))
    assert (exit_code, json.loads(out)) == (code, body)
    assert err.startswith(f"braid: {body['detail']}")


def test_without_json_a_failure_prints_nothing_to_standard_output() -> None:
    assert run_command(failing(CliError("no")), as_json=False) == (1, "", "braid: no\n")


def test_a_failure_after_a_result_prints_no_second_object() -> None:
    out = io.StringIO()
    session = Session({}, Console(file=out), Console(file=io.StringIO()), as_json=True)

    def command() -> None:
        session.show_json({"job": 1})
        raise CliError("the job failed")

    assert run(session, command) == 1
    assert json.loads(out.getvalue()) == {"job": 1}


def test_with_json_an_interrupt_is_printed_as_an_object() -> None:
    code, out, err = run_command(lambda: 130)
    assert (code, err) == (130, "")
    assert json.loads(out) == {"detail": "interrupted", "reason": "INTERRUPTED"}


@pytest.mark.parametrize("code", [0, 1, 4])
def test_a_command_that_returns_its_exit_code_prints_nothing_more(code: int) -> None:
    assert run_command(lambda: code) == (code, "", "")


def test_a_system_exit_of_shell_completion_prints_nothing() -> None:
    assert run_command(failing(SystemExit(0))) == (0, "", "")


def test_a_usage_error_is_printed_as_one_line() -> None:
    code, out, err = run_command(failing(typer.BadParameter("must be a number")))
    assert (code, json.loads(out)["reason"]) == (2, "USAGE")
    assert err == "braid: Invalid value: must be a number.\n"


def test_a_broken_pipe_prints_nothing() -> None:
    assert run_command(failing(BrokenPipeError()), as_json=False) == (1, "", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["search", "who", "--json"], True),
        (["search", "--json", "--limit", "no"], True),
        (["search", "who"], False),
        (["search", "--", "--json"], False),
    ],
)
def test_json_is_recognized_only_among_the_options(words: list[str], expected: bool) -> None:
    assert wants_json(words) is expected
