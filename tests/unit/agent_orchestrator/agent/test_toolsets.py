"""The tools of each profile, and the warning about a missing tool."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.agent.toolsets import EXPECTED, missing_tools


def test_the_search_profile_has_its_four_tools() -> None:
    assert set(EXPECTED["search"]) == {
        "vector_search",
        "graph_search",
        "hybrid_search",
        "comprehensive_search",
    }


def test_each_profile_has_fact_search_under_exactly_one_of_its_two_names() -> None:
    for names in EXPECTED.values():
        assert len({"search_knowledge_graph", "graph_search"} & set(names)) == 1


def test_a_missing_tool_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    present = [name for name in EXPECTED["search"] if name != "graph_search"]
    assert missing_tools("search", present) == ("graph_search",)
    logged = capsys.readouterr().out
    assert "expected tool missing" in logged
    assert "graph_search" in logged
    assert missing_tools("search", EXPECTED["search"]) == ()
