"""Every command of the tutorial and of the page of tasks runs as it stands, and prints what the page shows of it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import LEARNER_KEY, System

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "tutorial.md"
HOW_TO = DOCS / "how-to.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def test_the_tutorial_runs_from_beginning_to_end(system: System, tmp_path: Path) -> None:
    assert system.braid("ingest", str(system.corpus), key=LEARNER_KEY).returncode == 0
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 10
    for code, shown in blocks:
        ended = system.shell(code, tmp_path, LEARNER_KEY)
        assert ended.returncode == 0, f"{code}{ended.stdout}{ended.stderr}"
        missing = [line for line in shown.splitlines() if line not in ended.stdout]
        assert not missing, f"{code}{missing} not in {ended.stdout}"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_examples_of_the_page_of_tasks_succeed(system: System, tmp_path: Path) -> None:
    blocks = BLOCK.findall(HOW_TO.read_text(encoding="utf-8"))
    assert len(blocks) == 4
    for code, _ in blocks:
        here = code.replace("http://127.0.0.1:8080", system.url)
        keyed = here.replace("curl -sf", f"curl -sf -H 'authorization: Bearer {LEARNER_KEY}'")
        ended = system.shell(keyed, tmp_path, LEARNER_KEY)
        assert ended.returncode == 0, f"{code}{ended.stdout}{ended.stderr}"
