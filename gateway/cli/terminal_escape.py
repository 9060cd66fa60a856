"""Escapes retrieved text for a terminal: control and invisible characters are made visible."""

from __future__ import annotations

import re
import unicodedata

from rich.text import Text

# Control characters, and characters that change the direction of text or are invisible.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SPACE = re.compile(r"\s+")


def line(text: str, max_length: int | None = None) -> str:
    """Returns `text` escaped, on one line, truncated after `most` characters."""
    flat = _SPACE.sub(" ", text).strip()
    shown = "".join(
        c if unicodedata.category(c) not in _HIDDEN else "\N{REPLACEMENT CHARACTER}" for c in flat
    )
    return (
        shown
        if max_length is None or len(shown) <= max_length
        else shown[: max_length - 1].rstrip() + "…"
    )


def block(text: str) -> str:
    """Returns `text` escaped, with its lines and spaces."""
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in _HIDDEN else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )


def styled(text: str, style: str = "", max_length: int | None = None) -> Text:
    """Returns the escaped text as rich text, never interpreted as markup."""
    return Text(line(text, max_length), style=style)
