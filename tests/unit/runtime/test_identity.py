"""The identity that a credential stands for."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from structlog.testing import capture_logs

from braid.agent.v1 import ingest_pb2
from services.runtime.errors import InvalidCredentialError, InvalidFieldError, MissingScopeError
from services.runtime.identity import Authenticator
from services.runtime.security.api_keys import (
    KeyFileError,
    KeyRing,
    KeysUnavailableError,
    hash_key,
)
from services.runtime.settings import RuntimeSettings
from services.runtime.status import error_from_rpc
from services.runtime.times import utc_now
from tests.unit.runtime.conftest import QUESTION, Start


def write_keys(path: Path, *records: dict[str, Any]) -> Path:
    keys = [{"id": f"k{n}", "scopes": ["read"], **record} for n, record in enumerate(records)]
    path.write_text(json.dumps({"keys": keys}))
    return path


def ring(tmp_path: Path, *records: dict[str, Any]) -> KeyRing:
    keys = KeyRing(write_keys(tmp_path / "keys.json", *records))
    keys.reload()
    return keys


def bearer(key: str, **more: str) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {"authorization": f"Bearer {key}", **named}


async def test_a_key_carries_its_space_user_and_scopes(tmp_path: Path) -> None:
    keys = ring(tmp_path, {"hash": hash_key("s3cret"), "space": "acme", "user": "ann"})
    identity = await Authenticator(keys, allow_local=False).identify(bearer("s3cret"))
    assert (identity.space, identity.user, identity.scopes) == ("acme", "ann", frozenset({"read"}))


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": "Basic s3cret"},
        {"authorization": "s3cret"},
        {"authorization": ""},
    ],
)
async def test_a_missing_or_unknown_credential_is_refused(
    tmp_path: Path, metadata: dict[str, str]
) -> None:
    keys = ring(tmp_path, {"hash": hash_key("s3cret"), "space": "acme"})
    with pytest.raises(InvalidCredentialError):
        await Authenticator(keys, allow_local=False).identify(metadata)


async def test_a_wrong_key_is_refused_on_loopback_too(tmp_path: Path) -> None:
    keys = ring(tmp_path, {"hash": hash_key("s3cret"), "space": "acme"})
    with pytest.raises(InvalidCredentialError):
        await Authenticator(keys, allow_local=True).identify(bearer("wrong"))


async def test_an_expired_key_is_refused(tmp_path: Path) -> None:
    past = (utc_now() - timedelta(seconds=1)).isoformat()
    keys = ring(tmp_path, {"hash": hash_key("s3cret"), "space": "acme", "expires_at": past})
    with pytest.raises(InvalidCredentialError):
        await Authenticator(keys, allow_local=False).identify(bearer("s3cret"))


@pytest.mark.parametrize("name", ["braid_space", "braid_user"])
async def test_only_a_delegate_may_name_space_or_user(tmp_path: Path, name: str) -> None:
    keys = ring(tmp_path, {"hash": hash_key("s3cret"), "space": "acme"})
    with pytest.raises(MissingScopeError) as refused:
        await Authenticator(keys, allow_local=False).identify(bearer("s3cret", **{name: "other"}))
    assert refused.value.metadata == {"scope": "delegate"}
    with pytest.raises(InvalidCredentialError):
        await Authenticator(None, allow_local=True).identify({name.replace("_", "-"): "other"})


async def test_a_delegate_may_name_space_and_user(tmp_path: Path) -> None:
    keys = ring(tmp_path, {"hash": hash_key("d"), "scopes": ["read", "delegate"]})
    identity = await Authenticator(keys, allow_local=False).identify(
        bearer("d", braid_space="acme", braid_user="ann")
    )
    assert (identity.space, identity.user) == ("acme", "ann")


@pytest.mark.parametrize("named", [{}, {"braid_space": ""}])
async def test_a_delegate_must_name_a_space(tmp_path: Path, named: dict[str, str]) -> None:
    """Otherwise a delegate that omits it would act for all its users in one space."""
    keys = ring(tmp_path, {"hash": hash_key("d"), "scopes": ["read", "delegate"]})
    with pytest.raises(InvalidFieldError, match=r"metadata\.braid-space"):
        await Authenticator(keys, allow_local=True).identify(bearer("d", **named))


async def test_a_delegate_of_one_space_need_not_name_it(tmp_path: Path) -> None:
    keys = ring(tmp_path, {"hash": hash_key("d"), "space": "acme", "scopes": ["delegate"]})
    assert (await Authenticator(keys, allow_local=False).identify(bearer("d"))).space == "acme"


async def test_a_delegate_of_one_space_is_limited_to_it(tmp_path: Path) -> None:
    keys = ring(tmp_path, {"hash": hash_key("d"), "space": "acme", "scopes": ["delegate"]})
    authenticator = Authenticator(keys, allow_local=False)
    with pytest.raises(MissingScopeError, match="bound to another space") as refused:
        await authenticator.identify(bearer("d", braid_space="other"))
    assert refused.value.metadata == {"scope": "delegate"}
    named = bearer("d", braid_space="acme", braid_user="ann")
    assert (await authenticator.identify(named)).user == "ann"


@pytest.mark.parametrize("space", ["a b", "a/b", "ü", "x" * 65, "acme\n"])
async def test_an_invalid_space_id_is_refused(tmp_path: Path, space: str) -> None:
    keys = ring(tmp_path, {"hash": hash_key("d"), "scopes": ["delegate"]})
    with pytest.raises(InvalidFieldError):
        await Authenticator(keys, allow_local=False).identify(bearer("d", braid_space=space))


@pytest.mark.parametrize("user", ["José", "two words", "a" * 129, "x\ny"])
async def test_a_user_that_call_metadata_cannot_carry_is_refused(tmp_path: Path, user: str) -> None:
    keys = ring(tmp_path, {"hash": hash_key("d"), "scopes": ["read", "delegate"]})
    with pytest.raises(InvalidFieldError, match="printable ASCII characters without spaces"):
        await Authenticator(keys, allow_local=False).identify(
            bearer("d", braid_space="acme", braid_user=user)
        )
    path = write_keys(tmp_path / "more.json", {"hash": hash_key("u"), "space": "a", "user": user})
    with pytest.raises(KeyFileError):
        KeyRing(path).reload()


def test_an_expiry_without_a_zone_is_refused(tmp_path: Path) -> None:
    record = {"hash": hash_key("s3cret"), "space": "acme", "expires_at": "2030-01-01T00:00:00"}
    with pytest.raises(KeyFileError):
        KeyRing(write_keys(tmp_path / "keys.json", record)).reload()


def test_keys_rotate_without_a_restart(tmp_path: Path) -> None:
    now = [0.0]
    path = write_keys(tmp_path / "keys.json", {"hash": hash_key("old"), "space": "acme"})
    keys = KeyRing(path, clock=lambda: now[0])
    assert keys.find("old").refusal == ""
    write_keys(path, {"hash": hash_key("new-and-longer"), "space": "acme"})
    now[0] = 1.5
    assert keys.find("old") == (None, "unknown")
    assert keys.find("new-and-longer").refusal == ""


@pytest.mark.parametrize("damage", ["malformed", "missing"])
def test_an_unreadable_key_file_keeps_the_known_keys_valid_for_a_while(
    tmp_path: Path, damage: str
) -> None:
    now = [0.0]
    path = write_keys(tmp_path / "keys.json", {"hash": hash_key("old"), "space": "acme"})
    keys = KeyRing(path, clock=lambda: now[0], max_stale_seconds=60)
    assert keys.find("old").refusal == ""
    path.write_text("{") if damage == "malformed" else path.unlink()
    now[0] = 59
    assert keys.find("old").refusal == ""
    now[0] = 61
    with capture_logs() as logs, pytest.raises(KeysUnavailableError):
        keys.find("old")
    assert [line["event"] for line in logs] == ["key_file_unreadable", "key_file_expired"]
    assert not keys.all_begin_with("k")
    write_keys(path, {"hash": hash_key("old"), "space": "acme"})
    now[0] = 63
    assert keys.find("old").refusal == ""


def test_a_key_file_that_may_no_longer_be_read_counts_as_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    path = write_keys(tmp_path / "keys.json", {"hash": hash_key("old"), "space": "acme"})
    keys = KeyRing(path, clock=lambda: now[0], max_stale_seconds=60)
    keys.reload()

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)  # root may read every file
    now[0] = 61
    with pytest.raises(KeysUnavailableError):
        keys.find("old")


@pytest.mark.parametrize("text", ["", "{", '{"keys": [{"id": "a"}]}', '{"keys": [{"key": "s3"}]}'])
def test_the_error_for_a_malformed_key_file_does_not_quote_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(KeyFileError) as failure:
        KeyRing(path).reload()
    assert "s3" not in str(failure.value)


async def test_a_method_needs_the_scope_that_its_contract_declares(
    start: Start, tmp_path: Path
) -> None:
    path = write_keys(tmp_path / "keys.json", {"hash": hash_key("reader"), "space": "acme"})
    harness = await start(api_keys_file=path)
    metadata = (("authorization", "Bearer reader"),)
    await harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=metadata)
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await harness.ingest.IngestDocument(
            iter([ingest_pb2.IngestDocumentRequest(data=b"x")]), timeout=5, metadata=metadata
        )
    assert failure.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert error_from_rpc(failure.value).metadata["scope"] == "write"
    assert [call.space for call in harness.seen.calls] == ["acme"]


async def test_an_unknown_key_is_unauthenticated(start: Start, tmp_path: Path) -> None:
    path = write_keys(tmp_path / "keys.json", {"hash": hash_key("reader"), "space": "acme"})
    harness = await start(api_keys_file=path)
    metadata = (("authorization", "Bearer guess"),)
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await harness.search.ComprehensiveSearch(QUESTION, timeout=5, metadata=metadata)
    assert failure.value.code() is grpc.StatusCode.UNAUTHENTICATED


LOCAL = "127.0.0.1:0"
PROCESS = {"id": "local-gateway", "hash": hash_key("p"), "scopes": ["read", "delegate"]}
OWN = {"id": "ann", "hash": hash_key("a"), "space": "acme"}


def settings_of(**values: Any) -> RuntimeSettings:
    return RuntimeSettings(_env_file=None, **values)


async def is_open(settings: RuntimeSettings, listen: str = LOCAL, **metadata: str) -> bool:
    """Returns whether a caller without a credential is accepted."""
    authenticator = Authenticator.of(settings, listen=listen)
    try:
        identity = await authenticator.identify(metadata)
    except InvalidCredentialError:
        return False
    assert (identity.space, identity.user) == ("local", "local")
    return True


async def test_without_keys_and_tokens_callers_on_loopback_need_no_credential() -> None:
    assert await is_open(settings_of())
    assert not await is_open(settings_of(), "0.0.0.0:1")
    assert not await is_open(settings_of(allow_local=False))


async def test_once_keys_are_configured_everybody_needs_a_credential(tmp_path: Path) -> None:
    for records in ([], [OWN], [PROCESS], [PROCESS, OWN]):
        path = write_keys(tmp_path / "keys.json", *records)
        assert not await is_open(settings_of(api_keys_file=path))


async def test_a_setting_opens_loopback_again_and_says_so(tmp_path: Path) -> None:
    path = write_keys(tmp_path / "keys.json", OWN)
    with capture_logs() as logs:
        assert await is_open(settings_of(api_keys_file=path, allow_local=True))
    [line] = [line for line in logs if "need no credential" in line["event"]]
    assert (line["log_level"], line["setting"]) == ("warning", "BRAID_ALLOW_LOCAL")
    with capture_logs() as logs:
        assert not await is_open(settings_of(api_keys_file=path, allow_local=True), "0.0.0.0:1")


async def test_keys_of_the_local_stacks_processes_alone_leave_loopback_open(
    tmp_path: Path,
) -> None:
    path = write_keys(tmp_path / "keys.json", PROCESS)
    settings = settings_of(api_keys_file=path, process_key_prefix="local-")
    assert await is_open(settings)
    write_keys(path, PROCESS, OWN)
    assert not await is_open(settings)


async def test_a_key_that_is_added_while_a_process_runs_closes_loopback(tmp_path: Path) -> None:
    now = [0.0]
    path = write_keys(tmp_path / "keys.json", PROCESS)
    ring = KeyRing(path, clock=lambda: now[0])
    authenticator = Authenticator(ring, allow_local=True, process_keys="local-")
    await authenticator.identify({})
    write_keys(path, PROCESS, OWN)
    now[0] = 1.5
    with pytest.raises(InvalidCredentialError):
        await authenticator.identify({})


@pytest.mark.parametrize(
    "header",
    [
        *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
        *("x-real-ip", "x-envoy-external-address", "cf-connecting-ip", "true-client-ip"),
    ],
)
async def test_a_forwarded_call_is_never_local(tmp_path: Path, header: str) -> None:
    assert not await is_open(settings_of(), LOCAL, **{header: "127.0.0.1"})
    path = write_keys(tmp_path / "keys.json", OWN)
    reopened = settings_of(api_keys_file=path, allow_local=True)
    assert not await is_open(reopened, LOCAL, **{header: ""})
    named = {"authorization": "Bearer a", header: "127.0.0.1"}
    identity = await Authenticator.of(reopened, listen=LOCAL).identify(named)
    assert identity.space == "acme"


@pytest.mark.parametrize("named", ["read", "read delegate", "read,admin", ""])
async def test_a_call_may_narrow_its_own_scopes_and_never_widen_them(
    tmp_path: Path, named: str
) -> None:
    keys = ring(tmp_path, {"hash": hash_key("k"), "space": "acme", "scopes": ["read", "write"]})
    authenticator = Authenticator(keys, allow_local=True)
    identity = await authenticator.identify(bearer("k", braid_scopes=named))
    assert identity.scopes == frozenset(named.replace(",", " ").split()) & {"read", "write"}
    local = await authenticator.identify({"braid-scopes": "read"})
    assert local.scopes == frozenset({"read"})


async def test_an_unknown_scope_is_refused(tmp_path: Path) -> None:
    keys = ring(tmp_path, {"hash": hash_key("k"), "space": "acme"})
    with pytest.raises(InvalidFieldError, match=r"metadata\.braid-scopes"):
        await Authenticator(keys, allow_local=False).identify(bearer("k", braid_scopes="root"))
