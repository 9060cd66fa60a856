"""Every code block of the tutorial of the Python client runs unchanged and prints the documented output."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import braid_client
from tests.e2e.conftest import TUTORIAL_KEY, System

README = Path(__file__).parents[2] / "protos" / "clients" / "python" / "README.md"
BLOCK = re.compile(
    r"^```(sh|python|ts)\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


def blocks(readme: Path) -> list[tuple[str, str, str]]:
    """Language, code and expected output of each block of the tutorial, in order."""
    text = readme.read_text()
    tutorial = text[text.index("\n## Tutorial\n") + 1 :]
    return BLOCK.findall(tutorial.split("\n## ", 1)[0] + "\n")


@pytest.fixture
def connect(system: System) -> Callable[..., braid_client.Braid]:
    """Opens clients of the running system instead of the default addresses."""
    addresses = system.stack.addresses
    client = partial(
        braid_client.Braid,
        vector_target=addresses["vector_search"],
        graph_target=addresses["graph_query"],
        api_key=TUTORIAL_KEY,
    )
    return lambda _target, **options: client(addresses["agent_orchestrator"], **options)


def test_the_tutorial_runs_and_prints_its_documented_output(
    connect: Callable[..., braid_client.Braid],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(braid_client, "Braid", connect)
    names: dict[str, Any] = {}
    run = 0
    for language, code, expected in blocks(README):
        if language == "sh":
            subprocess.run(["bash", "-euc", code], check=True, timeout=60)
            continue
        exec(compile(code, str(README), "exec"), names)  # noqa: S102 - our own documentation
        assert capsys.readouterr().out == expected
        run += 1
    assert run == 4
