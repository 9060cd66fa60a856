"""Names: the key that makes an entity's identity, and the looser key that links text to it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"\w+")
_MAX_TOKENS = 10
_MAX_TOKEN_LENGTH = 100
_MIN_LENGTH = 3


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
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
    """The name as it is shown: NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def name_key(name: str) -> str:
    """The key of an entity's identity: NFC, case-folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def link_token(word: str) -> str:
    """One word as the linking key has it: case-folded, without accents, never empty, no white space."""
    if word.isascii():
        return word.lower()
    return _folded(word).replace(" ", "") or word


@lru_cache(maxsize=8_192)  # a write asks for each of its names several times
def link_key(name: str) -> str:
    """The looser key by which text is linked to names: `\\w+` words, case and accents ignored."""
    key = name_key(name)
    words = key if key.isascii() else _folded(key)
    return " ".join(WORD.findall(words))


def is_linkable(name: str) -> bool:
    """Whether text is linked to this name: 1–10 words, no lone stop word or month, 3 characters or more."""
    words = link_key(name).split()
    if not 1 <= len(words) <= _MAX_TOKENS or len(name_key(name)) < _MIN_LENGTH:
        return False
    if any(len(word) > _MAX_TOKEN_LENGTH for word in words):
        return False
    return len(words) > 1 or not is_common(words[0])


def is_common(word: str) -> bool:
    """Whether a folded word alone names nothing: a stop word, a month, a day of the week, a number."""
    return word in STOP_WORDS or word in MONTHS or word in WEEKDAYS or word.isdigit()


def title_names(title: str) -> tuple[str, ...]:
    """The names that a document's title gives: the title, and the title without a trailing `(…)`."""
    whole = clean_name(title)
    names = [whole]
    if whole.endswith(")") and " (" in whole:
        names.append(whole[: whole.rindex(" (")].strip())
    return tuple(dict.fromkeys(name for name in names if is_linkable(name)))


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(char for char in plain if not unicodedata.combining(char))
    return " ".join(kept.casefold().split())
