"""Spreadsheets (XLSX, XLS, ODS), row by row with the names of their columns; formulas as their last results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import TYPE_CHECKING

from services.agent_orchestrator.ingest.documents import Limits, UnreadableError
from services.agent_orchestrator.ingest.formats.damage import OLE_MARK, check_archive, readable
from services.agent_orchestrator.ingest.formats.tables import add_table
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import Layout, Writer

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

Cell = tuple[int, int]
Range = tuple[Cell, Cell]
Value = int | float | str | bool | time | date | datetime | timedelta


def read_spreadsheet(data: bytes, limits: Limits) -> Layout:
    """Returns the text of all sheets. Raises UnreadableError for a file that is locked, damaged, too long or empty."""
    writer = Writer(limits.text)
    with readable("spreadsheet"):
        if not data.startswith(OLE_MARK):
            check_archive(data, limits)
        workbook = _open(data)
        for name in workbook.sheet_names:
            _add_sheet(writer, workbook, name)
    return writer.layout()


def _open(data: bytes) -> CalamineWorkbook:
    from python_calamine import CalamineWorkbook, PasswordError  # noqa: PLC0415 - needed only here

    try:
        return CalamineWorkbook.from_filelike(BytesIO(data))
    except PasswordError:
        raise UnreadableError("is encrypted") from None


def _add_sheet(writer: Writer, workbook: CalamineWorkbook, name: str) -> None:
    from python_calamine import WorksheetNotFound  # noqa: PLC0415 - needed only here

    try:
        sheet = workbook.get_sheet_by_name(name)
    except WorksheetNotFound:  # a sheet that is a chart
        return
    rows = [_texts(row) for row in sheet.iter_rows()]
    _fill_merged(rows, sheet.merged_cell_ranges or ())
    if len(workbook.sheet_names) > 1 and any(rows):
        writer.add(f"## {name}", 2)
    add_table(writer, rows, stated_title(name))


def _texts(row: Sequence[Value]) -> list[str]:
    """Returns the cells as text; none for an empty row, as sheets can have a million of them."""
    return [_text(value) for value in row] if any(value != "" for value in row) else []


def _fill_merged(rows: Sequence[list[str]], ranges: Iterable[Range]) -> None:
    """Gives each cell of a merged range the range's text."""
    for (top, left), (bottom, right) in ranges:
        merged = rows[top][left] if top < len(rows) and left < len(rows[top]) else ""
        for row in rows[top : bottom + 1]:
            row[left : right + 1] = [merged] * len(row[left : right + 1])


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime):
        midnight = value.time() == time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)
