"""BM25, fusion and order of hits in plain Python, as the SQL functions define them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from services.models.embedding.relevance import bend
from services.vector_search.domain import FusionKind, Scores

K1 = 1.5
B = 0.75
RRF_K = 60
FUSED_POOL = 100
FULL_SHARE = 2 / 3
_STOP_WORDS = frozenset(
    {
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
    }
)

# Thai, Japanese, Chinese and Korean, which suffice for tests.
_UNSPACED = "\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"

Terms = Counter[str]


def words_of(text: str) -> list[str]:
    """Returns the words in order, in lower case, normalized, without accents and with stop words. No stemming.

    In scripts without spaces the words are the pairs of adjacent letters, and the last letter.
    """
    words = []
    for word in _words_as_written(text):
        pairs = _pairs(word)
        words.extend([*pairs, word[-1]] if pairs else [_without_accents(word)])
    return words


def terms_of(text: str) -> Terms:
    """Returns the words of a document with their counts, without stop words."""
    terms = query_terms(text)
    terms.update(letter for word in _words_as_written(text) if _pairs(word) for letter in word)
    return terms


def query_terms(text: str) -> Terms:
    """Returns the words of a query with their counts, without stop words."""
    terms = Terms()
    for word in _words_as_written(text):
        if word not in _STOP_WORDS:
            terms.update(_pairs(word) or [_without_accents(word)])
    return terms


def holds_phrase(text: str, phrase: str) -> bool:
    """Returns whether the phrase's words are consecutive in `text`; a stop word matches any one word."""
    wanted = words_of(phrase)
    places = [i for i, word in enumerate(wanted) if word not in _STOP_WORDS]
    if not places:
        return False
    words = words_of(text)
    return any(
        all(_begins(words[start + i - places[0]], wanted[i]) for i in places)
        for start in range(len(words) - places[-1] + places[0])
    )


def _begins(word: str, wanted: str) -> bool:
    """Returns whether a word is the wanted one, or a pair of letters that begins with the wanted letter."""
    return word == wanted or (_is_unspaced(wanted) and word[:1] == wanted)


def _words_as_written(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text.replace("\u00ad", ""))
    return re.findall(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+", plain.lower())


def _pairs(word: str) -> list[str]:
    return [word[i : i + 2] for i in range(len(word) - 1)] if _is_unspaced(word) else []


def _is_unspaced(word: str) -> bool:
    return re.match(f"[{_UNSPACED}]", word) is not None


def _without_accents(word: str) -> str:
    plain = unicodedata.normalize("NFD", word)
    return "".join(char for char in plain if not unicodedata.combining(char))


def completed(query: str, documents: Iterable[Terms], limit: int) -> Terms:
    """Returns the query's terms, and the most frequent terms of the documents that begin with its last word."""
    found = Counter(term for terms in documents for term in terms)
    beginning = [word for word in words_of(query) if word in query_terms(query)][-1:]
    like = [term for term in found if beginning and term.startswith(beginning[0])]
    best = sorted(like, key=lambda term: (-found[term], term))[:limit]
    return query_terms(query) | Counter(best)


def bm25(query: Terms, documents: Mapping[str, Terms], corpus: Iterable[Terms]) -> dict[str, float]:
    """Returns the scores above 0 of `documents` by id, with the statistics of `corpus`."""
    population = list(corpus)
    average = sum(sum(terms.values()) for terms in population) / max(len(population), 1) or 1.0
    scores: dict[str, float] = {}
    for term in query:
        df = sum(term in terms for terms in population)
        weight = math.log(1 + (len(population) - df + 0.5) / (df + 0.5))
        for key, terms in documents.items():
            if tf := terms[term]:
                norm = K1 * (1 - B + B * sum(terms.values()) / average)
                scores[key] = scores.get(key, 0.0) + weight * tf * (K1 + 1) / (tf + norm)
    return scores


def full_text_score(query: Terms, corpus: Iterable[Terms]) -> float:
    """Returns two thirds of the score of an average-length chunk that contains each of the query's words once."""
    population = list(corpus)
    counts = (sum(term in terms for terms in population) for term in query)
    return FULL_SHARE * sum(
        math.log(1 + (len(population) - df + 0.5) / (df + 0.5)) for df in counts
    )


def ranked(scores: Mapping[str, float], limit: int) -> list[str]:
    """Returns the best ids, highest score first; equal scores by id."""
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]


def fuse(
    vector: Mapping[str, float],
    text: Mapping[str, float],
    *,
    full: float,
    pool: int,
    text_weight: float,
    fusion: FusionKind,
) -> dict[str, tuple[float, Scores]]:
    """Fuses the best `pool` of both lists, with both exact scores; returns the score and its parts by id."""
    by_vector = {key: rank for rank, key in enumerate(ranked(vector, pool), 1)}
    by_text = {key: rank for rank, key in enumerate(ranked(text, pool), 1)}
    share = text_weight if vector else 1.0
    fused = {}
    for key in by_vector | by_text:
        cosine, words = vector.get(key), text.get(key, 0.0)
        ranks = (by_vector.get(key), by_text.get(key))
        if fusion is FusionKind.RECIPROCAL_RANK:
            parts = (_reciprocal(ranks[0]), _reciprocal(ranks[1]))
        else:
            parts = (max(cosine or 0.0, 0.0), words / full if full else 0.0)
        total = (1 - share) * parts[0] + share * parts[1]
        score = total if fusion is FusionKind.RECIPROCAL_RANK else bend(total)
        if score > 0:
            fused[key] = (score, _explained(cosine, words, parts, ranks))
    return fused


def _reciprocal(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / (RRF_K + rank)


def _explained(
    cosine: float | None,
    words: float,
    parts: tuple[float, float],
    ranks: tuple[int | None, int | None],
) -> Scores:
    return Scores(
        vector=cosine,
        text=words,
        vector_fused=None if cosine is None else parts[0],
        text_fused=parts[1],
        vector_rank=ranks[0],
        text_rank=ranks[1],
    )
