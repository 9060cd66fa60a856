"""Words as full text compares them, escaped Lucene queries, and stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import islice

from Stemmer import Stemmer

from services.graph_query.core.names import (
    STOP_WORDS,
    WORD,
    link_key,
    link_token,
    relation_term,
    word_set,
)
from services.graph_query.core.tokens import tokenize

# Thai, Lao, Myanmar, Khmer, Japanese, Chinese, Korean.
_UNSPACED = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1100-\u11ff\u1780-\u17dc\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff"
    "\u3105-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)


_RUN = re.compile(rf"(?:(?=\w)[{_UNSPACED}])+")


_PART = re.compile(rf"{_RUN.pattern}|[^\W{_UNSPACED}]+")


# Lucene treats each of these as a word of its own, so a pair is found as a phrase.
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
    """Returns the lower-case word without accents: é as e, ß as ss; й stays, as it is a letter distinct from и."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFD", word.replace("ß", "ss").translate(_LETTERS))
    return unicodedata.normalize("NFC", _MARKED.sub(r"\1\2\3", plain))


def words_of_query(text: str) -> Iterator[str]:
    """Yields the words to search for, in order: accented words in both forms, runs without spaces as pairs."""
    for word in _parts(text):
        if _RUN.match(word):
            yield from _pairs(word) or [word]
        else:
            yield from dict.fromkeys((plain_word(word), word))


def added_words(text: str) -> str | None:
    """Returns the words to index in addition to a text so that `words_of_query` finds it; None if none are needed."""
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
    """Returns all words that a text is found by."""
    words = {match.group().lower() for match in WORD.finditer(text)}
    for word in _parts(text):
        words.update((*_pairs(word), *word) if _RUN.match(word) else (word, plain_word(word)))
    return words


def parts_of_runs(text: str, max_letters: int) -> Iterator[str]:
    """Returns all parts of runs without spaces that may be names: two letters or more."""
    for word in _parts(text):
        if _RUN.match(word):
            for start in range(len(word) - 1):
                for end in range(start + 2, min(start + max_letters, len(word)) + 1):
                    yield word[start:end]


def _parts(text: str) -> Iterator[str]:
    if text.isascii():
        return (match.group().lower() for match in WORD.finditer(text))
    text = unicodedata.normalize("NFKC", text)
    # Vowel signs of Thai and similar scripts are not letters here, and would split a word.
    text = "".join(char for char in text if not _is_vowel_sign(char))
    return (match.group().lower() for match in _PART.finditer(text))


def _is_vowel_sign(char: str) -> bool:
    return "\u0e00" <= char < "\u1800" and unicodedata.category(char).startswith("M")


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


_PIECE = re.compile(r"[A-Za-z0-9]+")


_MAX_TERMS = 64


_MAX_TERM_LENGTH = 100


_MAX_CLAUSES = 500


_MAX_NAME_WORDS = 10


# Applies to names in a script without spaces.
_MAX_NAME_LETTERS = 8


_MAX_RUN_PARTS = 100


_MAX_NAME_KEYS = 200


# Lucene's own English stop words: the analyzer drops them, so a clause of stop words alone would match nothing.
_ANALYZER_STOP_WORDS = word_set(
    """a an and are as at be but by for if in into is it no not of on or such that the their then
    there these they this to was will with"""
)


def query_terms(text: str) -> list[str]:
    """Returns the words of a question that are worth searching for, in order and without duplicates."""
    words = (word for word in words_of_query(text) if WORD.fullmatch(word))
    kept = (word for word in words if word not in STOP_WORDS and len(word) <= _MAX_TERM_LENGTH)
    return list(dict.fromkeys(kept))[:_MAX_TERMS]


def words_query(space: str, fields: Sequence[str], terms: Sequence[str]) -> str:
    """Builds a query for any of the terms in any of the fields, within the space; "" without terms."""
    if not terms:
        return ""
    text = " ".join(f'{field}:"{term}"' for field in fields for term in terms)
    return f"{_space_clause(space)}+({text})"


def ends_clause(entities: Sequence[str]) -> str:
    """Builds a filter for facts with one of these entities at either end; "" for no filter. Uuids need no escaping.

    A fact has half of each end's uuid as a word. No two entities share it, and it is short enough to be stored in the
    fact's own record.
    """
    if not entities:
        return ""
    text = " ".join(f'braid_ends:"{uuid[:18].replace("-", "")}"' for uuid in entities)
    return f" +({text})"


