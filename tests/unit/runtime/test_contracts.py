"""What holds for every contract, read from the generated descriptors."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor import MethodDescriptor

from braid_client.channel import CONTRACTS, methods, service_config
from services.runtime.interceptors.authentication import required_scope


@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_every_method_declares_a_scope(method: MethodDescriptor) -> None:
    path = f"/{method.containing_service.full_name}/{method.name}"
    assert required_scope(path) in {"read", "write", "admin"}


@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_no_request_names_a_space_or_a_user(method: MethodDescriptor) -> None:
    names = {field.name for field in method.input_type.fields}
    assert not names & {"space", "user", "group_id", "tenant", "user_id"}


def test_exactly_the_unary_reads_without_side_effects_are_retried() -> None:
    config = service_config(retry=True)
    for method in methods():
        named = f'{{"service": "{method.containing_service.full_name}", "method": "{method.name}"}}'
        options = method.GetOptions()
        read = options.idempotency_level == options.NO_SIDE_EFFECTS
        unary = not method.client_streaming and not method.server_streaming
        assert (named in config) == (read and unary), method.full_name


def test_no_contract_with_a_service_is_left_out() -> None:
    protos = Path(__file__).parents[3] / "protos"
    with_service = {
        path.relative_to(protos).as_posix()
        for path in (protos / "braid").rglob("*.proto")
        if "\nservice " in path.read_text()
    }
    assert {file.name for file in CONTRACTS} == with_service
