"""The isolation benchmark reaches every endpoint and tool: none of its requests is refused as malformed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf.message_factory import GetMessageClass
from pydantic import SecretStr

from gateway.settings import GatewaySettings
from services.runtime.security.key_file import KeyEditor
from tests.benchmarks.isolation.interfaces import mcp_client, mcp_operations, rest_operations
from tests.benchmarks.isolation.messages import all_methods
from tests.benchmarks.isolation.people import Person
from tests.benchmarks.isolation.values import Given
from tests.integration.gateway.conftest import serve_gateway
from tests.integration.gateway.scripted import LOOPBACK, Script, start_scripted

GIVEN = Given("3b0d4d0e-1111-4000-8000-000000000002", "zq0123456789ab Service")
TARGETS = ("agent_target", "vector_target", "graph_target")


def answering() -> Script:
    """Returns a script by which every RPC answers with an empty message, and an upload with a job."""
    script = Script()
    for method in all_methods():
        answer: Any = GetMessageClass(method.output_type)()
        if method.name == "IngestDocument":
            answer.job.id = GIVEN.id
        script.answer(method.name, answer)
    return script


async def test_every_endpoint_and_tool_accepts_the_benchmarks_requests(tmp_path: Path) -> None:
    path, script = tmp_path / "keys.json", answering()
    editor, scopes = KeyEditor(path), ["read", "write", "admin"]
    _, own = editor.create(
        key_id="own", space=None, user=None, scopes=[*scopes, "delegate"], expires_at=None
    )
    _, key = editor.create(key_id="ann", space="one", user="ann", scopes=scopes, expires_at=None)
    services = tuple(dict.fromkeys(m.containing_service.full_name for m in all_methods()))
    server = await start_scripted(services, script, api_keys_file=path)
    targets: dict[str, Any] = dict.fromkeys(TARGETS, f"{LOOPBACK}:{server.port}")
    settings = GatewaySettings(
        _env_file=None,
        gateway_listen=f"{LOOPBACK}:0",
        api_keys_file=path,
        service_key=SecretStr(own),
        **targets,
    )
    person = Person("one", "ann", key)
    refused = {}
    async with (
        serve_gateway(settings, script) as served,
        mcp_client(served.url, person) as client,
    ):
        document = (await served.http.get("/openapi.json")).json()
        operations = [
            *rest_operations(document, served.http),
            *await mcp_operations({person.name: client}),
        ]
        for operation in operations:
            outcome = await operation.call(person, GIVEN)
            if not outcome.accepted:
                refused[operation.name] = outcome.body
    await server.stop()
    assert refused == {}
    assert len(operations) > 100