def relation_clause(relation: str) -> str:
    """Builds a filter for facts of a relation, given by its key; "" for no filter, or where it would hide facts.

    Facts stored before relations had terms are matched by the words of their names, which were ASCII. The result may
    include relations that the analyzer does not distinguish, and lacks relations whose names are stop words alone.
    """
    if not relation:
        return ""
    term = f'braid_ends:"{relation_term(relation)}"'
    if not relation.isascii():
        return f" +{term}^0"
    pieces = _PIECE.findall(relation)
    if all(piece in _ANALYZER_STOP_WORDS for piece in pieces):
        return ""
    return f' +({term} name:"{" ".join(WORD.findall(relation))}")^0'


def phrase_queries(space: str, phrases: Iterable[str]) -> Iterator[str]:
    """Builds queries for passages that contain any of the word sequences, up to 500 per query.

    The analyzer of these fields splits at white space and changes nothing.
    """
    wanted = sorted(phrases)
    for start in range(0, len(wanted), _MAX_CLAUSES):
        text = " ".join(f'words:"{phrase}"' for phrase in wanted[start : start + _MAX_CLAUSES])
        yield f'+group_id:"{space}" +({text})'


def name_candidates(question: str) -> list[str]:
    """Returns linking keys that a question may name entities by, longest first."""
    keys: dict[str, int] = {}
    for sentence in tokenize(question):
        for start in range(len(sentence.words)):
            for end in range(start + 1, min(start + _MAX_NAME_WORDS, len(sentence.words)) + 1):
                if end - start == 1 and not _can_stand_alone(sentence.text, sentence.spans[start]):
                    continue
                keys.setdefault(" ".join(sentence.words[start:end]), end - start)
    for letters in islice(parts_of_runs(question, _MAX_NAME_LETTERS), _MAX_RUN_PARTS):
        keys.setdefault(link_key(letters), 1)
    return sorted(keys, key=lambda key: (-keys[key], key))[-_MAX_NAME_KEYS:]


def _can_stand_alone(text: str, span: tuple[int, int]) -> bool:
    word = text[span[0] : span[1]]
    return not word[0].islower() and link_token(word) not in STOP_WORDS


def _space_clause(space: str) -> str:
    """Builds the clause that filters by space; empty where the analyzer would drop the space's name."""
    pieces = [piece.lower() for piece in _PIECE.findall(space)]
    if all(piece in _ANALYZER_STOP_WORDS for piece in pieces):
        return ""
    # Without a boost the clause is a filter: the space does not affect relevance, and scoring it would cost time.
    return f'+group_id:"{space}"^0 '


_SHORTEST_BEGINNING = 3


# Longer stems keep one letter more, as they resemble more words.
_LONGER_STEM = 6


def question_stems(text: str) -> frozenset[str]:
    """Returns the stems of the words of a question that are worth searching for, each word once in any spelling."""
    return stems_of(query_terms(_split_words(text)))


@lru_cache(maxsize=16_384)
def text_stems(text: str) -> frozenset[str]:
    """Returns the stems of all words of a statement or of a relation's name."""
    return stems_of(all_words(_split_words(text)))


def stems_of(words: Iterable[str]) -> frozenset[str]:
    """Returns the stems of lower-case words without accents."""
    return frozenset(_stem(link_token(plain_word(word))) for word in words)


def names_relation(stems: Set[str], relation: str) -> bool:
    """Returns whether one of these stems of a question names a relation: `owner` and `leader` name OWNS and LEADS."""
    return any(_is_alike(stem, own) for own in _relation_stems(relation) for stem in stems)


def relation_beginnings(terms: Sequence[str]) -> list[str]:
    """Returns prefixes of three or four letters that the key of a relation named by one of the terms may contain."""
    stems = sorted(stem for stem in stems_of(terms) if len(stem) >= _SHORTEST_BEGINNING)
    return list(
        dict.fromkeys(stem[: _SHORTEST_BEGINNING + (len(stem) >= _LONGER_STEM)] for stem in stems)
    )


@lru_cache(maxsize=8_192)
def _relation_stems(relation: str) -> frozenset[str]:
    return stems_of(all_words(_split_words(relation)) - STOP_WORDS)


def _is_alike(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _SHORTEST_BEGINNING and longer.startswith(shorter))


def _split_words(text: str) -> str:
    """Splits names such as WORKS_AT into words."""
    return text.replace("_", " ")


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    stem: str = Stemmer("english").stemWord(word)
    return stem
