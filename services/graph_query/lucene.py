"""Full-text queries that no text can break out of: quoted words of letters and digits, joined by OR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from services.graph_query.extraction.tokens import tokenize
from services.graph_query.names import STOP_WORDS, WORD, link_key, link_token, word_set
from services.graph_query.plain_words import parts_of_runs, words_of_query
from services.graph_query.relations import relation_term

_PIECE = re.compile(r"[A-Za-z0-9]+")
_MAX_TERMS = 64
_MAX_TERM_LENGTH = 100
_MAX_CLAUSES = 500
_MAX_NAME_WORDS = 10
# Of a name in a script without spaces.
_MAX_NAME_LETTERS = 8
_MAX_RUN_PARTS = 100
_MAX_NAME_KEYS = 200
# Lucene's own English stop words: the analyzer drops them, so a clause of these alone would match nothing.
_ANALYZER_STOP_WORDS = word_set(
    """a an and are as at be but by for if in into is it no not of on or such that the their then
    there these they this to was will with"""
)


def query_terms(text: str) -> list[str]:
    """The words of a question that are worth looking for, in order, each once."""
    words = (word for word in words_of_query(text) if WORD.fullmatch(word))
    kept = (word for word in words if word not in STOP_WORDS and len(word) <= _MAX_TERM_LENGTH)
    return list(dict.fromkeys(kept))[:_MAX_TERMS]


def words_query(space: str, fields: Sequence[str], terms: Sequence[str]) -> str:
    """Any of the terms in any of the fields, within the space; "" when there are no terms."""
    if not terms:
        return ""
    told = " ".join(f'{field}:"{term}"' for field in fields for term in terms)
    return f"{_space_clause(space)}+({told})"


def ends_clause(entities: Sequence[str]) -> str:
    """Only facts with one of these entities at either end; "" for no such filter. Uuids are ours.

    A fact has half of each end's uuid as a word: no two entities share it, and it is short enough to lie in the
    fact's own record.
    """
    if not entities:
        return ""
    told = " ".join(f'braid_ends:"{uuid[:18].replace("-", "")}"' for uuid in entities)
    return f" +({told})"


def relation_clause(relation: str) -> str:
    """Only facts of a relation, given by its key; "" for no such filter, or where it would hide facts.

    Facts from before relations had terms are found by the words of their names, which were ASCII: among them are some
    that the analyzer takes for the same, and none whose name is stop words alone.
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
    """Passages in which any of the word sequences stands, some hundred to a query.

    The analyzer of these fields splits at white space and changes nothing.
    """
    wanted = sorted(phrases)
    for start in range(0, len(wanted), _MAX_CLAUSES):
        told = " ".join(f'words:"{phrase}"' for phrase in wanted[start : start + _MAX_CLAUSES])
        yield f'+group_id:"{space}" +({told})'


def name_candidates(question: str) -> list[str]:
    """Linking keys that a question may name entities by, longest first."""
    keys: dict[str, int] = {}
    for sentence in tokenize(question):
        for start in range(len(sentence.words)):
            for end in range(start + 1, min(start + _MAX_NAME_WORDS, len(sentence.words)) + 1):
                if end - start == 1 and not _may_stand_alone(sentence.text, sentence.spans[start]):
                    continue
                keys.setdefault(" ".join(sentence.words[start:end]), end - start)
    for letters in islice(parts_of_runs(question, _MAX_NAME_LETTERS), _MAX_RUN_PARTS):
        keys.setdefault(link_key(letters), 1)
    return sorted(keys, key=lambda key: (-keys[key], key))[-_MAX_NAME_KEYS:]


def _may_stand_alone(text: str, span: tuple[int, int]) -> bool:
    word = text[span[0] : span[1]]
    return not word[0].islower() and link_token(word) not in STOP_WORDS


def _space_clause(space: str) -> str:
    """The space inside the query. Left out where the analyzer would leave nothing of it."""
    pieces = [piece.lower() for piece in _PIECE.findall(space)]
    if all(piece in _ANALYZER_STOP_WORDS for piece in pieces):
        return ""
    # Without a boost the clause is a filter: the space makes no fact more relevant, and costs no scoring.
    return f'+group_id:"{space}"^0 '
