"""Changes to the key file: what they write and refuse, and the permissions of the file."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from services.runtime.security.api_keys import KeyFileError, KeyRing
from services.runtime.security.key_file import KeyChangeError, KeyEditor, UnknownKeyError
from services.runtime.times import utc_now
from tests.unit.runtime.security.conftest import RecordedEvents


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def editor(path: Path) -> KeyEditor:
    return KeyEditor(path)


def create(editor: KeyEditor, key_id: str = "search", **given: Any) -> str:
    """Creates a key of space `acme` and returns its secret."""
    defaults: dict[str, Any] = {
        "space": "acme",
        "user": None,
        "scopes": ["read"],
        "expires_at": None,
    }
    _, secret = editor.create(key_id=key_id, **{**defaults, **given})
    return secret


class Keys(KeyRing):
    """Checks the file at each use."""

    def __init__(self, path: Path, recorded: RecordedEvents) -> None:
        super().__init__(path, clock=self._later, security=recorded)
        self._time = 0.0

    def _later(self) -> float:
        self._time += 10
        return self._time


def test_a_created_key_is_valid_and_only_its_hash_is_stored(
    editor: KeyEditor, path: Path, recorded: RecordedEvents
) -> None:
    secret = create(editor, user="ann", scopes=["write", "read"])
    record, refusal = Keys(path, recorded).find(secret)
    assert record is not None
    assert (record.id, record.space, record.user, refusal) == ("search", "acme", "ann", "")
    assert secret not in path.read_text()
    assert json.loads(path.read_text())["keys"][0]["scopes"] == ["read", "write"]


def test_secrets_are_long_random_and_recognizable(editor: KeyEditor) -> None:
    secrets = {create(editor, f"k{number}") for number in range(20)}
    assert len(secrets) == 20
    assert all(secret.startswith("brd_") and len(secret) == 47 for secret in secrets)


def test_a_new_file_is_private_and_an_existing_one_keeps_its_mode(
    editor: KeyEditor, path: Path
) -> None:
    create(editor, "a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    create(editor, "b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_link_to_the_file_stays_a_link(editor: KeyEditor, path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(path)
    create(KeyEditor(link))
    assert link.is_symlink()
    assert [record.id for record in editor.records()] == ["search"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"space": "a b"}, "space"),
        ({"space": None}, "space"),
        ({"user": "José"}, "user"),
        ({"user": "a\nb"}, "user"),
        ({"scopes": ["root"]}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"key_id": "two words"}, "id"),
        ({"key_id": ""}, "id"),
        ({"expires_at": utc_now() - timedelta(seconds=1)}, "expires"),
    ],
)
def test_an_invalid_argument_is_named_and_changes_nothing(
    editor: KeyEditor, path: Path, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(KeyChangeError) as refused:
        create(editor, **given)
    assert refused.value.field == field
    assert not path.exists()


def test_an_id_cannot_be_used_twice(editor: KeyEditor) -> None:
    create(editor)
    with pytest.raises(KeyChangeError, match="already"):
        create(editor)


def test_a_delegate_needs_no_space(editor: KeyEditor) -> None:
    create(editor, space=None, scopes=["read", "delegate"])
    assert editor.records()[0].space is None


def test_without_a_grace_period_the_old_secret_is_invalid_at_once(
    editor: KeyEditor, path: Path, recorded: RecordedEvents
) -> None:
    old = create(editor)
    keys = Keys(path, recorded)
    assert keys.find(old).refusal == ""
    _, new = editor.rotate("search", grace=timedelta())
    assert keys.find(old).refusal == "unknown"
    assert keys.find(new).refusal == ""
    assert recorded.seen == [("key_rotated", {"key_id": "search"})]


def test_the_old_secret_stays_valid_for_the_grace_period(
    editor: KeyEditor, path: Path, recorded: RecordedEvents
) -> None:
    old = create(editor)
    editor.rotate("search", grace=timedelta(hours=1))
    assert Keys(path, recorded).find(old).refusal == ""
    document = json.loads(path.read_text())
    document["keys"][0]["previous_expires_at"] = "2020-01-01T00:00:00Z"
    path.write_text(json.dumps(document))
    record, refusal = Keys(path, recorded).find(old)
    assert record is not None
    assert (record.id, refusal) == ("search", "rotated")


def test_both_secrets_of_a_revoked_key_are_refused_as_revoked(
    editor: KeyEditor, path: Path, recorded: RecordedEvents
) -> None:
    old = create(editor)
    _, new = editor.rotate("search", grace=timedelta(hours=1))
    keys = Keys(path, recorded)
    assert keys.find(new).refusal == ""
    editor.revoke("search")
    for secret in (old, new):
        record, refusal = keys.find(secret)
        assert record is not None
        assert (record.id, refusal) == ("search", "revoked")
    assert recorded.seen == [("key_revoked", {"key_id": "search"})]


def test_a_second_revocation_keeps_the_time_of_the_first(editor: KeyEditor) -> None:
    create(editor)
    assert editor.revoke("search") == editor.revoke("search")


def test_a_revoked_or_unknown_key_cannot_be_rotated(editor: KeyEditor) -> None:
    create(editor)
    editor.revoke("search")
    with pytest.raises(KeyChangeError, match="revoked"):
        editor.rotate("search", grace=timedelta())
    with pytest.raises(UnknownKeyError):
        editor.rotate("another", grace=timedelta())
    with pytest.raises(UnknownKeyError):
        editor.revoke("another")


def test_a_file_that_cannot_be_read_is_not_overwritten(editor: KeyEditor, path: Path) -> None:
    path.write_text("{")
    with pytest.raises(KeyFileError):
        create(editor)
    assert path.read_text() == "{"


def test_concurrent_writers_lose_no_keys(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: create(KeyEditor(path), f"k{number}"), range(24)))
    assert len(KeyEditor(path).records()) == 24


def test_manual_changes_of_the_file_are_recorded(
    editor: KeyEditor, path: Path, recorded: RecordedEvents
) -> None:
    create(editor, "a")
    create(editor, "b")
    keys = Keys(path, recorded)
    keys.find("any")
    document = json.loads(path.read_text())
    document["keys"][0]["scopes"] = ["admin"]
    document["keys"][1]["id"] = "c"
    path.write_text(json.dumps(document))
    keys.find("any")
    assert recorded.seen == [
        ("key_changed", {"key_id": "a"}),
        ("key_added", {"key_id": "c"}),
        ("key_removed", {"key_id": "b"}),
    ]


@pytest.mark.parametrize("same", ["id", "hash"])
def test_a_file_with_a_duplicate_key_is_refused(
    editor: KeyEditor, path: Path, recorded: RecordedEvents, same: str
) -> None:
    create(editor, "a")
    create(editor, "b")
    document = json.loads(path.read_text())
    document["keys"][1][same] = document["keys"][0][same]
    path.write_text(json.dumps(document))
    with pytest.raises(KeyFileError):
        KeyRing(path, security=recorded).reload()
