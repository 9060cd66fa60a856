"""`braid sync` keeps what is stored of a folder in step with its files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.e2e.conftest import HOSTILE_KEY, System


def synced(system: System, place: Path | str, *options: str, code: int = 0) -> dict[str, Any]:
    """Runs the command into a separate space; returns its report."""
    ended = system.braid("sync", str(place), *options, "--json", key=HOSTILE_KEY)
    assert ended.returncode == code, ended.stderr
    report: dict[str, Any] = json.loads(ended.stdout)
    return report


def quoted(system: System, query: str, as_of: str | None = None) -> set[str]:
    """Returns the ids of the documents that a text search finds."""
    asked = {"query": query, "limit": 20, "as_of": as_of}
    with system.client(HOSTILE_KEY) as http:
        found = http.post("/api/search/text", json=asked).json()
    return {hit["document_id"] for hit in found["results"]}


def test_new_changed_and_deleted_files_are_in_step_and_equal_paths_of_two_folders_never_meet(
    system: System, tmp_path: Path
) -> None:
    handbook, wiki = tmp_path / "handbook", tmp_path / "wiki"
    for folder, animal in ((handbook, "pangolin"), (wiki, "capybara")):
        folder.mkdir()
        for number in range(5):
            (folder / f"{number}.md").write_text(f"The {animal} of room {number} sleeps.")
    first = synced(system, handbook)
    assert (len(first["new"]), first["ingested"]["searchable"]) == (5, 5)
    synced(system, wiki)
    assert quoted(system, "pangolin") == {f"handbook/{number}.md" for number in range(5)}

    (handbook / "0.md").write_text("The pangolin of room 0 has become an okapi.")
    (handbook / "4.md").unlink()
    seen = synced(system, handbook, "--dry-run")
    assert (seen["new"], seen["vanished"]) == ([], ["handbook/4.md"])
    before = datetime.now(UTC).isoformat()
    ended = synced(system, handbook)
    assert (ended["unchanged"], ended["changed"]) == (3, ["handbook/0.md"])
    assert (ended["ingested"]["documents"], ended["removed"]) == (1, [])
    assert quoted(system, "okapi") == {"handbook/0.md"}
    assert quoted(system, "pangolin") == {f"handbook/{number}.md" for number in range(4)}
    assert "handbook/4.md" in quoted(system, "pangolin", before)
    again = synced(system, handbook)
    assert (again["unchanged"], again["vanished"], again["ingested"]["documents"]) == (4, [], 0)

    (handbook / "4.md").write_text("The pangolin of room 4 sleeps.")
    assert synced(system, handbook)["new"] == ["handbook/4.md"]
    assert "handbook/4.md" in quoted(system, "pangolin")
    (handbook / "4.md").unlink()
    erased = synced(system, handbook, "--erase")
    assert {"store": "postgresql", "kind": "versions", "count": 2} in erased["removed"]
    assert "handbook/4.md" not in quoted(system, "pangolin", before)
    assert len(quoted(system, "capybara")) == 5


def test_the_counts_are_shown_and_then_what_became_of_documents_whose_files_are_gone(
    system: System, tmp_path: Path
) -> None:
    for number in range(6):
        (tmp_path / f"{number}.md").write_text(f"The gate of dock {number} opens at noon.")
    first = system.braid("sync", str(tmp_path), "--name", "docks", key=HOSTILE_KEY)
    assert (first.returncode, first.stderr.count("Traceback")) == (0, 0), first.stderr
    assert "documents: 6\n" in first.stdout
    (tmp_path / "5.md").unlink()
    (tmp_path / "4.md").write_bytes(b"")
    ended = system.braid("sync", str(tmp_path), "--name", "docks", "--erase", key=HOSTILE_KEY)
    assert ended.returncode == 4
    assert "1 document whose file is gone: deleted\n    docks/5.md\n" in ended.stdout
    assert f"{tmp_path / '4.md'}: " in ended.stderr


def test_another_folder_of_the_same_name_changes_nothing(system: System, tmp_path: Path) -> None:
    for place in ("here", "there"):
        (tmp_path / place / "minutes").mkdir(parents=True)
        for number in range(3):
            (tmp_path / place / "minutes" / f"{place}-{number}.md").write_text(f"Minutes {place}.")
    synced(system, tmp_path / "here" / "minutes")
    ended = system.braid("sync", str(tmp_path / "there" / "minutes"), "--erase", key=HOSTILE_KEY)
    assert ended.returncode == 1
    assert f"minutes is another source, {tmp_path / 'here' / 'minutes'}" in ended.stderr
    assert "--name" in ended.stderr
    assert quoted(system, "minutes") == {f"minutes/here-{number}.md" for number in range(3)}


def test_a_watched_folder_stays_in_step_until_the_command_is_stopped(
    system: System, tmp_path: Path
) -> None:
    for number in range(6):
        (tmp_path / f"{number}.md").write_text(f"The crane of quay {number} is green.")
    (tmp_path / ".gitignore").write_text("secret.md\n")
    (tmp_path / "secret.md").write_text("The crane of quay 9 is secret.")
    command = ("sync", str(tmp_path), "--name", "quays", "--watch", "--json")
    with system.braid_running(*command, key=HOSTILE_KEY) as process:
        assert process.stdout is not None
        assert len(json.loads(process.stdout.readline())["new"]) == 6
        (tmp_path / "6.md").write_text("The crane of quay 6 is amber.")
        (tmp_path / "0.md").unlink()
        seen = [json.loads(process.stdout.readline())]
        while not seen[-1]["vanished"]:
            seen.append(json.loads(process.stdout.readline()))
    assert quoted(system, "crane of quay") == {f"quays/{number}.md" for number in range(1, 7)}
    assert process.wait(timeout=30) == 130
