"""What a call to another service carries along."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.runtime.channels import Outgoing, ServiceKeyError
from services.runtime.context import CallContext, call_scope
from services.runtime.settings import RuntimeSettings

CALL = CallContext(
    request_id="r1", method="/m", space="acme", user="ann", scopes=frozenset({"read"})
)


def settings(**given: object) -> RuntimeSettings:
    return RuntimeSettings.model_validate(given)


def test_space_and_user_go_with_the_key_that_may_name_them() -> None:
    with call_scope(CALL):
        carried = dict(Outgoing.of(settings(service_key="k")).metadata())
    assert carried["authorization"] == "Bearer k"
    assert (carried["braid-space"], carried["braid-user"]) == ("acme", "ann")
    assert carried["x-request-id"] == "r1"


def test_without_a_key_nothing_is_delegated() -> None:
    with call_scope(CALL):
        carried = dict(Outgoing.of(settings()).metadata())
    assert not {"authorization", "braid-space", "braid-user"} & set(carried)


def test_a_process_that_authenticates_callers_needs_a_key_of_its_own(tmp_path: Path) -> None:
    """Else the other side would serve every caller as space `local`."""
    with pytest.raises(ServiceKeyError, match="BRAID_SERVICE_KEY"):
        Outgoing.of(settings(api_keys_file=tmp_path / "keys.json"))
