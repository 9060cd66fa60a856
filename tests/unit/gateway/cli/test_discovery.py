"""Which gateway the command finds, and its error message if it finds none."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from deploy.local.keys import ProcessKeys
from gateway.cli.discovery import (
    DEFAULT_URL,
    Gateway,
    Probed,
    StartedStacks,
    find_gateway,
    running_url,
)
from gateway.cli.errors import CliError
from gateway.cli.session import Session
from services.runtime.security.api_keys import hash_key

HERE = "http://127.0.0.1:1001"
THERE = "http://127.0.0.1:1002"
ELSEWHERE = "http://127.0.0.1:1003"


def stack(data: Path, url: str) -> Path:
    """Creates the data folder of a running stack, or of one whose machine crashed."""
    data.mkdir(parents=True, exist_ok=True)
    address = url.removeprefix("http://")
    (data / "run.json").write_text(json.dumps({"addresses": {"gateway": address}}))
    return data


def only(*urls: str) -> Callable[[str], Probed]:
    """Returns a probe that finds gateways at these addresses only."""
    return lambda url: Probed.GATEWAY if url in urls else Probed.ABSENT


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a user who works in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}


def test_the_configured_address_takes_precedence_over_running_stacks(
    home: dict[str, str], tmp_path: Path
) -> None:
    stack(tmp_path / "work" / ".braid", HERE)
    found = find_gateway(home | {"BRAID_URL": ELSEWHERE}, only(HERE, DEFAULT_URL))
    assert found == Gateway(ELSEWHERE, "BRAID_URL")


def test_the_stack_of_the_current_folder_takes_precedence_over_the_last_started_one(
    home: dict[str, str], tmp_path: Path
) -> None:
    here = stack(tmp_path / "work" / ".braid", HERE)
    StartedStacks(home).add(stack(tmp_path / "there", THERE))
    found = find_gateway(home, only(HERE, THERE, DEFAULT_URL))
    assert found == Gateway(HERE, "folder", here)
    assert found.is_named


def test_the_stack_of_the_current_folder_is_used_even_if_it_does_not_respond(
    home: dict[str, str], tmp_path: Path
) -> None:
    stack(tmp_path / "work" / ".braid", HERE)
    assert find_gateway(home, lambda _: Probed.SILENT).url == HERE


def test_from_another_folder_the_last_started_stack_that_responds_is_found(
    home: dict[str, str], tmp_path: Path
) -> None:
    for name, url in (("a", HERE), ("b", THERE), ("c", ELSEWHERE)):
        StartedStacks(home).add(stack(tmp_path / name, url))
    StartedStacks(home).add(tmp_path / "a")
    assert find_gateway(home, only(HERE, THERE, ELSEWHERE)).url == HERE
    found = find_gateway(home, only(THERE, ELSEWHERE, DEFAULT_URL))
    assert found == Gateway(ELSEWHERE, "last started", tmp_path / "c")
    assert not found.is_named
    (tmp_path / "c" / "run.json").unlink()  # as after a regular stop
    assert find_gateway(home, only(THERE, DEFAULT_URL)).url == THERE


def test_the_default_address_is_the_last_resort(home: dict[str, str]) -> None:
    assert find_gateway(home, only(DEFAULT_URL)) == Gateway(DEFAULT_URL, "default address")


def test_another_server_at_the_default_address_is_not_a_gateway(home: dict[str, str]) -> None:
    with pytest.raises(CliError, match="no running stack"):
        find_gateway(home, lambda _: Probed.SILENT)


def test_with_a_data_folder_set_no_other_stack_is_used(
    home: dict[str, str], tmp_path: Path
) -> None:
    named = home | {"BRAID_DATA": str(tmp_path / "named")}
    StartedStacks(home).add(stack(tmp_path / "there", THERE))
    with pytest.raises(CliError, match="no stack runs there"):
        find_gateway(named, only(THERE, DEFAULT_URL))
    stack(tmp_path / "named", HERE)
    assert find_gateway(named, only()).url == HERE


def test_the_error_lists_every_attempt(home: dict[str, str], tmp_path: Path) -> None:
    StartedStacks(home).add(stack(tmp_path / "there", THERE))
    with pytest.raises(CliError) as failed:
        find_gateway(home, only())
    message = failed.value.line()
    assert f"{tmp_path / 'work' / '.braid'}: no stack runs there" in message
    assert f"{tmp_path / 'there'}: {THERE} does not answer" in message
    assert f"{DEFAULT_URL}: no Braid gateway answers" in message
    assert "`braid up`" in message
    assert "BRAID_URL" in message


def test_the_last_ten_stacks_are_remembered_without_duplicates(
    home: dict[str, str], tmp_path: Path
) -> None:
    stacks = StartedStacks(home)
    for number in (*range(12), 5):
        stacks.add(stack(tmp_path / str(number), HERE))
    assert [one.name for one in stacks.paths()] == [
        str(number) for number in (5, 11, 10, 9, 8, 7, 6, 4, 3, 2)
    ]


def test_the_state_is_kept_in_the_home_folder_without_xdg_state_home(tmp_path: Path) -> None:
    stacks = StartedStacks({"HOME": str(tmp_path), "XDG_STATE_HOME": "relative"})
    stacks.add(stack(tmp_path / "a", HERE))
    assert (tmp_path / ".local" / "state" / "braid" / "stacks.json").exists()
    assert stacks.paths() == [tmp_path / "a"]


@pytest.mark.parametrize("content", ["", "{}", "7", '["relative", 7, null]', "\x00"])
def test_a_malformed_state_file_is_ignored(home: dict[str, str], content: str) -> None:
    path = Path(home["XDG_STATE_HOME"]) / "braid" / "stacks.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert StartedStacks(home).paths() == []


def test_an_unwritable_state_file_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for environment in ({}, {"XDG_STATE_HOME": str(tmp_path / "file")}):
        stacks = StartedStacks(environment)
        stacks.add(stack(tmp_path / "a", HERE))
        assert stacks.paths() == []


@pytest.mark.parametrize("content", ["", "[]", '{"addresses": 7}', '{"addresses": {}}'])
def test_a_malformed_run_file_has_no_address(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    assert running_url(tmp_path)[0] == ""


def run_file(data: Path, address: str = "127.0.0.1:1001") -> Path:
    data.mkdir(parents=True, exist_ok=True)
    path = data / "run.json"
    path.write_text(json.dumps({"addresses": {"gateway": address}}))
    return path


@pytest.mark.parametrize("permissions", [0o620, 0o602, 0o666])
def test_a_run_file_that_others_may_write_is_not_used(
    home: dict[str, str], tmp_path: Path, permissions: int
) -> None:
    run_file(tmp_path / "work" / ".braid").chmod(permissions)
    with pytest.raises(CliError, match=r"other users may write its run\.json"):
        find_gateway(home, only(HERE))


def test_a_run_file_of_another_user_is_not_used(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_file(tmp_path / "work" / ".braid")
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(CliError, match=r"its run\.json belongs to another user"):
        find_gateway(home, only(HERE))


def test_a_link_or_a_pipe_in_place_of_the_run_file_is_not_used(tmp_path: Path) -> None:
    linked, piped = tmp_path / "linked", tmp_path / "piped"
    linked.mkdir()
    piped.mkdir()
    (linked / "run.json").symlink_to(run_file(tmp_path / "real"))
    os.mkfifo(piped / "run.json")
    assert running_url(linked)[0] == running_url(piped)[0] == ""


@pytest.mark.parametrize(
    "address",
    [
        "192.0.2.1:8080",
        "evil.example:8080",
        "127.0.0.1.evil.example:80",
        "127.0.0.1:80@evil.example",
        "user@127.0.0.1:8080",
        "127.0.0.1:8080/path",
        "0.0.0.0:8080",
        "[2001:db8::1]:8080",
        "999.0.0.1:1",
        "127.0.0.1",
        "",
        7,
        None,
    ],
)
def test_an_address_that_is_not_on_loopback_is_not_used(
    home: dict[str, str], tmp_path: Path, address: Any
) -> None:
    run_file(tmp_path / "work" / ".braid", address)
    with pytest.raises(CliError, match="not on loopback"):
        find_gateway(home, lambda _: Probed.GATEWAY if _ != DEFAULT_URL else Probed.ABSENT)


def test_an_address_on_loopback_is_used(tmp_path: Path) -> None:
    for address in ("127.0.0.1:1001", "127.9.9.9:1", "[::1]:8080"):
        run_file(tmp_path, address)
        assert running_url(tmp_path) == (f"http://{address}", "")


def session_of(environment: dict[str, str]) -> tuple[Session, io.StringIO]:
    shown = io.StringIO()
    return Session(environment, Console(file=io.StringIO()), Console(file=shown, width=500)), shown


def test_the_key_of_the_environment_is_not_sent_to_an_address_of_a_file(
    home: dict[str, str], tmp_path: Path
) -> None:
    data = stack(tmp_path / "work" / ".braid", HERE)
    session, shown = session_of(home | {"BRAID_API_KEY": "secret"})
    assert session.key_for(Gateway(HERE, "folder", data)) == ""
    assert "BRAID_API_KEY is not sent to" in shown.getvalue()
    assert "secret" not in shown.getvalue()
    assert session.key_for(Gateway(ELSEWHERE, "BRAID_URL")) == "secret"
    assert session.key_for(Gateway(DEFAULT_URL, "default address")) == "secret"


def test_a_stack_of_the_current_user_is_sent_the_key_that_it_issued(tmp_path: Path) -> None:
    issued = ProcessKeys(tmp_path)
    issued.issue({"gateway": ("read",)})
    session, _ = session_of({})
    key = session.key_for(Gateway(HERE, "folder", tmp_path))
    entries = {entry["id"]: entry for entry in json.loads(issued.file.read_text())["keys"]}
    assert entries["local-cli"]["hash"] == hash_key(key)
    assert (entries["local-cli"]["space"], entries["local-cli"]["user"]) == ("local", "local")
    assert entries["local-cli"]["scopes"] == ["read", "write", "admin", "delegate", "operator"]
    (tmp_path / "keys.credentials.json").chmod(0o666)
    assert session.key_for(Gateway(HERE, "folder", tmp_path)) == ""
