"""Names and relations: comparison keys, display forms and reserved names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from services.runtime.errors import FieldError, InvalidFieldError

WORD = re.compile(r"\w+")


_MAX_TOKENS = 10


_MAX_TOKEN_LENGTH = 100


_MIN_LENGTH = 3


def word_set(text: str) -> frozenset[str]:
    """Returns the words of a text as a set."""
    return frozenset(text.split())


MONTHS = word_set(
    """january february march april may june july august september october november december"""
)


WEEKDAYS = word_set("""monday tuesday wednesday thursday friday saturday sunday""")


STOP_WORDS = word_set(
    """a about after again against all although also am among an and another any are as at be
    because been before being between both but by can could despite did do does during each
    either else even ever every few finally first following for from had has have he hence her
    here hers him his how however i if in indeed instead into is it its itself just last later
    like many may me meanwhile might more moreover most much my neither never next no nor not
    nothing now of off on once one only onto or other others our out over own per perhaps please
    rather second several she should since so some still such than that the their them then
    there therefore these they third this those though three through throughout thus to today
    together too two under until unless up upon us was we well were what when where whereas
    whether which while who whom whose why will with within without would yes yet you your"""
)


def clean_name(name: str) -> str:
    """Returns the display form of a name: NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def name_key(name: str) -> str:
    """Returns the key of an entity's identity: NFC, case-folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def link_token(word: str) -> str:
    """Returns one word as it appears in a linking key: case-folded, without accents and white space, never empty."""
    if word.isascii():
        return word.lower()
    return _folded(word).replace(" ", "") or word


@lru_cache(maxsize=8_192)  # A write needs each name's key several times.
def link_key(name: str) -> str:
    """Returns the looser key that links text to names: its words, ignoring case and accents."""
    key = name_key(name)
    words = key if key.isascii() else _folded(key)
    return " ".join(WORD.findall(words))


def is_linkable(name: str) -> bool:
    """Returns whether text is linked to this name: 1–10 words, 3 characters or more, no lone stop word or month."""
    words = link_key(name).split()
    if not 1 <= len(words) <= _MAX_TOKENS or len(name_key(name)) < _MIN_LENGTH:
        return False
    if any(len(word) > _MAX_TOKEN_LENGTH for word in words):
        return False
    return len(words) > 1 or not is_common(words[0])


def is_common(word: str) -> bool:
    """Returns whether a folded word alone names nothing: a stop word, a month, a day of the week, a number."""
    return word in STOP_WORDS or word in MONTHS or word in WEEKDAYS or word.isdigit()


def title_names(title: str) -> tuple[str, ...]:
    """Returns the names in a document's title: the title, and the title without a trailing `(…)`."""
    whole = clean_name(title)
    names = [whole]
    if whole.endswith(")") and " (" in whole:
        names.append(whole[: whole.rindex(" (")].strip())
    return tuple(dict.fromkeys(name for name in names if is_linkable(name)))


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(char for char in plain if not unicodedata.combining(char))
    return " ".join(kept.casefold().split())


# Dashes and apostrophes have several code points; joiners only affect the shape of adjacent letters.
_SAME = str.maketrans({"‐": "-", "‑": "-", "–": "-", "’": "'", "\u200c": None, "\u200d": None})


# Canonical combining classes: overlays; the optional vowel points of Hebrew, Arabic and Syriac; and marks above or
# below a letter. Other marks are part of the letter: Indic nuktas and viramas, kana voicing, Thai vowels.
_OVERLAY = 1


_POINTS = range(10, 37)


_FIRST_ACCENT = 200


_TERM_LENGTH = 16


def clean_relation(name: str) -> str:
    """Returns the display form of a relation's name: NFC, white space collapsed."""
    return clean_name(name)


@lru_cache(maxsize=8_192)  # A batch of facts has few distinct relations.
def relation_key(name: str) -> str:
    """Returns a relation's comparison key, without case, accents and repeated white space. Idempotent."""
    if name.isascii():
        return " ".join(name.lower().split())
    # Case folding can produce an accent, and normalizing the rest can produce another letter to fold.
    key, former = name, ""
    while key != former:
        key, former = _folded_relation(key), key
    # A name of accents alone must not map to the empty key, which matches every relation.
    return key or clean_name(name)


def relation_term(name: str) -> str:
    """Returns one word for the relation in the full-text index, whatever the script of its name: 16 hex digits.

    Neo4j stores up to 54 of them in the fact's own record: two ends and a relation fit.
    """
    return sha256(relation_key(name).encode()).hexdigest()[:_TERM_LENGTH]


def _folded_relation(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.translate(_SAME))
    kept = "".join(char for char in apart if not _is_accent(char))
    return " ".join(unicodedata.normalize("NFKC", kept.casefold()).split())


def _is_accent(char: str) -> bool:
    kind = unicodedata.combining(char)
    return kind == _OVERLAY or kind in _POINTS or kind >= _FIRST_ACCENT


class Source(IntEnum):
    """The source of a spelling; the smaller value is preferred."""

    TITLE = 0
    STATED = 1
    TEXT = 2


class Spelling(NamedTuple):
    """A name as written in some source."""

    source: int
    text: str


def best(spellings: Iterable[Spelling]) -> Spelling:
    """Returns the preferred spelling.

    A title's spelling comes before a stated fact's, and that before a sentence's; then mixed case before capitals or
    lower case alone; then the order of characters.
    """
    return min(spellings, key=_preference)


def _preference(spelling: Spelling) -> tuple[int, bool, str]:
    text = spelling.text
    return spelling.source, text in (text.upper(), text.lower()), text


def filter_key(text: str, field: str) -> str:
    """Returns the key of a name to filter by, "" if none is given. Raises InvalidFieldError for white space alone."""
    key = name_key(text)
    if text and not key:
        raise InvalidFieldError(FieldError(field, "must not be blank"))
    return key


RESERVED_OF_FACTS = word_set(
    """uuid group_id name relation_key fact fact_embedding episodes created_at expired_at valid_at invalid_at
    reference_time valid_from valid_until origin source_node_uuid target_node_uuid source_uuid
    target_uuid attribute_names attributes stated_at stated_until next_model next_embedding
    braid_known_from braid_cause braid_ended_by braid_ends braid_words"""
)


RESERVED_OF_ENTITIES = word_set(
    """uuid group_id name name_embedding name_source labels created_at summary attributes attribute_names
    next_model next_embedding braid_types braid_types_until"""
)


# Graphiti renames relations that do not fit to the first; the second joins duplicates; the third belongs to the local
# graph.
RESERVED_RELATIONS = frozenset({"RELATES_TO", "IS_DUPLICATE_OF", "CO_OCCURS"})


# A type becomes a label of its entity; these labels already have a meaning in the graph.
RESERVED_TYPES = word_set(
    """BraidDeletion BraidFactAlias BraidFactSource BraidFinding BraidIdempotencyKey BraidOntology BraidPassage
    BraidPastClaim BraidPastEnding BraidPastFact BraidQuarantine BraidQuarantined BraidSchema BraidSentence
    BraidSource BraidSpace BraidSubject Community Document Entity EntityName Episodic FactClaim FactEnding
    FactVersion Saga"""
)


MAX_KEY_LENGTH = 200


def key_refusal(key: str) -> str | None:
    """Returns why an attribute cannot have this name in the graph; None if it can."""
    if not key.strip():
        return "a name must not be blank"
    if "\0" in key:
        return "a name must not contain NUL"
    if len(key) > MAX_KEY_LENGTH:
        return f"a name must have {MAX_KEY_LENGTH} characters at most"
    return None
