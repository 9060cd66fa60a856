"""An archive is recorded even when the graph tier does not start."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local.archive import TIER, record
from deploy.local.jars import default_cache, neo4j_jars
from deploy.local.java import Java
from tests.notes import Notes

# Java takes half a minute to write an archive, which no test waits for.
TOUCH = "import os, sys; open(sys.argv[1], 'w').close(); os.execv(sys.argv[2], sys.argv[2:])"


class QuickJava(Java):
    """Runs a server as usual, whose archive is an empty file."""

    def recording(self, output: Path, *arguments: str) -> list[str]:
        usual = Java.over(self.jars).server(*arguments)
        return [sys.executable, "-c", TOUCH, str(output), *usual]

    def admin(self, *arguments: str) -> list[str]:
        return Java.over(self.jars).admin(*arguments)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def java(tmp_path: Path) -> QuickJava:
    """Keeps its archive in an empty folder."""
    return QuickJava(neo4j_jars(default_cache(os.environ)), tmp_path / "neo4j.aot")


@pytest.mark.timeout(120)
async def test_without_a_tier_an_archive_is_recorded_all_the_same_and_told_to_be_less(
    java: QuickJava, tmp_path: Path
) -> None:
    notes = Notes()
    broken = replace(TIER, program=(sys.executable, "-c", "raise SystemExit(3)"))
    await record(java, notes, broken)
    [told] = notes.told
    assert told.startswith("Neo4j starts fast, but its first work will be slower: graph_query did")
    assert names(tmp_path) == [java.archive.name]
