"""`braid space export`, `verify` and `import`: a space is what it was, and a damaged archive changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.e2e.conftest import MOVED_KEY, System

FACTS = (
    '{"subject": "Tomas", "relation": "OWNS", "object": "Payments", "fact": "Tomas owned Payments.",'
    ' "valid_at": "2024-03-11", "invalid_at": "2025-02-03"}\n'
    '{"subject": "Priya", "relation": "OWNS", "object": "Payments", "fact": "Priya owns Payments.",'
    ' "valid_at": "2025-02-03"}\n'
)


def run(system: System, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Runs a command in the space; returns its answer."""
    ended = system.braid(*arguments, "--json", key=MOVED_KEY)
    assert ended.returncode == code, ended.stderr + ended.stdout
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def answers(system: System) -> list[Any]:
    """What the space answers: documents and facts now and as of earlier times, messages and memories."""
    with system.client(MOVED_KEY) as http:
        found = [
            http.post("/api/search/text", json={"query": "heron", "as_of": as_of}).json()["results"]
            for as_of in (None, "2024-06-01T00:00:00Z")
        ]
        found += [
            http.get(path, params=parameters).json()
            for path, parameters in (
                ("/api/graph/history/Payments", {}),
                ("/api/messages", {"query": "falcon"}),
                ("/api/memories", {}),
                ("/api/memory/profile", {}),
                ("/api/documents", {}),
                ("/api/ontology", {}),
            )
        ]
    return found


def test_a_space_that_was_exported_deleted_and_imported_answers_as_before(
    system: System, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "birds.md").write_text("---\ndate: 2024-01-01\n---\nThe heron nests on the roof.")
    (notes / "facts.jsonl").write_text(FACTS)
    run(system, "ingest", str(notes))
    (notes / "birds.md").write_text("---\ndate: 2025-01-01\n---\nThe heron has left the roof.")
    run(system, "ingest", str(notes))
    with system.client(MOVED_KEY) as http:
        conversation = http.post("/api/conversations", json={}).json()["id"]
        asked = {"question": "I work on the falcon project.", "conversation_id": conversation}
        said = http.post("/api/chat", json=asked)
        assert said.is_success, said.text
        memory = {"content": "Herons come back in March.", "type": "note"}
        assert http.post("/memories", json=memory).is_success
    before = answers(system)
    assert all(before[:6]), before

    archive = tmp_path / "archive"
    written = run(system, "space", "export", str(archive))
    assert written["space"] == "moved"
    assert run(system, "space", "verify", str(archive))["identical"] is True
    refused = system.braid("space", "import", str(archive), key=MOVED_KEY)
    assert (refused.returncode, "is not empty" in refused.stderr) == (1, True)

    run(system, "space", "delete", "moved")
    damaged = next(archive.glob("*-chunks.jsonl.zst"))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-1])
    refused = system.braid("space", "import", str(archive), key=MOVED_KEY)
    assert (refused.returncode, damaged.name in refused.stderr) == (1, True)
    damaged.write_bytes(whole)
    other = system.braid("space", "import", str(archive))
    assert (other.returncode, "MISSING_SCOPE" in other.stderr) == (6, True)

    assert run(system, "space", "import", str(archive))["rows"] == written["rows"]
    assert run(system, "space", "verify", str(archive))["identical"] is True
    assert answers(system) == before
    (notes / "more.md").write_text("An egret joined the heron.")
    run(system, "ingest", str(notes))
    assert run(system, "space", "verify", str(archive), code=1)["identical"] is False
