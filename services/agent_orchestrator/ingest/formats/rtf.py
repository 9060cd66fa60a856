"""Rich text (RTF): its text with footnotes, without formatting."""

from __future__ import annotations

from services.agent_orchestrator.ingest.documents import UnreadableError
from services.agent_orchestrator.ingest.formats.damage import readable
from services.agent_orchestrator.ingest.layout import Layout, check_length, clean, paragraphs

_MARK = b"{\\rtf"


def read_rtf(data: bytes, limit: int) -> Layout:
    """Returns the text of a document. Raises UnreadableError if it is damaged or too long."""
    from striprtf.striprtf import rtf_to_text  # noqa: PLC0415 - needed only to read RTF

    if not data.lstrip().startswith(_MARK):
        raise UnreadableError("is not RTF")
    # The format is ASCII; other bytes are characters of its code page. The library leaves footnotes out.
    source = data.decode("latin-1").replace("\\footnote", "")
    with readable("RTF file"):
        text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    # Characters beyond 16 bits are written as two surrogates.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # A paragraph is a line of the text.
    spaced = "\n\n".join(line.strip() for line in clean(whole).split("\n") if line.strip())
    check_length(len(spaced), limit)
    return Layout(spaced, paragraphs(spaced))
