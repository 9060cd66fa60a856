"""A sentence is read under its headings, a table's row with its columns."""

from __future__ import annotations

import pytest

from services.agent_orchestrator.agent.planner.sections import line_at, lines_of, with_columns
from services.agent_orchestrator.agent.planner.statements import passage_statements
from services.agent_orchestrator.agent.results import Citation, ResultItem

MANUAL = """\
# Pump manual

## idle_timeout (integer)

The default is 90 seconds.

### On test rigs
The default is zero.

## max_pressure
The default is 4 bar.
"""


def read_as(text: str, title: str = "Pump manual") -> dict[str, str]:
    """How each statement of a passage is read, by its text."""
    citation = Citation("d1", title, "wiki", "c1", 0, len(text), text)
    item = ResultItem("passage", text, 0.5, citations=(citation,))
    return {one.text: one.read_as for one in passage_statements([item])}


def test_sentences_are_read_under_their_headings_which_are_none_themselves() -> None:
    assert read_as(MANUAL) == {
        "The default is 90 seconds.": "Pump manual: idle_timeout (integer): The default is 90 seconds.",
        "The default is zero.": "Pump manual: idle_timeout (integer): On test rigs: The default is zero.",
        "The default is 4 bar.": "Pump manual: max_pressure: The default is 4 bar.",
    }


@pytest.mark.parametrize(
    "table",
    [
        "Model | Weight\nP10 | 14 kg\nP20 | 23 kg\n",
        "| Model | Weight |\n|---|:--|\n| P10 | 14 kg |\n| P20 | 23 kg |\n",
    ],
)
def test_rows_of_a_table_are_read_with_their_columns(table: str) -> None:
    read = list(read_as(f"Intro.\n\n## Models\n{table}\nOutro.").values())
    assert read == [
        "Pump manual: Intro.",
        "Pump manual: Models: Model P10, Weight 14 kg",
        "Pump manual: Models: Model P20, Weight 23 kg",
        "Pump manual: Models: Outro.",
    ]


def test_a_passage_of_headings_alone_keeps_them() -> None:
    assert list(read_as("# Opening hours", "Notes")) == ["Opening hours"]


def test_a_row_with_other_cells_than_its_table_is_read_as_it_is() -> None:
    assert with_columns("a | b | c", ("x", "y")) == "a | b | c"


def test_each_position_belongs_to_a_line() -> None:
    lines = lines_of(MANUAL)
    assert [line.start for line in lines] == sorted({line.start for line in lines})
    assert line_at(lines, 0) == lines[0]
    assert line_at(lines, len(MANUAL)) == lines[-1]


def test_a_sentence_that_begins_with_a_pronoun_is_read_with_the_one_before_it() -> None:
    read = read_as(
        "The Osprey is a probe. It weighs 3 kg.\n\nThis is a list. The list is long.", "Notes"
    )
    assert read["It weighs 3 kg."] == "Notes: The Osprey is a probe. It weighs 3 kg."
    assert read["This is a list."] == "Notes: This is a list."
    assert read["The list is long."] == "Notes: The list is long."
