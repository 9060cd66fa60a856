"""Tables as text (CSV, TSV), whose delimiter is recognized from the rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from services.agent_orchestrator.ingest.documents import UnreadableError
from services.agent_orchestrator.ingest.formats.tables import add_table
from services.agent_orchestrator.ingest.layout import Layout, Writer

# Of those that fit as well, the first: where others separate the cells, commas often stand in numbers.
_DELIMITERS = ("\t", ";", "|", ",")
_SAMPLE_ROWS = 50
# The first line by which spreadsheet programs name the delimiter.
_STATED = "sep="


def read_delimited(text: str, limit: int) -> Layout:
    """Returns the rows with the names of their columns. Raises UnreadableError for a text that is too long."""
    first, _, rest = text.partition("\n")
    stated = first.rstrip("\r").removeprefix(_STATED) if first.startswith(_STATED) else ""
    body = rest if stated else text
    delimiter = stated[:1] or max(_DELIMITERS, key=lambda one: _regular_rows(body, one))
    writer = Writer(limit)
    try:
        add_table(writer, list(_rows(body, delimiter)))
    except csv.Error as error:
        raise UnreadableError(f"is not a table of comma-separated values: {error}") from None
    return writer.layout()


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _regular_rows(text: str, delimiter: str) -> int:
    """Returns how many of the first rows have the same number of cells, which must be more than one."""
    try:
        lengths = Counter(len(row) for row in islice(_rows(text, delimiter), _SAMPLE_ROWS) if row)
    except csv.Error:
        return 0
    del lengths[1]
    return max(lengths.values(), default=0)
