"""Content types of the contract by file name."""

from __future__ import annotations

from pathlib import PurePath

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
# The suffix of message threads comes first, because such names also end with `.jsonl`.
CONTENT_TYPES = {
    ".messages.jsonl": "application/vnd.braid.messages+jsonl",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".rst": "text/x-rst",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".odt": f"{_OPEN}.text",
    ".rtf": "application/rtf",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".odp": f"{_OPEN}.presentation",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    ".xls": "application/vnd.ms-excel",
    ".ods": f"{_OPEN}.spreadsheet",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".epub": "application/epub+zip",
    ".eml": "message/rfc822",
    ".msg": "application/vnd.ms-outlook",
    ".mbox": "application/mbox",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
}
# Source code, and markup that is readable as it stands, are plain text.
# fmt: off
_AS_TEXT = frozenset({
    ".adoc", ".bash", ".c", ".cc", ".clj", ".cpp", ".cs", ".css", ".cxx", ".dart", ".el", ".ex", ".exs", ".f90", ".fs",
    ".go", ".graphql", ".groovy", ".h", ".hpp", ".hs", ".java", ".jl", ".js", ".jsx", ".kt", ".kts", ".lisp", ".lua",
    ".m", ".mjs", ".ml", ".nim", ".org", ".pas", ".php", ".pl", ".pm", ".proto", ".ps1", ".py", ".pyi", ".r", ".rb",
    ".rs", ".scala", ".scss", ".sh", ".sol", ".sql", ".swift", ".tex", ".tf", ".ts", ".tsx", ".vb", ".vue", ".zig",
})
# fmt: on
SUPPORTED = f"{' '.join(CONTENT_TYPES)} and source code"


def content_type_of(name: str) -> str | None:
    """Returns the content type for a file name; None if such files cannot be ingested."""
    path = PurePath(name.lower())
    known = next((kind for end, kind in CONTENT_TYPES.items() if path.name.endswith(end)), None)
    return known or (CONTENT_TYPES[".txt"] if path.suffix in _AS_TEXT else None)
