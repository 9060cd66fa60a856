"""Words as full text compares them: without accents, and in pairs of letters where a script has no spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from services.graph_query.names import WORD

# Thai, Lao, Myanmar, Khmer, Japanese, Chinese, Korean.
_UNSPACED = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1100-\u11ff\u1780-\u17dc\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff"
    "\u3105-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"(?:(?=\w)[{_UNSPACED}])+")
_PART = re.compile(rf"{_RUN.pattern}|[^\W{_UNSPACED}]+")
# Lucene takes each of these for a word already, so that a pair is found as a phrase.
_SINGLE = re.compile(
    "[\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LETTERS = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ı": "i",
        "ŧ": "t",
        "ŋ": "n",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
    }
)
_MARKED = re.compile(
    "([a-z\u0180-\u02af\u0370-\u03ff])[\u0300-\u036f]+|([аеиоуыэюяі])[\u0300\u0301]+|(е)\u0308"
)


def plain_word(word: str) -> str:
    """A lower-case word without its accents: é as e, ß as ss; й stays, being another letter than и."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFD", word.replace("ß", "ss").translate(_LETTERS))
    return unicodedata.normalize("NFC", _MARKED.sub(r"\1\2\3", plain))


def words_of_query(text: str) -> Iterator[str]:
    """The words to look for, in order: one with accents without them and as it is; pairs of a run without spaces."""
    for word in _parts(text):
        if _RUN.match(word):
            yield from _pairs(word) or [word]
        else:
            yield from dict.fromkeys((plain_word(word), word))


def added_words(text: str) -> str | None:
    """What an index of words needs beside a text so that `words_of_query` finds it; None where it needs no more."""
    if text.isascii():
        return None
    added: list[str] = []
    for word in _parts(text):
        if _RUN.match(word):
            if not _SINGLE.fullmatch(word):
                added.extend((*_pairs(word), *word))
        elif (plain := plain_word(word)) != word:
            added.append(plain)
    return " ".join(added) or None


def all_words(text: str) -> set[str]:
    """All words that a text is found by."""
    words = {match.group().lower() for match in WORD.finditer(text)}
    for word in _parts(text):
        words.update((*_pairs(word), *word) if _RUN.match(word) else (word, plain_word(word)))
    return words


def parts_of_runs(text: str, max_letters: int) -> Iterator[str]:
    """All that stands in runs without spaces and may be a name: two letters or more."""
    for word in _parts(text):
        if _RUN.match(word):
            for start in range(len(word) - 1):
                for end in range(start + 2, min(start + max_letters, len(word)) + 1):
                    yield word[start:end]


def _parts(text: str) -> Iterator[str]:
    if text.isascii():
        return (match.group().lower() for match in WORD.finditer(text))
    text = unicodedata.normalize("NFKC", text)
    # Vowel signs of Thai and its like are no letters here, and would part a word.
    text = "".join(char for char in text if not _is_vowel_sign(char))
    return (match.group().lower() for match in _PART.finditer(text))


def _is_vowel_sign(char: str) -> bool:
    return "\u0e00" <= char < "\u1800" and unicodedata.category(char).startswith("M")


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]
