"""Tables of any format: each row becomes a line that names its columns, so that no chunk needs the rows above it.

Row 3 of Staff: Name: Ana Kovac; Team: Harbour; Since: 2024-05-01
"""

from __future__ import annotations

from collections.abc import Sequence

from services.agent_orchestrator.ingest.layout import BLOCK, ROW, Writer
from services.runtime.patterns import compile_linear

Cells = Sequence[str]

# A shorter table is read as its format writes it, as its rows are seldom apart from its header. So is one with a longer
# header, which would fill the chunks of its rows.
_SHORT = 600
_LONG_HEADER = 400

_YEAR = compile_linear(r"(1[89]|20|21)\d\d")


def add_table(writer: Writer, rows: Sequence[Cells], name: str = "") -> None:
    """Adds the rows of a table or a sheet, which are numbered from 1; empty ones are left out.

    The first row that names its columns is the header. After an empty row, another table with other columns can begin.
    Cells that are merged are given as if each contained the text.
    """
    suffix = f" of {name}" if name else ""
    grid = [[" ".join(cell.split()) for cell in row] for row in rows]
    header: Cells = ()
    after_gap = True
    place = 0
    while place < len(grid):
        cells = grid[place]
        if not any(cells):
            after_gap = True
            place += 1
            continue
        names: Cells = ()
        depth = 0
        if not header or (after_gap and not _covers(header, cells)):
            names, depth = _header_at(grid, place)
        if names:
            header = names
            line = f"Columns{suffix}: {'; '.join(filter(None, names))}"
        else:
            line = f"Row {place + 1}{suffix}: {_labelled(cells, header)}"
        writer.add(line, BLOCK if after_gap else ROW, close=not after_gap)
        after_gap = False
        place += depth or 1


def needs_names(rows: Sequence[Cells]) -> bool:
    """Whether the rows of a table need the names of their columns, as they are likely to be apart from its header."""
    if sum(len(row) > 1 for row in rows) < 2:  # noqa: PLR2004 a list has one column, and a header alone no rows
        return False
    header = sum(len(cell) for row in rows[:2] for cell in row)
    return header <= _LONG_HEADER and sum(len(cell) for row in rows for cell in row) >= _SHORT


def _header_at(grid: Sequence[Cells], place: int) -> tuple[Cells, int]:
    """Returns the names of the columns if a header begins at this row, and its number of rows: one or two."""
    first = grid[place]
    below = grid[place + 1] if place + 1 < len(grid) else ()
    if _names_columns(first, below):
        return first, 1
    # A cell over several columns, with their own names below it.
    filled = [cell for cell in first if cell]
    if len(set(filled)) in {1, len(filled)}:
        return (), 0
    both = [
        " ".join(dict.fromkeys(filter(None, (upper, lower))))
        for upper, lower in zip(first, below, strict=False)
    ]
    under = grid[place + 2] if place + 2 < len(grid) else ()
    return (both, 2) if _names_columns(both, under) else ((), 0)


def _names_columns(cells: Cells, below: Cells) -> bool:
    """Whether a row names its columns: at least two different names, above a row with values.

    A name has letters. A year is one too, unless there is a year below it as well.
    """
    filled = [(i, cell) for i, cell in enumerate(cells) if cell]
    texts = [cell for _, cell in filled]
    if len(texts) < 2 or len(set(texts)) < len(texts) or not any(below):  # noqa: PLR2004 a list has one column
        return False
    years = [i for i, cell in filled if _YEAR.fullmatch(cell)]
    if any(i < len(below) and _YEAR.fullmatch(below[i]) for i in years):
        return False
    named = [i for i, cell in filled if any(c.isalpha() for c in cell)]
    return filled[0][0] in named and len(named) + len(years) == len(filled)


def _covers(header: Cells, cells: Cells) -> bool:
    """Whether each filled cell has a name."""
    return all(i < len(header) and header[i] for i, cell in enumerate(cells) if cell)


def _labelled(cells: Cells, header: Cells) -> str:
    """Returns the filled cells, each after the name of its column; above the header, a text across cells once."""
    filled = [(i, cell) for i, cell in enumerate(cells) if cell]
    if not header and len({cell for _, cell in filled}) == 1:
        return filled[0][1]
    return "; ".join(
        f"{header[i]}: {cell}" if i < len(header) and header[i] else cell for i, cell in filled
    )
