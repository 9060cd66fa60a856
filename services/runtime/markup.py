"""Marks of Markdown and of mails around a sentence: headings, lists, quotes, tables, emphasis."""

from __future__ import annotations

from services.runtime.patterns import compile_linear

# A number stays: `12. Oktober` begins a sentence as well as a list.
_LEADING = compile_linear(
    r"(?:#{1,6}(?:[ \t]+|$)|[-*+•‣·][ \t]+|\[[ xX]\][ \t]+|>[ \t]*|\|[ \t]*)*"
)
_EMPHASIS = ("***", "___", "**", "__", "*", "_", "`")


def text_within_markup(sentence: str) -> tuple[int, int]:
    """Returns where a sentence's text begins and ends: without marks before it, and without emphasis of all of it.

    Emphasis that ends within the sentence loses only its first mark, so that the text remains a part of its document.
    """
    found = _LEADING.match(sentence)
    start, end = found.end() if found else 0, len(sentence)
    for mark in _EMPHASIS:
        after = start + len(mark)
        if (
            sentence.startswith(mark, start)
            and mark in sentence[after:]
            and not sentence[after].isspace()
        ):
            start = after
            end -= len(mark) if sentence.endswith(mark) else 0
            break
    return start, max(start, end)


def is_heading(line: str) -> bool:
    """Whether a line is a heading of Markdown, which is a sentence of its own."""
    mark, _, text = line.lstrip().partition(" ")
    return bool(text) and 0 < len(mark) <= 6 and mark.strip("#") == ""  # noqa: PLR2004 - levels of headings
