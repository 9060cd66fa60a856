"""Tables of Markdown: each row of a long one names its columns, and all else stays as it is written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.formats.markdown import read_markdown
from services.agent_orchestrator.ingest.layout import ROW

LONG = "| Product | Price |\n| --- | ---: |\n" + "".join(
    f"| Lamp *{n}* | {n} EUR |\n" for n in range(60)
)
SHORT = "| Product | Price |\n| --- | --- |\n| Lamp | 3 EUR |\n"


def test_each_row_of_a_long_table_names_its_columns() -> None:
    layout = read_markdown(f"# Prices\r\n\nBefore.\r\n\n{LONG}\nAfter.\n\n{LONG}\n- item\n")
    lines = layout.text.splitlines()
    assert lines[:3] == ["# Prices", "", "Before."]
    assert lines[4:6] == ["Columns: Product; Price", "Row 2: Product: Lamp *0*; Price: 0 EUR"]
    assert lines[64:68] == ["Row 61: Product: Lamp *59*; Price: 59 EUR", "", "After.", ""]
    assert lines[-2:] == ["", "- item"]
    starts = [layout.text[one.offset :].splitlines()[0] for one in layout.breaks]
    assert starts[:4] == ["# Prices", "Before.", "Columns: Product; Price", lines[5]]
    assert "After." in starts
    assert starts[-1] == "- item"
    assert sum(one.rank == ROW for one in layout.breaks) == 120


def test_a_table_that_ends_the_text_is_read_whole() -> None:
    assert read_markdown(LONG.rstrip()).text.splitlines()[-1].endswith("Price: 59 EUR")


def test_a_short_table_and_one_within_a_list_stay_as_they_are_written() -> None:
    within = "- item\n\n" + "".join(f"  {line}\n" for line in LONG.splitlines())
    for text in (SHORT, within, f"~~~\n{LONG}~~~\n"):
        assert read_markdown(text).text == text


@given(st.text(alphabet="a|-\n #>*`\\:", max_size=400), st.integers(0, 3))
def test_nothing_else_of_any_markdown_changes(text: str, tables: int) -> None:
    layout = read_markdown(text + "\n\n" + LONG * min(tables, 1))
    offsets = [one.offset for one in layout.breaks]
    assert offsets == sorted(offsets)
    assert all(0 <= offset <= len(layout.text) for offset in offsets)
    if not tables:
        assert layout.text == text + "\n\n"
