"""In a folder with hostile files each of them is reported with its reason, and all others become searchable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import HOSTILE_KEY, System
from tests.hostile import HARMLESS, fill


def ingest(system: System, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `braid ingest` into a separate space."""
    return subprocess.run(
        [sys.executable, "-m", "gateway.cli", "ingest", str(folder), "--json"],
        env={**os.environ, "BRAID_URL": system.url, "BRAID_API_KEY": HOSTILE_KEY},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.timeout(300)
def test_hostile_files_are_reported_with_reasons_and_the_others_are_ingested(
    system: System, tmp_path: Path
) -> None:
    expected = fill(tmp_path)
    ended = ingest(system, tmp_path)
    report = json.loads(ended.stdout)
    reasons = {Path(one["path"]).name: one["reason"] for one in report["failures"]}
    assert reasons.keys() == expected.keys()
    assert all(reasons[name].startswith(reason) for name, reason in expected.items()), reasons
    assert report["searchable"] == report["graph_ready"] == len(HARMLESS)
    # The workers survived: the next ingestion works as usual.
    again = json.loads(ingest(system, tmp_path).stdout)
    assert (again["unchanged"], again["chunks_written"]) == (len(HARMLESS), 0)
    with system.client(HOSTILE_KEY) as http:
        found = http.post("/api/search/text", json={"query": "that is read", "limit": 20}).json()
    pdf = f"{tmp_path.name}/good.pdf"
    expected_ids = {f"{tmp_path.name}/good.md", pdf, "t1"}
    assert {hit["document_id"] for hit in found["results"]} >= expected_ids
    [page] = [hit["page"] for hit in found["results"] if hit["document_id"] == pdf]
    assert page == 1
