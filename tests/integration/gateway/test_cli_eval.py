"""`braid eval` against a gateway over scripted services."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from braid.agent.v1 import agent_pb2
from braid.common.v1 import legs_pb2
from braid.vector.v1 import chunks_pb2
from braid.vector.v1 import search_pb2 as vector_pb2
from services.runtime import errors
from tests.integration.gateway.command import braid
from tests.integration.gateway.conftest import Served

CHUNK = chunks_pb2.Chunk(id="c", document_id="a.md", document_title="Owners", content="Ada.")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {"question": "Who owns it?", "expected": "Ada", "documents": "a.md"},
        {"question": "Who sold it?", "documents": "b.md"},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


@pytest.fixture
def hybrid(served: Served) -> Served:
    hits = [chunks_pb2.ChunkHit(chunk=CHUNK, score=0.9)]
    served.script.answer(
        "HybridSearch",
        vector_pb2.HybridSearchResponse(
            hits=hits, leg=legs_pb2.LegReport(status=legs_pb2.LEG_STATUS_OK)
        ),
    )
    return served


async def test_figures_are_printed_one_per_line(hybrid: Served, questions: Path) -> None:
    ended = await braid(hybrid, "eval", questions, "--modes", "hybrid", "--no-answers")
    assert (ended.code, ended.err) == (0, "")
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["hybrid.recall@5", "50"] in lines
    assert ["hybrid.mrr", "0.5"] in lines


async def test_two_settings_are_asked_in_turn(hybrid: Served, questions: Path) -> None:
    arguments = ("--modes", "hybrid", "--no-answers", "--against", "limit=3", "--json")
    ended = await braid(hybrid, "eval", questions, *arguments)
    asked: list[Any] = [call.message for call in hybrid.script.seen]
    assert [(one.query, one.limit) for one in asked] == [
        ("Who owns it?", 10),
        ("Who owns it?", 3),
        ("Who sold it?", 10),
        ("Who sold it?", 3),
    ]
    report = ended.json()
    assert [one["setting"] for one in report["settings"]] == ["defaults", "limit=3"]
    assert report["misses"] == []


async def test_a_missed_goal_fails_the_command(hybrid: Served, questions: Path) -> None:
    arguments = ("--modes", "hybrid", "--no-answers", "--goal")
    ended = await braid(hybrid, "eval", questions, *arguments, "hybrid.mrr=0.9")
    assert ended.code == 1
    assert ended.err == "braid: hybrid.mrr is 0.5, the goal is 0.9\n"
    reached = await braid(hybrid, "eval", questions, *arguments, "hybrid.mrr=0.5")
    assert reached.code == 0
    unknown = await braid(hybrid, "eval", questions, *arguments, "hybrid.speed=1")
    assert unknown.code == 2


async def test_an_unavailable_search_is_not_measured(served: Served, questions: Path) -> None:
    served.script.fail("HybridSearch", errors.StoreUnavailableError("postgresql"))
    ended = await braid(served, "eval", questions, "--modes", "hybrid", "--no-answers")
    assert ended.code == 5
    assert "recall" not in ended.out


async def test_answers_are_measured_with_their_citations(served: Served, questions: Path) -> None:
    started = agent_pb2.RunEvent(id=1, started=agent_pb2.RunStarted(run_id="r"))
    done = agent_pb2.RunEvent(
        id=2, done=agent_pb2.RunDone(answer="Ada.", end=agent_pb2.RUN_END_COMPLETE)
    )
    served.script.answer("Ask", *(agent_pb2.AskResponse(event=event) for event in (started, done)))
    served.script.answer("TextSearch", vector_pb2.TextSearchResponse())
    ended = await braid(served, "eval", questions, "--modes", "text", "--json")
    [setting] = ended.json()["settings"]
    assert setting["figures"]["answers.right_pct"] == 100
    assert setting["figures"]["answers.refused_pct"] == 100
    assert setting["wrong"] == []
