"""Names as they are compared: exactly up to letter case and white space, or loosely."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

MAX_NAME_LENGTH: Final = 200
_CACHED_NAMES: Final = 50_000
_ARTICLE: Final = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_NOT_WORD: Final = re.compile(r"[^\w+#]+")
# Letters that decomposition leaves as they are.
_LETTERS: Final = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i"})


def display_name(name: str) -> str:
    """The name as it is shown: NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def canonical_name(name: str) -> str:
    """The name as its identity: letter case does not count either."""
    return display_name(display_name(name).casefold())


@lru_cache(_CACHED_NAMES)
def folded_name(name: str) -> str:
    """The name for loose comparison: without accents, punctuation and a leading article.

    Cached, as each query compares with every name of its user.
    """
    return folded_text(name)


def folded_text(text: str) -> str:
    """A text of any length, folded like a name."""
    decomposed = unicodedata.normalize("NFKD", _ARTICLE.sub("", display_name(text)).casefold())
    letters = "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_LETTERS)
    return " ".join(_NOT_WORD.sub(" ", letters.replace("_", " ")).split())


def has_control_characters(text: str) -> bool:
    """Whether there are any: a name has none."""
    return any(unicodedata.category(c) == "Cc" for c in text)
