"""A file of facts is corrected and ingested again, with the command and over HTTP, and questions follow it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import ROLES_KEY, System

VIKTOR = {
    "subject": "Viktor Brandt",
    "subject_type": "Person",
    "relation": "HEADS",
    "object": "Logistics",
    "object_type": "Team",
    "valid_at": "2021-01-01",
    "invalid_at": "2024-05-02",
}
WRONG = VIKTOR | {"subject": "Wanda Ruiz", "valid_at": "2024-05-09", "invalid_at": None}
RIGHT = WRONG | {"valid_at": "2024-05-02"}
FIFTH = "2024-05-05"


def write_facts(file: Path, *facts: dict[str, Any]) -> None:
    """Writes facts as JSON lines."""
    file.write_text("".join(json.dumps(fact) + "\n" for fact in facts))


def heads(client: httpx2.Client, **at: str) -> list[tuple[str, str]]:
    """Returns who heads the team at a time, and since when."""
    facts = client.get("/api/facts", params={"object": "Logistics", **at}).json()["facts"]
    return [(one["source_entity"]["name"], one["valid_at"][:10]) for one in facts]


def ask(client: httpx2.Client, question: str) -> str:
    """Returns the agent's answer."""
    answer = client.post("/api/chat", json={"question": question})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["answer"])


def now() -> str:
    """Returns the time, as a query takes it."""
    return datetime.now(UTC).isoformat()


@pytest.mark.parametrize("door", ["command", "facts", "documents"])
def test_a_corrected_file_states_what_it_holds_now_and_the_past_stays_known(
    system: System, tmp_path: Path, door: str
) -> None:
    def ingest(*facts: dict[str, Any], replace: bool = False) -> dict[str, Any]:
        write_facts(file, *facts)
        if door == "command":
            done = system.braid(
                "ingest", str(file), "--json", *(["--replace"] if replace else []), key=ROLES_KEY
            )
            assert done.returncode == 0, done.stderr
            report = json.loads(done.stdout)
            return {
                name: report[f"facts_{name}"]
                for name in ("added", "unchanged", "missing", "withdrawn")
            }
        asked: dict[str, str] = {"replace": "true"} if replace else {}
        if door == "facts":
            lines = {"content-type": "application/jsonl"}
            answer = client.post(
                "/api/facts",
                params={"source": file.name, **asked},
                content=file.read_bytes(),
                headers=lines,
            ).json()
        else:
            uploaded = {"files": (file.name, file.read_bytes(), "application/jsonl")}
            answer = client.post("/api/documents", params=asked, files=uploaded).json()["facts"]
        return {
            "added": answer["added"],
            "unchanged": answer["unchanged"],
            "missing": answer["missing_total"],
            "withdrawn": answer["withdrawn"],
        }

    file = tmp_path / "roles.jsonl"
    with system.client(ROLES_KEY) as client:
        facts = client.get("/api/facts", params={"as_of": "../.."}).json()["facts"]
        uuids = [one["uuid"] for one in facts]
        if uuids:
            client.post("/api/facts/withdraw", json={"uuids": uuids}).raise_for_status()

        assert ingest(VIKTOR, WRONG) | {"missing": 0} == {
            "added": 2,
            "unchanged": 0,
            "missing": 0,
            "withdrawn": 0,
        }
        assert heads(client, as_of=FIFTH) == []
        then = now()

        kept = ingest(VIKTOR, RIGHT)
        assert kept == {"added": 1, "unchanged": 1, "missing": 1, "withdrawn": 0}
        assert len(heads(client)) == 2

        gone = ingest(VIKTOR, RIGHT, replace=True)
        assert gone == {"added": 0, "unchanged": 2, "missing": 1, "withdrawn": 1}
        assert heads(client) == [("Wanda Ruiz", "2024-05-02")]
        assert heads(client, as_of=FIFTH) == [("Wanda Ruiz", "2024-05-02")]
        assert heads(client, known_at=then) == [("Wanda Ruiz", "2024-05-09")]
        assert heads(client, as_of=FIFTH, known_at=then) == []

        since = ask(client, "Since when has Wanda Ruiz headed Logistics?")
        assert "2024-05-02" in since or "2 May 2024" in since
        assert "2024-05-09" not in since
        assert "9 May" not in since
        fifth = ask(client, "Who headed Logistics on 5 May 2024?")
        assert "Wanda" in fifth
        assert "Viktor" not in fifth


def test_a_wrong_fact_is_corrected_and_withdrawn_with_the_command(
    system: System, tmp_path: Path
) -> None:
    def braid(*words: str, code: int = 0) -> str:
        done = system.braid(*words, key=ROLES_KEY)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    file = tmp_path / "mistaken.jsonl"
    write_facts(file, VIKTOR | {"subject": "Olga Lind", "object": "Freight", "invalid_at": None})
    braid("ingest", str(file))
    [fact] = json.loads(braid("facts", "list", "--object", "Freight", "--json"))["facts"]
    uuid = fact["uuid"]
    shown = braid("facts", "correct", uuid, "--valid-at", "2022-02-02", "--reason", "misread")
    assert "corrected" in shown
    assert "2022-02-02" in shown
    reversed_ = system.braid("facts", "correct", uuid, "--invalid-at", "2020-01-01", key=ROLES_KEY)
    assert reversed_.returncode == 2
    assert "invalid_at" in reversed_.stderr
    moved = json.loads(braid("facts", "correct", uuid, "--subject", "Olga Lindt", "--json"))
    assert moved["replaced_uuid"] == uuid
    former = braid("facts", "get", uuid)
    assert moved["fact"]["uuid"] in former
    ended = moved["fact"]["uuid"]
    braid("facts", "end", ended, "--at", "2023-01-01")
    hint = braid("facts", "list", "--object", "Freight")
    assert "1 fact has ended" in hint
    assert "--as-of ../.." in hint
    assert "withdrawn" in braid("facts", "withdraw", ended, "--reason", "never true")
    assert "already withdrawn" in braid("facts", "withdraw", ended)
    braid("facts", "withdraw", "00000000-0000-4000-8000-000000000001", code=3)
    history = braid("graph", "history", "Freight", "--withdrawn")
    assert "never true" in history
