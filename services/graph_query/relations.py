"""Relation names: how one is shown, and the key that all comparisons of them go by.

The rule for names that callers give stands in the contract (`FactInput.relation`).
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from hashlib import sha256

from services.graph_query.names import clean_name

# Dashes and apostrophes are typed in several ways; joiners only shape the letters beside them.
_SAME = str.maketrans({"‐": "-", "‑": "-", "–": "-", "’": "'", "\u200c": None, "\u200d": None})
# Canonical combining classes. An overlay; the optional vowel points of Hebrew, Arabic and Syriac; and whatever stands
# above or below a letter. Others belong to the letter: Indic nuktas and viramas, kana voicing, Thai vowels.
_OVERLAY = 1
_POINTS = range(10, 37)
_FIRST_ACCENT = 200
_TERM_LENGTH = 16


def clean_relation(name: str) -> str:
    """The name as it is shown: NFC, white space collapsed."""
    return clean_name(name)


@lru_cache(maxsize=8_192)  # a batch of facts has few relations
def relation_key(name: str) -> str:
    """The name as it is compared: without letter case, accents and repeated white space. The key of a key is itself."""
    if name.isascii():
        return " ".join(name.lower().split())
    # Folding a letter can bring out an accent, and joining what is left another letter to fold.
    key, former = name, ""
    while key != former:
        key, former = _folded(key), key
    # Accents alone are a name that no relation has, and not the empty one, which stands for all.
    return key or clean_name(name)


def relation_term(name: str) -> str:
    """One word that stands for the relation in the full-text index, whatever the script of its name: 16 hex digits.

    Neo4j keeps up to 54 of them in the fact's own record: two ends and a relation fit.
    """
    return sha256(relation_key(name).encode()).hexdigest()[:_TERM_LENGTH]


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.translate(_SAME))
    kept = "".join(char for char in apart if not _is_accent(char))
    return " ".join(unicodedata.normalize("NFKC", kept.casefold()).split())


def _is_accent(char: str) -> bool:
    kind = unicodedata.combining(char)
    return kind == _OVERLAY or kind in _POINTS or kind >= _FIRST_ACCENT
