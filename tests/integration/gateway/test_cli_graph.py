"""`braid graph`, `facts`, `findings` and `ontology` over the real graph tier."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.local.stores import LocalStores
from tests.integration.gateway.command import Ended, braid
from tests.integration.gateway.graph_tier import OURS, Company, served_company
from tests.integration.gateway.scripted import Script


@pytest.fixture
async def company(
    graph_stores: LocalStores, settings_of: object, script: Script, tmp_path: Path
) -> AsyncIterator[Company]:
    async with served_company(graph_stores, settings_of, script, tmp_path) as running:
        yield running


async def run(company: Company, *arguments: str | Path) -> Ended:
    """Runs the command with our key."""
    return await braid(company.served, *arguments, BRAID_API_KEY=OURS)


async def test_a_history_shows_the_last_change_and_every_fact(company: Company) -> None:
    ended = await run(company, "graph", "history", "payments")
    assert ended.code == 0
    assert "Last changed 2022-06-01. 4 facts, 2 current, first seen " in ended.out
    rows = [line for line in ended.out.splitlines() if " → " in line]
    assert [line.split("  ")[0] for line in rows] == [
        "2018-01-01 → 2020-01-01",
        "2019-03-01 → now",
        "2020-01-01 → 2022-06-01",
        "2022-06-01 → now",
    ]


async def test_a_history_reports_that_nothing_changed_and_summarizes_a_long_list(
    company: Company,
) -> None:
    never = await run(company, "graph", "history", "Ledger")
    assert (
        "Never changed: no fact ended or was replaced, the last one began 2019-03-01." in never.out
    )
    assert "2 facts, 2 current, first seen " in never.out
    long = await run(company, "graph", "history", "Payments", "--limit", "1")
    assert "More: --cursor " in long.out
    assert "By relation and period" in long.out
    cursor = long.out.partition("--cursor ")[2].split()[0]
    more = await run(company, "graph", "history", "Payments", "--limit", "1", "--cursor", cursor)
    assert "Payments depends on Ledger" in more.out


async def test_a_history_as_json_equals_the_rest_response(company: Company) -> None:
    ended = await run(company, "graph", "history", "Ledger", "--relation", "USES", "--json")
    expected = await company.get("/api/graph/history/Ledger", relation="USES")
    assert ended.json() == expected


async def test_homonyms_are_listed_to_choose_from_and_the_command_fails(company: Company) -> None:
    both = await run(company, "graph", "history", "Swift")
    assert both.code == 2
    assert "Several entities share the name: choose by --type" in both.out
    uuid = both.out.splitlines()[-1].split()[-1]
    assert (await run(company, "graph", "history", uuid)).code == 0
    assert (await run(company, "graph", "history", "Swift", "--type", "Bird")).code == 0
    path = await run(company, "graph", "paths", "Swift", "Wings")
    assert (path.code, "--source-type" in path.out) == (2, True)


async def test_a_snapshot_shows_the_state_and_what_changed_since(company: Company) -> None:
    ended = await run(company, "graph", "snapshot", "--as-of", "2019-06-01", "--entity", "Payments")
    state, _, since = ended.out.partition("Changed since then")
    assert "Anna Bell owns Payments" in state
    assert "- Anna Bell owns Payments" in since
    assert "+ Mira Okafor owns Payments" in since


async def test_a_diff_marks_each_fact_with_a_sign(company: Company) -> None:
    asked = ("--from", "2019-06-01", "--to", "2021-06-01", "--entity", "Payments")
    ended = await run(company, "graph", "diff", *asked)
    assert "- Anna Bell owns Payments" in ended.out
    assert "+ Karl Otto owns Payments" in ended.out
    same = await run(company, "graph", "diff", "--from", "2023-01-01", "--to", "2024-01-01")
    assert same.out == "Nothing changed.\n"


async def test_a_path_is_shown_as_a_chain_of_names_and_relations(company: Company) -> None:
    ended = await run(company, "graph", "paths", "Mira Okafor", "postgresql")
    assert "Mira Okafor —OWNS→ Payments —DEPENDS_ON→ Ledger —USES→ PostgreSQL" in ended.out
    back = await run(company, "graph", "paths", "Ledger", "Mira Okafor")
    assert "Ledger ←DEPENDS_ON— Payments ←OWNS— Mira Okafor" in back.out
    none = await run(company, "graph", "paths", "Karl Otto", "Ledger")
    assert (none.code, none.out) == (0, "No path was found.\n")


async def test_facts_are_listed_shown_and_ended(company: Company) -> None:
    listed = await run(company, "facts", "list", "--object", "Payments", "--relation", "OWNS")
    fact, uuid = (line.strip() for line in listed.out.splitlines())
    assert fact.startswith("Mira Okafor owns Payments")
    ended = await run(company, "facts", "end", uuid, "--at", "2023-01-01")
    assert "(2022-06-01 → 2023-01-01)" in ended.out
    assert ended.out.endswith("ended\n")
    shown = await run(company, "facts", "get", uuid)
    assert "2022-06-01 → now" in shown.out
    assert "2022-06-01 → 2023-01-01" in shown.out
    everything = await run(company, "facts", "list", "--as-of", "../..", "--json")
    assert len(everything.json()["facts"]) == 8
    wrong = await run(company, "facts", "end", uuid, "--at", "soon")
    assert (wrong.code, wrong.err.startswith("braid: invalid_at: ")) == (2, True)


async def test_findings_are_added_from_a_file_listed_and_searched(
    company: Company, tmp_path: Path
) -> None:
    given = [
        {"id": "q2/1", "finding": {"key_insight": "Jobs starve payments", "confidence": 0.9}},
        {"intent": {"goal": "Move the ledger", "priority": "high"}},
        {"finding": {"key_insight": "Alone"}, "about_findings": ["nothing"]},
    ]
    file = tmp_path / "findings.jsonl"
    file.write_text("\n".join(map(json.dumps, given)))
    added = await run(company, "findings", "add", file)
    assert (added.code, added.out) == (4, "added: 2\nupdated: 0\nunchanged: 0\n")
    assert added.err.startswith("braid: finding 3: ")
    file.write_text(json.dumps({"findings": given[:2]}))
    again = await run(company, "findings", "add", file, "--json")
    assert (again.code, again.json()["unchanged"]) == (0, 2)
    listed = await run(company, "findings", "list", "--kind", "intent")
    assert "intent   Move the ledger\n    priority high · " in listed.out
    found = await run(company, "findings", "search", "starve payments", "--min-confidence", "0.5")
    assert "finding  Jobs starve payments\n    confidence 0.9 · q2/1" in found.out


async def test_a_findings_file_with_invalid_json_is_named(company: Company, tmp_path: Path) -> None:
    file = tmp_path / "findings.jsonl"
    file.write_text('{"intent": {"goal": "x"}}\n{')
    ended = await run(company, "findings", "add", file)
    assert ended.code == 2
    assert f"{file}, line 2: is no JSON" in ended.err
    file.write_text("[1]")
    wrong = await run(company, "findings", "add", file)
    assert "findings[0]" in wrong.err


async def test_an_ontology_is_written_from_a_file_and_shown(
    company: Company, tmp_path: Path
) -> None:
    ontology = {
        "entity_types": [
            {"name": "Service", "attributes": [{"name": "language", "kind": "string"}]},
            {"name": "Person"},
        ],
        "relation_types": [
            {"name": "OWNS", "endpoints": [{"subject_type": "Person", "object_type": "Service"}]}
        ],
    }
    file = tmp_path / "ontology.json"
    file.write_text(json.dumps(ontology))
    put = await run(company, "ontology", "put", file)
    assert (put.code, put.out) == (0, "version: 1\n")
    shown = await run(company, "ontology", "get")
    assert "language (string)" in shown.out
    assert "Person → Service" in shown.out
    file.write_text((await run(company, "ontology", "get", "--json")).out)
    assert (await run(company, "ontology", "put", file)).out == "version: 1\n"


async def test_an_unknown_entity_is_reported_in_one_line_with_its_reason(company: Company) -> None:
    ended = await run(company, "graph", "history", "Nobody")
    (line,) = ended.err.splitlines()
    assert (ended.code, "NOT_FOUND" in line) == (3, True)
