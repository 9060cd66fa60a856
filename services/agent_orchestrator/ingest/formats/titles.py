"""The title of a document, by one rule for all formats: the stated title, else the first heading, else the file's name.

Titles that programs write by themselves into files, such as `Microsoft Word - x.doc`, count as none.
"""

from __future__ import annotations

from services.runtime.patterns import compile_linear

# fmt: off
_NAMES_OF_NOTHING = frozenset({
    "untitled", "untitled document", "untitled page", "no title", "title", "document", "new document", "word document",
    "unbenannt", "unbenanntes dokument", "ohne titel", "sans titre", "document sans titre", "sin título",
    "documento sin título", "sem título", "senza titolo", "documento senza titolo", "zonder titel", "naamloos",
    "bez názvu", "bez tytułu", "namnlös", "без названия", "無題", "无标题", "無標題", "제목 없음", "unknown", "null",
    "none", "anonymous", "(anonymous)", "powerpoint presentation", "presentation", "slide 1", "page 1", "sheet1",
    "index", "print", "scan", "scanned document",
})
# fmt: on
_PROGRAM = compile_linear(
    r"(microsoft (office )?(word|excel|powerpoint|publisher|outlook)|(open|libre)office|wordpad|notepad)"
    r"\b.{0,3} - .*",
    ignore_case=True,
)
_NUMBERED = compile_linear(
    r"(untitled|document|dokument|doc|presentation|book|mappe|sheet|slide|page|new|scan|img|image|te?mp)"
    r"[ _-]?\(?\d{1,20}\)?",
    ignore_case=True,
)
_FILE = compile_linear(
    r".*\.(docx?|dotx?|pdf|xlsx?|pptx?|odt|ods|odp|rtf|txt|html?|xml|indd|tex|dvi|ps|qxd|pages|md|wpd|pub|tmp)",
    ignore_case=True,
)
_PATH = compile_linear(
    r"([a-z]:[\\/]|\\\\|file:).*|(/|~/|\.{1,2}/|https?:)\S*|\S*\\\S*\\.*",
    ignore_case=True,
)
_CODE = compile_linear(
    r"[0-9a-f]{16,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ignore_case=True,
)
_MAX_STATED = 10_000


def stated_title(text: str) -> str:
    """Returns a title that a file states in its metadata, on one line; "" if a program chose it."""
    title = " ".join(text[:_MAX_STATED].split())
    folded = title.casefold().strip(" .…")
    if folded in _NAMES_OF_NOTHING:
        return ""
    chosen = any(form.fullmatch(title) for form in (_PROGRAM, _NUMBERED, _FILE, _PATH))
    return "" if chosen or _is_code(title) else title


def file_name(source: str) -> str:
    """Returns the last part of a path or address."""
    return source.rstrip("/").rpartition("/")[2]


def _is_code(title: str) -> bool:
    return not any(c.isalpha() for c in title) or _CODE.fullmatch(title) is not None
