"""Generated secrets are private and stable."""

import hashlib
import json
import stat
from pathlib import Path

from deploy.local.credentials import load_or_create, write_private
from deploy.local.keys import ProcessKeys


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_secret_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    load_or_create(tmp_path / "secrets.json", ["one"])
    assert mode(tmp_path / "secrets.json") == 0o600


def test_replacing_a_readable_file_makes_it_private_and_leaves_no_temporary_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "secrets.json"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "new")
    assert (path.read_text(), mode(path)) == ("new", 0o600)
    assert list(tmp_path.iterdir()) == [path]


def test_secrets_differ_by_name_and_are_kept_when_names_are_added(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    first = load_or_create(path, ["one", "two"])
    second = load_or_create(path, ["two", "three"])
    assert second["two"] == first["two"]
    assert len(set(second.values())) == 3
    assert all(len(secret) >= 32 for secret in second.values())


def test_each_process_gets_a_key_whose_hash_is_stored(tmp_path: Path) -> None:
    keys = ProcessKeys(tmp_path)
    issued = keys.issue({"gateway": ("read", "delegate"), "graph_query": ("read",)})
    entries = {entry["id"]: entry for entry in json.loads(keys.file.read_text())["keys"]}
    digest = hashlib.sha256(issued["gateway"].encode()).hexdigest()
    assert entries["local-gateway"] == {
        "id": "local-gateway",
        "hash": f"sha256:{digest}",
        "space": None,
        "user": None,
        "scopes": ["read", "delegate"],
        "expires_at": None,
    }
    assert entries["local-graph-query"]["scopes"] == ["read"]
    assert issued["gateway"] != issued["graph_query"]
    assert mode(keys.file) == 0o600
    assert issued["gateway"] not in keys.file.read_text()


def test_issuing_keys_again_keeps_them_and_keys_that_others_added(tmp_path: Path) -> None:
    keys = ProcessKeys(tmp_path)
    first = keys.issue({"gateway": ("read",)})
    content = json.loads(keys.file.read_text())
    foreign = {"id": "team", "hash": "sha256:00", "space": "team", "scopes": ["read"]}
    keys.file.write_text(json.dumps({"keys": [*content["keys"], foreign]}))
    assert keys.issue({"gateway": ("read",)}) == first
    ids = [entry["id"] for entry in json.loads(keys.file.read_text())["keys"]]
    assert sorted(ids) == ["local-cli", "local-gateway", "team"]


def test_secrets_are_alphanumeric_and_never_look_like_command_options(tmp_path: Path) -> None:
    secrets_made = load_or_create(tmp_path / "secrets.json", [f"name{n}" for n in range(500)])
    assert all(secret.isalnum() for secret in secrets_made.values())
