"""`braid keys`: its output, and that its changes apply to services without a restart."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gateway.cli.app import invoke
from gateway.cli.session import Session, wants_json
from services.runtime.security.api_keys import KeyRing


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


class Braid:
    """The command, run on one key file."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """Returns the exit code, standard output and standard error."""
        out, err = io.StringIO(), io.StringIO()
        consoles = Console(file=out, width=200), Console(file=err, width=200)
        session = Session(self._environment, *consoles, as_json=wants_json(words))
        return invoke(session, ["keys", *words]), out.getvalue(), err.getvalue()

    def json(self, *words: str) -> dict[str, Any]:
        """Returns the object that a command prints."""
        code, out, _ = self(*words, "--json")
        assert code == 0
        found: dict[str, Any] = json.loads(out)
        return found


@pytest.fixture
def braid(file: Path) -> Braid:
    return Braid({"BRAID_API_KEYS_FILE": str(file)})


def test_a_key_is_printed_once_and_accepted(braid: Braid, file: Path) -> None:
    key = braid.json("create", "search", "--space", "acme", "--user", "ann", "--scope", "write")
    record, refusal = KeyRing(file).find(key["key"])
    assert record is not None
    assert (record.id, record.space, record.user, refusal) == ("search", "acme", "ann", "")
    assert record.scopes == {"write"}
    listed = braid("list")
    assert "search  active  acme   ann   write" in listed[1]
    assert key["key"] not in "".join(map(str, listed)) + json.dumps(braid.json("list"))


def test_without_json_the_key_is_printed_with_a_warning(braid: Braid) -> None:
    code, out, err = braid("create", "search", "--space", "acme")
    assert code == 0
    assert out.splitlines()[-1].startswith("key: brd_")
    assert err == "The key is shown this once: only its hash is stored.\n"


def test_a_key_has_read_scope_and_no_expiry_by_default(braid: Braid) -> None:
    key = braid.json("create", "search", "--space", "acme")
    assert (key["scopes"], key["expires"]) == (["read"], None)


@pytest.mark.parametrize("expires", ["90d", "12h", "2999-01-01", "2999-01-01T00:00:00+02:00"])
def test_the_expiry_of_a_key_may_be_a_duration_or_a_time(braid: Braid, expires: str) -> None:
    key = braid.json("create", "search", "--space", "acme", "--expires", expires)
    assert key["expires"].endswith("+00:00")


def test_rotation_replaces_a_key_and_revocation_invalidates_it(braid: Braid, file: Path) -> None:
    first = braid.json("create", "search", "--space", "acme")["key"]
    second = braid.json("rotate", "search", "--grace", "1h")["key"]
    assert [KeyRing(file).find(key).refusal for key in (first, second)] == ["", ""]
    third = braid.json("rotate", "search")["key"]
    assert [KeyRing(file).find(key).refusal for key in (first, second, third)] == [
        *("unknown", "unknown"),
        "",
    ]
    assert braid.json("revoke", "search")["state"] == "revoked"
    assert KeyRing(file).find(third).refusal == "revoked"


@pytest.mark.parametrize(
    ("words", "code", "field"),
    [
        (("create", "a", "--space", "a b"), 2, "space"),
        (("create", "a"), 2, "space"),
        (("create", "a", "--space", "s", "--user", "José"), 2, "user"),
        (("create", "a", "--space", "s", "--expires", "soon"), 2, "expires"),
        (("create", "a", "--space", "s", "--expires", "2001-01-01"), 2, "expires"),
        (("create", "two words", "--space", "s"), 2, "id"),
        (("rotate", "search", "--grace", "long"), 2, "grace"),
        (("rotate", "nobody"), 3, None),
        (("revoke", "nobody"), 3, None),
    ],
)
def test_an_invalid_argument_is_named_and_changes_nothing(
    braid: Braid, file: Path, words: tuple[str, ...], code: int, field: str | None
) -> None:
    braid.json("create", "search", "--space", "acme")
    before = file.read_text()
    exit_code, out, _ = braid(*words, "--json")
    fields = [one["field"] for one in json.loads(out).get("fields", [])]
    assert (exit_code, fields) == (code, [field] if field else [])
    assert file.read_text() == before


def test_the_key_file_defaults_to_the_one_of_the_local_stack(tmp_path: Path) -> None:
    named, data = tmp_path / "named.json", tmp_path / "data"
    braid = Braid({"BRAID_DATA": str(data)})
    assert braid("list")[0] == 2
    assert braid("create", "a", "--space", "s", "--file", str(named))[0] == 0
    data.mkdir()
    (data / "api_keys.json").write_text('{"keys": []}')
    assert braid("create", "b", "--space", "s")[0] == 0
    assert '"b"' in (data / "api_keys.json").read_text()


def test_a_broken_file_is_reported_and_left_alone(braid: Braid, file: Path) -> None:
    file.write_text("{")
    code, _, err = braid("create", "a", "--space", "s")
    assert (code, file.read_text()) == (2, "{")
    assert "cannot be read" in err
