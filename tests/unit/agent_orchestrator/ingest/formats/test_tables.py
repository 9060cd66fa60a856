"""Rows of tables: each names its columns and can be read alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.formats.tables import add_table
from services.agent_orchestrator.ingest.layout import Writer


def lines(*rows: list[str], name: str = "") -> list[str]:
    writer = Writer(1_000_000)
    add_table(writer, rows, name)
    return [line for line in writer.layout().text.split("\n") if line]


def test_each_row_names_its_columns_its_number_and_its_sheet() -> None:
    assert lines(["Name", "Team"], ["Ana", "Harbour"], ["Bo", ""], name="Staff") == [
        "Columns of Staff: Name; Team",
        "Row 2 of Staff: Name: Ana; Team: Harbour",
        "Row 3 of Staff: Name: Bo",
    ]


def test_years_name_columns_unless_years_follow() -> None:
    assert lines(["Item", "2024", "2025"], ["Crane", "10", "12"])[1] == (
        "Row 2: Item: Crane; 2024: 10; 2025: 12"
    )
    assert lines(["Ana", "2024"], ["Bo", "2023"]) == ["Row 1: Ana; 2024", "Row 2: Bo; 2023"]


def test_a_title_above_the_header_is_a_line_of_its_own() -> None:
    assert lines(["Staff of May", "", ""], ["Name", "Team", "Age"], ["Ana", "Harbour", "40"]) == [
        "Row 1: Staff of May",
        "Columns: Name; Team; Age",
        "Row 3: Name: Ana; Team: Harbour; Age: 40",
    ]


def test_a_header_of_two_rows_is_joined() -> None:
    table = [["Item", "2024", "2024"], ["Item", "Q1", "Q2"], ["Crane", "10", "12"]]
    assert lines(*table) == [
        "Columns: Item; 2024 Q1; 2024 Q2",
        "Row 3: Item: Crane; 2024 Q1: 10; 2024 Q2: 12",
    ]


def test_another_table_may_follow_after_an_empty_row() -> None:
    table = [
        ["Name", "Team"],
        ["Ana", "East"],
        ["", ""],
        ["Bo", "West"],
        [],
        ["Item", "Cost", "Unit"],
        ["Rope", "3", "m"],
    ]
    assert lines(*table) == [
        "Columns: Name; Team",
        "Row 2: Name: Ana; Team: East",
        "Row 4: Name: Bo; Team: West",
        "Columns: Item; Cost; Unit",
        "Row 7: Item: Rope; Cost: 3; Unit: m",
    ]


def test_numbers_alone_have_no_header() -> None:
    assert lines(["1", "2"], ["3", "4"]) == ["Row 1: 1; 2", "Row 2: 3; 4"]


cells = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=8)


@given(st.lists(st.lists(cells, max_size=4), max_size=6))
def test_no_cell_is_lost(rows: list[list[str]]) -> None:
    text = "\n".join(lines(*rows))
    for cell in (cell for row in rows for cell in row):
        assert " ".join(cell.split()) in text
