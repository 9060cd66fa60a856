"""Retrieved text on a terminal: what a terminal or its reader would take for an instruction is made visible."""

from __future__ import annotations

import re
import unicodedata

from rich.text import Text

# Controls, and characters that turn the direction of text around or hide it.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SPACE = re.compile(r"\s+")


def line(text: str, max_length: int | None = None) -> str:
    """`text` on one line, harmless, cut after `most` characters."""
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
    """`text` with its lines and spaces, harmless."""
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in _HIDDEN else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )


def styled(text: str, style: str = "", max_length: int | None = None) -> Text:
    """The same as rich text: never read as markup."""
    return Text(line(text, max_length), style=style)
