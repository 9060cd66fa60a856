"""The figures that are computed from the responses to a labeled set."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from tests.benchmarks.figures import Figures
from tests.evals.labelled import LabelledQuestion
from tests.evals.ranked import LIMITS, Asked, put_facts, put_none, put_ranks


def question(
    category: str = "other", *, doc: str | None = None, fact: str | None = None
) -> LabelledQuestion:
    found = [re.compile(one, re.IGNORECASE) if one else None for one in (doc, fact)]
    return LabelledQuestion("What?", None, found[0], found[1], category)


def answer(
    documents: list[str], facts: list[str] | None = None, status: str = "OK"
) -> dict[str, Any]:
    return {
        "results": [{"id": one, "document_id": one, "title": f"About {one}"} for one in documents],
        "graph_results": [{"uuid": one, "fact": one} for one in facts or []],
        "legs": [{"name": "vector", "status": status}, {"name": "graph", "status": "NO_MATCH"}],
    }


def asked_question(label: LabelledQuestion, found: dict[str, Any]) -> Asked:
    """Returns a question with the same documents and facts at each limit, cut to it."""
    return Asked(
        label,
        {
            n: found | {name: found[name][:n] for name in ("results", "graph_results")}
            for n in LIMITS
        },
    )


def printed(put: Any, *arguments: Any) -> dict[str, str]:
    out = io.StringIO()
    put(Figures("relevance", out), *arguments)
    lines = [line.partition(": ") for line in out.getvalue().splitlines()]
    return {name.removeprefix("relevance."): value for name, _, value in lines}


def test_ranks_are_averaged_over_questions_with_an_expected_document_and_by_category() -> None:
    found = [
        asked_question(question("place", doc="^b$"), answer(["a", "b"])),
        asked_question(question("place", doc="about A"), answer(["a", "b"])),
        asked_question(question("large thing", doc="c"), answer(["x"])),
        asked_question(question("place", fact="owns"), answer(["x"])),
        asked_question(question("unknown"), answer(["a"])),
    ]
    assert printed(put_ranks, "hybrid", found) == {
        "hybrid.mrr": "0.5 ratio",
        "hybrid.mrr.large_thing": "0 ratio",
        "hybrid.mrr.place": "0.75 ratio",
    }


def test_a_response_whose_legs_have_no_match_counts_as_none() -> None:
    found = [
        asked_question(question("unknown"), answer([], status="NO_MATCH")),
        asked_question(question("unknown"), answer(["a"])),
        asked_question(question(doc="a"), answer(["a"])),
        asked_question(question(fact="a"), answer([], status="NO_MATCH")),
        asked_question(question("near_miss"), answer([], status="NO_MATCH")),
    ]
    assert printed(put_none, "", found) == {
        "none_answered_pct": "50 percent",
        "answered_said_none_pct": "50 percent",
        "near_miss_said_none_pct": "100 percent",
        "limit_stable_pct": "100 percent",
    }


def test_an_empty_list_with_a_leg_that_found_something_does_not_count_as_none() -> None:
    assert not asked_question(question("unknown"), answer([], status="OK")).is_none


def test_figures_without_questions_are_not_printed() -> None:
    found = [asked_question(question("unknown"), answer(["a"]))]
    assert printed(put_ranks, "hybrid", found) == {}
    assert printed(put_none, "hybrid.", found).keys() == {
        "hybrid.none_answered_pct",
        "hybrid.limit_stable_pct",
    }


def test_results_that_change_with_the_limit_are_not_stable() -> None:
    steady, other = answer(["a", "b"]), answer(["b", "a"])
    found = Asked(question(doc="a"), {n: other if n == 1 else steady for n in LIMITS})
    assert printed(put_none, "", [found])["limit_stable_pct"] == "0 percent"


@pytest.mark.parametrize(("facts", "rank"), [(["Ann owns it."], 1), (["x", "Ann owns it."], 0.5)])
def test_the_rank_of_the_expected_fact_is_computed_among_the_facts(
    facts: list[str], rank: float
) -> None:
    found = asked_question(question(doc="a", fact="ann owns"), answer(["a"], facts))
    shown = printed(put_facts, [found])
    assert shown["fact.mrr"] == f"{rank} ratio"
    assert shown["fact.first_pct"] == ("100 percent" if rank == 1 else "0 percent")
    assert shown["fact.limit_stable_pct"] == "100 percent"
