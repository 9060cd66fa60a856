"""Every command ends with the documented exit code, one line on standard error and, with `--json`, one object."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from rich.console import Console

from gateway.cli.app import invoke
from gateway.cli.session import Session, wants_json
from tests.unit.gateway.cli.test_grammar import ALL, WITHOUT_JSON

LOCAL = {"up", "mcp", "backup", "restore"}
REMOTE = [words for words in ALL if words not in LOCAL and not words.startswith("keys ")]
# Values of required parameters, by the parameter's name.
REQUIRED_VALUES = {"as_of": "2024-01-01", "since": "2024-01-01", "at": "2024-01-01"}

# One of several ways to say what a command is about.
REQUIRED_CHOICES = {"memory delete": ["--all"], "jobs retry": ["--dead"]}


def braid(*words: str) -> tuple[int, str, str]:
    """Returns the exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    consoles = Console(file=out, width=200), Console(file=err, width=200)
    environment = {"BRAID_URL": "http://127.0.0.1:1"}
    session = Session(environment, *consoles, as_json=wants_json(words))
    return invoke(session, words), out.getvalue(), err.getvalue()


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]
    assert braid("--version") == (0, f"braid {project['version']}\n", "")


@pytest.fixture
def call(words: str, tmp_path: Path) -> list[str]:
    """Returns the command with all its required parameters."""
    file = tmp_path / "file.md"
    file.write_text("{}")
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "Who?", "documents": ["a.md"]}')
    archive = tmp_path / "archive"
    archive.mkdir()
    manifest = {"format": 1, "braid": "0", "space": "s", "created": "", "parts": []}
    (archive / "manifest.json").write_text(json.dumps(manifest))
    given = REQUIRED_VALUES | {
        "archive": str(archive),
        "target": str(tmp_path / "new"),
        "file": str(file),
        "paths": str(file),
        "folder": str(tmp_path),
        "questions": str(questions),
    }
    called = words.split()
    for parameter in ALL[words].params:
        if not parameter.required:
            continue
        value = given.get(parameter.name, "x")
        is_option = parameter.opts[0].startswith("--")
        called += [parameter.opts[0], value] if is_option else [value]
    return [*called, *REQUIRED_CHOICES.get(words, ())]


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, str], None]:
    """Makes every request fail."""

    def refuse_all(status: int, reason: str) -> None:
        body = {"detail": "No.", "reason": reason, "request_id": "r-1"}
        monkeypatch.setattr(
            httpx2.HTTPTransport, "handle_request", lambda *_: httpx2.Response(status, json=body)
        )

    return refuse_all


@pytest.mark.parametrize("words", REMOTE)
def test_an_error_of_the_gateway_is_printed_as_one_line_with_an_exit_code(
    refuse: Callable[[int, str], None], call: list[str]
) -> None:
    refuse(504, "DEADLINE")
    code, out, err = braid(*call)
    assert (code, out) == (5, "")
    assert err.splitlines()[-1:] == ["braid: No. (DEADLINE, request r-1)"]


@pytest.mark.parametrize("words", REMOTE)
def test_with_json_an_error_is_printed_as_an_object(
    refuse: Callable[[int, str], None], call: list[str]
) -> None:
    refuse(403, "MISSING_SCOPE")
    code, out, _ = braid(*call, "--json")
    failure: dict[str, Any] = json.loads(out)
    assert (code, failure["reason"], failure["request_id"]) == (6, "MISSING_SCOPE", "r-1")


@pytest.mark.parametrize("words", ALL)
def test_an_unknown_option_exits_with_2_and_prints_a_line_or_an_object(words: str) -> None:
    code, out, err = braid(*words.split(), "--no-such-option")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert f"Try `braid {words} --help`." in err
    if words not in WITHOUT_JSON:
        code, out, _ = braid(*words.split(), "--json", "--no-such-option")
        assert (code, json.loads(out)["reason"]) == (2, "USAGE")


@pytest.mark.parametrize("words", ALL)
def test_help_exits_with_0(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert braid(*words.split(), "--help")[0] == 0
    assert f"Usage: braid {words}" in capsys.readouterr().out
