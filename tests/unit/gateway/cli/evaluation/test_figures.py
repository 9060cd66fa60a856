"""The figures of `braid eval`, from the responses of REST."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.cli.evaluation.figures import Measured, figures_of, is_worse
from gateway.cli.evaluation.questions import EvalQuestion

WHO = EvalQuestion("Who?", ("Ada Lee",), ("a.md", "b.md"))
NOTHING = EvalQuestion("What?", none=True)


def chunk(document_id: str) -> dict[str, Any]:
    return {"document_id": document_id, "title": f"Title of {document_id}"}


def fact(*document_ids: str) -> dict[str, Any]:
    return {"sources": [{"document_id": one, "document_title": one} for one in document_ids]}


def answer(text: str, *quotes: tuple[str, str]) -> dict[str, Any]:
    cited = [{"document_id": one, "title": one, "quote": quote} for one, quote in quotes]
    return {"answer": text, "citations": cited}


def searched(*responses: list[dict[str, Any]]) -> Measured:
    times = {"hybrid": [1.0] * len(responses)}
    return Measured({"hybrid": [{"results": one} for one in responses]}, [], times)


def test_recall_counts_each_wanted_document_once_among_the_first() -> None:
    found = searched([chunk("x.md"), chunk("a.md"), chunk("a.md"), chunk("b.md")], [])
    figures = figures_of([WHO, NOTHING], found, 2)
    assert figures["hybrid.recall@2"] == 50
    assert figures["hybrid.mrr"] == 0.5
    assert figures["hybrid.said_none_pct"] == 100


def test_a_fact_stands_for_the_documents_that_it_cites() -> None:
    figures = figures_of([WHO], searched([fact("x.md", "b.md"), fact()]), 5)
    assert figures["hybrid.recall@5"] == 50
    assert figures["hybrid.mrr"] == 0.5


def test_an_answer_is_right_if_an_expected_statement_stands_in_it() -> None:
    found = Measured(
        {},
        [answer("It is ada-lee. [1]", ("z.md", "Ada Lee owns it.")), answer("I do not know.")],
        {"answers": [2.0, 4.0]},
    )
    figures = figures_of([WHO, NOTHING], found, 5)
    assert figures == {
        "answers.right_pct": 100,
        "answers.citations_right_pct": 100,
        "answers.refused_pct": 0,
        "answers.said_none_pct": 100,
        "answers.p50_ms": 3,
    }


def test_a_wrong_answer_counts_with_its_citations() -> None:
    found = Measured({}, [answer("Bo.", ("z.md", "Bo."), ("b.md", "x"))], {"answers": [1.0]})
    figures = figures_of([WHO], found, 5)
    assert (figures["answers.right_pct"], figures["answers.citations_right_pct"]) == (0, 50)


@pytest.mark.parametrize(
    ("name", "first", "second", "worse"),
    [
        ("hybrid.recall@5", 80.0, 79.0, True),
        ("hybrid.recall@5", 80.0, 81.0, False),
        ("answers.refused_pct", 5.0, 6.0, True),
        ("hybrid.p50_ms", 10.0, 9.0, False),
    ],
)
def test_worse_depends_on_the_figure(name: str, first: float, second: float, worse: bool) -> None:
    assert is_worse(name, first, second, 0) is worse
    assert not is_worse(name, first, second, 50)
