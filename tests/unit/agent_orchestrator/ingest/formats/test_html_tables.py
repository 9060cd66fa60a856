"""Tables of pages: each row of a long one names its columns, and what merged cells cover has their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.ingest.chunking import MAX_CHUNK
from services.agent_orchestrator.ingest.formats.html import html_layout

HEADER = "<tr><th>Product</th><th>Price</th></tr>"


def lines(html: str) -> list[str]:
    """The lines of a page's text."""
    return html_layout(html, 1_000_000).text.splitlines()


def table(*rows: str) -> str:
    """A table of rows, whose cells are separated by bars."""
    cells = ["".join(f"<td>{cell}</td>" for cell in row.split("|")) for row in rows]
    return f"<table>{HEADER}{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def test_each_row_of_a_long_table_names_its_columns() -> None:
    read = lines(table(*(f"Lamp of the {n}th series|{n} EUR" for n in range(200))))
    assert read[0] == "Columns: Product; Price"
    assert read[200] == "Row 201: Product: Lamp of the 199th series; Price: 199 EUR"
    assert sum(map(len, read)) > 2 * MAX_CHUNK


def test_a_short_table_is_read_as_it_stands() -> None:
    assert lines(table("Lamp|3 EUR", "Chair|5 EUR")) == [
        "Product | Price",
        "Lamp | 3 EUR",
        "Chair | 5 EUR",
    ]


def test_merged_cells_count_in_each_row_and_column_that_they_cover() -> None:
    read = lines(
        "<table><caption>Shifts</caption>"
        "<tr><th rowspan=2>Name</th><th colspan=2>Hours</th></tr><tr><th>Mon</th><th>Tue</th></tr>"
        "<tr><td rowspan=2>Ada</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr>"
        "<tr><td colspan=3>Night crew</td></tr><tr><td>Bo</td><td colspan=2>off</td></tr></table>"
    )
    assert read == [
        "Columns of Shifts: Name; Hours Mon; Hours Tue",
        "Row 3 of Shifts: Name: Ada; Hours Mon: 1; Hours Tue: 2",
        "Row 4 of Shifts: Name: Ada; Hours Mon: 3; Hours Tue: 4",
        "Row 5 of Shifts: Name: Night crew",
        "Row 6 of Shifts: Name: Bo; Hours Mon: off; Hours Tue: off",
    ]


def test_what_a_page_leaves_out_is_not_in_its_tables() -> None:
    permalink = "<a class='headerlink' href='#a'>¶</a>"
    hidden = "<span hidden>secret</span>"
    read = lines(table(*(f"Lamp {n}{permalink}|<p>{n}</p><p>EUR</p>{hidden}" for n in range(100))))
    assert read[1] == "Row 2: Product: Lamp 0; Price: 0 EUR"


@pytest.mark.parametrize("inner", ["<table><tr><td>a<td>b<tr><td>c<td>d</table>", "<h2>Part</h2>"])
def test_a_table_that_lays_out_a_page_is_read_as_a_page(inner: str) -> None:
    page = f"<table>{HEADER}<tr><td colspan=2>{inner}</td></tr><tr><td>{'x ' * 500}</td><td>y</td></tr></table>"
    assert not any(line.startswith("Row") for line in lines(page))


@pytest.mark.parametrize("span", ["999999999", "-3", "x", "1e3", "٣", ""])
def test_impossible_spans_lose_nothing_and_cost_little(span: str) -> None:
    row = f"<tr><td colspan='{span}' rowspan='{span}'>Lamp</td><td>3 EUR</td></tr>"
    text = "\n".join(lines(f"<table>{HEADER}{row * 300}</table>"))
    assert text.count("3 EUR") == 300
    assert len(text) < 2_000_000


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(["a", "b", "ccc", ""]), st.integers(1, 4), st.integers(1, 4)),
            max_size=5,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_every_text_of_any_table_is_read(rows: list[list[tuple[str, int, int]]]) -> None:
    numbered = 0
    body = ""
    for row in rows:
        body += "<tr>"
        for text, columns, down in row:
            numbered += 1
            body += f"<td colspan={columns} rowspan={down}>{text}{numbered}.</td>"
        body += "</tr>"
    read = "\n".join(lines(f"<table>{body}</table>"))
    for number in range(1, numbered + 1):
        assert f"{number}." in read
