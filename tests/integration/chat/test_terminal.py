"""`braid ask`, `braid chat` and `braid conversations`, run as programs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process

import pytest

from tests.integration.agent_orchestrator.agent.samples import script_ledger_owners
from tests.integration.agent_orchestrator.conftest import World
from tests.integration.gateway.conftest import Served
from tests.stubs.script import hang

QUESTION = "Who owns the Ledger Service?"


@pytest.fixture
def story(world: World) -> World:
    script_ledger_owners(world)
    return world


async def braid(gateway: Served, *words: str) -> Process:
    """Starts a `braid` command."""
    environment = os.environ | {"BRAID_URL": gateway.url, "BRAID_API_KEY": "alice-key"}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway.cli",
        *words,
        env=environment,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )


async def test_an_answer_is_printed_with_its_sources_and_tool_calls(
    gateway: Served, story: World
) -> None:
    command = await braid(gateway, "ask", QUESTION)
    out, err = await command.communicate()
    assert command.returncode == 0, err
    assert "Jonas Weber" in out.decode()
    assert "Sources" in out.decode()
    assert "→ search_knowledge_graph(" in err.decode()
    assert "found 1 in" in err.decode()


async def test_with_json_the_answer_is_printed_as_one_object(gateway: Served, story: World) -> None:
    command = await braid(gateway, "ask", QUESTION, "--json")
    out, _ = await command.communicate()
    assert json.loads(out)["citations"]


async def test_a_chat_continues_until_the_input_ends(gateway: Served, story: World) -> None:
    command = await braid(gateway, "chat")
    out, err = await command.communicate(f"{QUESTION}\n\nAnd who owned it before?\n".encode())
    assert command.returncode == 0, err
    assert "Mira Okafor" in out.decode()
    kept = (await gateway.http.get("/api/conversations")).json()["conversations"]
    assert [one["message_count"] for one in kept] == [4]


async def test_a_chat_with_json_prints_one_line_for_each_answer_or_failure(
    gateway: Served, story: World
) -> None:
    command = await braid(gateway, "chat", "--json")
    too_long = "x" * 20_000
    out, err = await command.communicate(f"{QUESTION}\n{too_long}\n".encode())
    assert command.returncode == 0, err
    answer, failure = (json.loads(line) for line in out.decode().splitlines())
    assert "Jonas Weber" in answer["answer"]
    assert failure["reason"] == "INVALID_FIELD"


async def test_conversations_are_listed_read_renamed_and_deleted(
    gateway: Served, story: World
) -> None:
    command = await braid(gateway, "chat")
    await command.communicate(f"{QUESTION}\n".encode())

    async def run(*words: str) -> tuple[int, str]:
        process = await braid(gateway, "conversations", *words)
        out, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode()

    (listed,) = json.loads((await run("list", "--json"))[1])["conversations"]
    code, read = await run("get", listed["id"])
    assert (code, QUESTION in read, "Jonas Weber" in read) == (0, True, True)
    assert (await run("rename", listed["id"], "Owners"))[0] == 0
    assert "Owners" in (await run("list"))[1]
    assert (await run("delete", listed["id"]))[0] == 0
    assert (await run("get", listed["id"]))[0] == 3


async def test_ctrl_c_stops_the_run(gateway: Served, story: World) -> None:
    reached = asyncio.Event()

    async def reach_and_hang(request: object) -> None:
        reached.set()
        await hang(request)

    story.graph.script.acts["SearchFacts"] = reach_and_hang
    command = await braid(gateway, "ask", QUESTION)
    await asyncio.wait_for(reached.wait(), 30)
    command.send_signal(signal.SIGINT)
    _, err = await command.communicate()
    assert command.returncode == 130, err
    await asyncio.wait_for(story.graph.script.cancelled.wait(), 5)


async def test_an_invalid_question_prints_a_one_line_error(gateway: Served, story: World) -> None:
    command = await braid(gateway, "ask", " ")
    out, err = await command.communicate()
    assert command.returncode == 2
    assert (out, err.decode().count("\n")) == (b"", 1)
    assert "INVALID_FIELD" in err.decode()
