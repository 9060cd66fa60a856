"""Forms of a name for comparison: exact except for letter case and whitespace, or loose."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

MAX_NAME_LENGTH: Final = 200
_CACHED_NAMES: Final = 50_000
_ARTICLE: Final = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_NOT_WORD: Final = re.compile(r"[^\w+#]+")
# Letters that Unicode decomposition does not change.
_LETTERS: Final = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i"})


def display_name(name: str) -> str:
    """Returns the name as displayed: NFC, whitespace collapsed."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def canonical_name(name: str) -> str:
    """Returns the name as identity: the display name without letter case."""
    return display_name(display_name(name).casefold())


@lru_cache(_CACHED_NAMES)
def folded_name(name: str) -> str:
    """Returns the name for loose comparison: without accents, punctuation and a leading article.

    Cached, because each query is compared with every name of its user.
    """
    return folded_text(name)


def folded_text(text: str) -> str:
    """Folds a text of any length like a name."""
    decomposed = unicodedata.normalize("NFKD", _ARTICLE.sub("", display_name(text)).casefold())
    letters = "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_LETTERS)
    return " ".join(_NOT_WORD.sub(" ", letters.replace("_", " ")).split())


def has_control_characters(text: str) -> bool:
    """Whether a text contains control characters, which names must not."""
    return any(unicodedata.category(c) == "Cc" for c in text)
