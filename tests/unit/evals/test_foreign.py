"""Counting results of another set in a space that contains two sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.command import Options, UsageError
from tests.evals.foreign import ASKED, FOREIGN, foreign_entries, measure_foreign, stated_facts


def hits(*ids: str | None) -> dict[str, object]:
    return {"results": [{"id": "x", "document_id": one} for one in ids]}


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ((f"{ASKED}/p1", f"{ASKED}/p2"), 0),
        ((f"{ASKED}/p1", f"{FOREIGN}/p1"), 1),
        ((None, ""), 2),
        ((f"{ASKED}-more/p1",), 1),
        ((*[f"{ASKED}/p{n}" for n in range(5)], f"{FOREIGN}/p1"), 0),
        ((), 0),
    ],
    ids=["none", "one", "without a document", "another set", "below the fifth", "empty"],
)
def test_results_of_another_set_among_the_first_five_are_counted(
    ids: tuple[str | None, ...], expected: int
) -> None:
    assert foreign_entries(hits(*ids)) == expected


def test_triples_of_distinct_entities_become_facts_that_cite_their_passage() -> None:
    rows = iter([{"id": "p1", "triples": [["A", "owns", "B"], ["C", "is", "C"]]}])
    assert list(stated_facts(rows, "set")) == [
        {"subject": "A", "relation": "owns", "object": "B", "document_id": "set/p1"}
    ]


async def test_a_folder_of_an_unknown_form_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"neither questions.jsonl nor .* {ASKED} and {FOREIGN}"):
        await measure_foreign(Options("relevance", data=tmp_path))
