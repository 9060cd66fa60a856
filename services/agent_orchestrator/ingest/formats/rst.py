"""reStructuredText: converted via HTML, without the files that it names."""

from __future__ import annotations

from services.agent_orchestrator.ingest.formats.damage import readable
from services.agent_orchestrator.ingest.formats.html import html_layout
from services.agent_orchestrator.ingest.layout import Layout

# No message about errors ends the conversion or stands in the text, and nothing outside of the text is read.
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "initial_header_level": 2,
    "_disable_config": True,
}


def read_rst(text: str, limit: int) -> Layout:
    """Returns the text of a document. Raises UnreadableError if it is too long or cannot be converted."""
    from docutils.core import publish_parts  # noqa: PLC0415 - needed only to read reStructuredText
    from docutils.writers.html5_polyglot import Writer  # noqa: PLC0415

    class BodyWriter(Writer):
        """Writes no page around the body, whose template would be read from a file."""

        def apply_template(self) -> str:
            return ""

    with readable("reStructuredText file"):
        parts: dict[str, str] = publish_parts(  # type: ignore[no-untyped-call]
            text, writer=BodyWriter(), settings_overrides=_SETTINGS
        )
    return html_layout(parts["html_body"], limit)
