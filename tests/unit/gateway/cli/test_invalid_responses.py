"""The command reports that the server at its address is not a Braid gateway, if it does not respond like one."""

from __future__ import annotations

import io
import json
from typing import Any

import httpx2
import pytest
from rich.console import Console

from gateway.cli.app import invoke
from gateway.cli.session import Session

URL = "http://127.0.0.1:1"
NO_GATEWAY = f"{URL} is not a Braid gateway"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[httpx2.Response]:
    """The server's responses to the requests in order; the last one repeats."""
    responses: list[httpx2.Response] = []

    def answer(*_: object) -> httpx2.Response:
        return responses.pop(0) if len(responses) > 1 else responses[0]

    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", answer)
    return responses


def braid(*words: str, url: str = URL) -> tuple[int, str, str]:
    """Returns the command's exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    consoles = Console(file=out, width=200), Console(file=err, width=200)
    session = Session({"BRAID_URL": url}, *consoles, as_json="--json" in words)
    code = invoke(session, words)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, []),
        (200, {}),
        (200, "results"),
        (200, {"results": [{}]}),
        (404, ["no"]),
        (404, {}),
        (404, {"detail": "Not Found"}),
        (422, {"detail": [{"loc": ["body"]}], "reason": "X"}),
        (422, {"detail": "no", "reason": 1}),
        (422, {"detail": "no", "reason": "X", "fields": 1}),
        (422, {"detail": "no", "reason": "X", "fields": [1]}),
        (422, {"detail": "no", "reason": "X", "fields": [{"field": "query"}]}),
    ],
)
def test_another_server_is_reported_as_not_a_gateway(
    answers: list[httpx2.Response], status: int, body: Any
) -> None:
    answers.append(httpx2.Response(status, json=body))
    assert braid("search", "who") == (1, "", f"braid: {NO_GATEWAY}\n")
    code, out, _ = braid("search", "who", "--mode", "text", "--json")
    if status != 200 or not isinstance(body, dict):
        assert (code, json.loads(out)) == (1, {"detail": NO_GATEWAY, "reason": "FAILED"})


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("graph", "entities"),
        ("graph", "neighborhood", "A"),
        ("documents", "list"),
        ("documents", "delete", "a"),
        ("jobs", "list"),
        ("jobs", "get", "j"),
        ("jobs", "dead"),
        ("space", "check"),
        ("space", "reembed"),
    ],
)
def test_every_command_reports_a_response_that_lacks_required_fields(
    answers: list[httpx2.Response], words: tuple[str, ...]
) -> None:
    answers.append(httpx2.Response(200, json={}))
    code, _, err = braid(*words)
    assert (code, err) == (1, f"braid: {NO_GATEWAY}\n")


def test_a_response_that_is_not_json_is_reported(answers: list[httpx2.Response]) -> None:
    answers.append(httpx2.Response(503, text="[" * 100_000))
    code, _, err = braid("status")
    assert (code, err) == (1, "braid: the answer is not JSON (status 503)\n")


def test_an_error_of_the_gateway_is_passed_on_unchanged(answers: list[httpx2.Response]) -> None:
    fields = [{"field": "limit", "description": "is odd"}]
    body = {"detail": "limit: is odd", "reason": "INVALID_FIELD", "request_id": "r"}
    answers.append(httpx2.Response(422, json=body | {"fields": fields}))
    assert json.loads(braid("jobs", "list", "--json")[1]) == body | {"fields": fields}


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("localhost:8080", "http:// or https:// is missing"),
        ("127.0.0.1:8080", "http:// or https:// is missing"),
        ("gopher://127.0.0.1", "http:// or https:// is missing"),
        ("http://", "its host is missing"),
        ("http://[::1", "Invalid port: ':1'"),
        ("http://x:port", "Invalid port: 'port'"),
    ],
)
def test_an_invalid_address_is_reported_before_any_request(url: str, problem: str) -> None:
    expected = f"braid: {url} is not the address of a gateway: {problem} (INVALID_FIELD)\n"
    assert braid("status", url=url) == (2, "", expected)
