"""Presentations (PPTX), slide by slide: titles, text, tables, charts, diagrams, notes and comments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from services.agent_orchestrator.ingest.documents import Limits, UnreadableError
from services.agent_orchestrator.ingest.formats.damage import (
    OLE_MARK,
    check_archive,
    parse_xml,
    readable,
)
from services.agent_orchestrator.ingest.formats.pages import warn_of_pages_without_text
from services.agent_orchestrator.ingest.formats.tables import add_table
from services.agent_orchestrator.ingest.formats.titles import stated_title
from services.agent_orchestrator.ingest.layout import BLOCK, ITEM, Layout, Writer

if TYPE_CHECKING:
    from pptx.slide import Slide

_DIAGRAM = "/relationships/diagramData"
_COMMENTS = "/relationships/comments"
_PARAGRAPH = "{http://schemas.openxmlformats.org/drawingml/2006/main}p"
_COMMENT_TEXT = "{http://schemas.openxmlformats.org/presentationml/2006/main}text"
_RUN = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"


def read_pptx(data: bytes, limits: Limits) -> Layout:
    """Returns the text of all slides, which are its pages. Raises UnreadableError if it is locked, damaged or empty."""
    if data.startswith(OLE_MARK):
        raise UnreadableError("is encrypted, or of PowerPoint before 2007")
    with readable("presentation"):
        check_archive(data, limits)
        from pptx import Presentation  # noqa: PLC0415 - needed only to read PPTX

        presentation = Presentation(BytesIO(data))
        writer = Writer(limits.text, title=stated_title(presentation.core_properties.title))
        slides = list(presentation.slides)
        if len(slides) > limits.pages:
            raise UnreadableError(f"has {len(slides)} slides: at most {limits.pages} are taken")
        for number, slide in enumerate(slides, 1):
            start = writer.length
            _add_slide(writer, slide)
            if writer.length > start:
                writer.pages.append((start + 2 if start else 0, number))
    warn_of_pages_without_text(writer, len(slides), "slides")
    return writer.layout()


def _add_slide(writer: Writer, slide: Slide) -> None:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        heading = " ".join(title.text_frame.text.split())
        writer.add(f"## {heading}", 2)
        writer.title = writer.title or heading
    for shape in _shapes(slide.shapes):
        # Shapes of the library are new objects each time.
        if title is None or shape.shape_id != title.shape_id:
            _add_shape(writer, shape)
    for text in _of_parts(slide, _DIAGRAM, _paragraphs):
        writer.add(text, ITEM)
    for text in _of_parts(slide, _COMMENTS, _comments):
        writer.add(f"Comment: {text}")
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        writer.add(f"Notes: {notes}" if notes else "")


def _of_parts(slide: Slide, kind: str, read: Callable[[bytes], Iterator[str]]) -> Iterator[str]:
    """Yields the texts of a slide's parts of a kind, which is the end of their relationship's type."""
    for relation in slide.part.rels.values():
        if relation.reltype.endswith(kind) and not relation.is_external:
            yield from (text for text in read(relation.target_part.blob) if text.strip())


def _shapes(shapes: Any) -> Iterator[Any]:
    """Yields the shapes, and those of groups."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _add_shape(writer: Writer, shape: Any) -> None:
    if shape.has_text_frame:
        for i, paragraph in enumerate(shape.text_frame.paragraphs):
            # The library marks the end of a line with a vertical tab.
            text = paragraph.text.replace("\v", "\n")
            writer.add(text, ITEM if i else BLOCK, close=i > 0)
    elif getattr(shape, "has_table", False):
        add_table(writer, _table(shape.table))
    elif getattr(shape, "has_chart", False):
        _add_chart(writer, shape.chart)


def _table(table: Any) -> list[list[str]]:
    """Returns the cells; each cell of a merged range has the range's text."""
    rows = [[cell.text_frame.text for cell in row.cells] for row in table.rows]
    for r, row in enumerate(table.rows):
        for c, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                for below in rows[r : r + cell.span_height]:
                    below[c : c + cell.span_width] = [rows[r][c]] * cell.span_width
    return rows


def _add_chart(writer: Writer, chart: Any) -> None:
    if chart.has_title and chart.chart_title.has_text_frame:
        writer.add(chart.chart_title.text_frame.text)
    for plot in chart.plots:
        series = list(plot.series)
        header = ["Category", *(one.name or f"Series {i}" for i, one in enumerate(series, 1))]
        values = [["" if v is None else f"{v:g}" for v in one.values] for one in series]
        rows = zip_longest(map(str, plot.categories), *values, fillvalue="")
        add_table(writer, [header, *rows])


def _comments(xml: bytes) -> Iterator[str]:
    """Yields the text of comments: older ones have it in one element, newer ones have paragraphs."""
    yield from (one.text or "" for one in parse_xml(xml).iter(_COMMENT_TEXT))
    yield from _paragraphs(xml)


def _paragraphs(xml: bytes) -> Iterator[str]:
    for paragraph in parse_xml(xml).iter(_PARAGRAPH):
        yield "".join(run.text or "" for run in paragraph.iter(_RUN))
