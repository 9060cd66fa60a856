"""However the command fails, it ends with a sentence and a code, and with `--json` with one object."""

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
    """A command that fails."""

    def command() -> None:
        raise error

    return command


def ran(command: Callable[[], object], *, as_json: bool = True) -> tuple[int, str, str]:
    """A command's exit code, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    session = Session({}, Console(file=out), Console(file=err), as_json=as_json)
    return run(session, command), out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("error", "code", "told"),
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
def test_a_failure_is_a_sentence_and_for_programs_an_object(
    error: Exception, code: int, told: dict[str, Any]
) -> None:
    ended, out, err = ran(failing(error))
    assert (ended, json.loads(out)) == (code, told)
    assert err.startswith(f"braid: {told['detail']}")


def test_a_failure_prints_nothing_to_standard_output_where_no_json_is_asked_for() -> None:
    assert ran(failing(CliError("no")), as_json=False) == (1, "", "braid: no\n")


def test_after_an_answer_a_failure_prints_no_second_object() -> None:
    out = io.StringIO()
    session = Session({}, Console(file=out), Console(file=io.StringIO()), as_json=True)

    def command() -> None:
        session.show_json({"job": 1})
        raise CliError("the job failed")

    assert run(session, command) == 1
    assert json.loads(out.getvalue()) == {"job": 1}


def test_ctrl_c_is_an_object_for_programs() -> None:
    code, out, err = ran(lambda: 130)
    assert (code, err) == (130, "")
    assert json.loads(out) == {"detail": "interrupted", "reason": "INTERRUPTED"}


@pytest.mark.parametrize("code", [0, 1, 4])
def test_a_command_that_ends_by_itself_prints_nothing_more(code: int) -> None:
    assert ran(lambda: code) == (code, "", "")


def test_shell_completion_ends_the_program_by_itself() -> None:
    assert ran(failing(SystemExit(0))) == (0, "", "")


def test_a_wrong_call_is_one_line() -> None:
    code, out, err = ran(failing(typer.BadParameter("must be a number")))
    assert (code, json.loads(out)["reason"]) == (2, "USAGE")
    assert err == "braid: Invalid value: must be a number.\n"


def test_a_reader_that_has_gone_is_not_told_of() -> None:
    assert ran(failing(BrokenPipeError()), as_json=False) == (1, "", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["search", "who", "--json"], True),
        (["search", "--json", "--limit", "no"], True),
        (["search", "who"], False),
        (["search", "--", "--json"], False),
    ],
)
def test_json_is_asked_for_among_the_options(words: list[str], expected: bool) -> None:
    assert wants_json(words) is expected
