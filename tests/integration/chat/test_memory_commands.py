"""`braid memory list`, `search` and `delete`, run as programs against the gateway and the real entity memory."""

from __future__ import annotations

import json
from typing import Any

from gateway.cli.exit_codes import ExitCode
from tests.integration.chat.test_terminal import braid
from tests.integration.gateway.conftest import Served


async def run_memory_command(gateway: Served, *words: str, code: int = 0) -> tuple[str, str]:
    """Runs a command, checks its exit code and returns its output."""
    command = await braid(gateway, "memory", *words)
    out, err = await command.communicate()
    assert command.returncode == code, err
    return out.decode(), err.decode()


async def remember(gateway: Served, *facts: tuple[str, str, str, str]) -> None:
    """Saves relationships of the user, given as (type, target, target type, stating sentence)."""
    for type_, target, kind, context in facts:
        body: dict[str, Any] = {
            "type": type_,
            "target": {"name": target, "type": kind},
            "context": context,
        }
        answer = await gateway.http.post("/api/memory/relationships", json=body)
        assert answer.is_success, answer.text


async def test_saved_relationships_are_listed_queried_and_forgotten(gateway: Served) -> None:
    assert (await run_memory_command(gateway, "list"))[0] == "Nothing is remembered.\n"
    await remember(
        gateway,
        ("USES", "Grafana", "tool", "I use Grafana for monitoring."),
        ("WORKS_WITH", "Sarah", "person", "I work with Sarah."),
    )
    listed, _ = await run_memory_command(gateway, "list")
    assert "tool" in listed
    assert "Grafana" in listed
    assert "Sarah" in listed
    people, _ = await run_memory_command(gateway, "list", "--type", "person")
    assert "Sarah" in people
    assert "Grafana" not in people
    found, _ = await run_memory_command(gateway, "query", "What do I use for monitoring?")
    assert "User USES Grafana" in found
    assert "I use Grafana for monitoring." in found
    assert "Sarah" not in found
    forgotten, _ = await run_memory_command(gateway, "forget", "grafana")
    assert "relationships" in forgotten
    assert "Grafana" not in (await run_memory_command(gateway, "list"))[0]


async def test_every_command_can_print_json(gateway: Served) -> None:
    await remember(gateway, ("USES", "Grafana", "tool", "I use Grafana."))
    listed, _ = await run_memory_command(gateway, "list", "grafanna", "--json")
    assert [(one["name"], one["match"]) for one in json.loads(listed)["entities"]] == [
        ("Grafana", "fuzzy")
    ]
    found, _ = await run_memory_command(
        gateway, "search", "What do I use?", "--relationship", "USES", "--json"
    )
    assert [one["answer"] for one in json.loads(found)["answers"]] == ["Grafana"]
    erased, _ = await run_memory_command(gateway, "delete", "--all", "--json")
    assert (json.loads(erased)["entities"], json.loads(erased)["relationships"]) == (1, 1)


async def test_delete_requires_an_exact_name_or_all(gateway: Served) -> None:
    await remember(gateway, ("USES", "Grafana", "tool", "I use Grafana."))
    _, unknown = await run_memory_command(gateway, "delete", "Grafanna", code=ExitCode.NOT_FOUND)
    assert "nothing has this name" in unknown
    _, unclear = await run_memory_command(gateway, "delete", code=ExitCode.USAGE)
    assert "name an entity, or give --all" in unclear
    assert "Grafana" in (await run_memory_command(gateway, "list"))[0]
