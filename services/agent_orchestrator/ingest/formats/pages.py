"""Pages of a document that contain no text."""

from __future__ import annotations

from collections.abc import Sequence

from services.agent_orchestrator.ingest.document_warnings import DocumentWarning, WarningReason
from services.agent_orchestrator.ingest.layout import Writer


def warn_of_pages_without_text(writer: Writer, count: int, noun: str = "pages") -> None:
    """Names the pages without text, which may be pictures; empty pages cannot be told apart from them.

    `noun` is what the format calls its pages.
    """
    without = sorted({*range(1, count + 1)} - {page for _, page in writer.pages})
    if without:
        shown = _ranges(without)
        notice = f"{len(without)} of {count} {noun} contain no text, such as scanned ones: {shown}."
        place = f"{noun} {shown}"
        writer.warnings.append(DocumentWarning(WarningReason.PAGES_WITHOUT_TEXT, notice, place))


def _ranges(numbers: Sequence[int]) -> str:
    """Returns `2-10, 12` for numbers in order."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and groups[-1][1] == number - 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in groups)
