"""Splits a sentence into tokens; contractions become the words that they stand for."""

import re
from dataclasses import dataclass
from itertools import islice

from services.agent_orchestrator.entity_memory.extraction.own_text import PLACEHOLDER
from services.agent_orchestrator.entity_memory.extraction.word_classes import MULTIWORD

MAX_TOKENS = 160
"""What is read of a sentence; a longer one is no sentence that anybody says."""

_TOKEN = re.compile(
    rf"""{PLACEHOLDER}|\.NET(?:\s?(?:Core|\d{{1,9}}))?\b|[A-Z]{{1,3}}/[A-Z]{{1,3}}(?:/[A-Z]{{1,3}})?\b|[A-Za-z]'[A-Z]\w+|[A-Z]&[A-Z]\b|AT&T|
    [^\W_][\w]*(?:[.\-'’@&]{{1,20}}[^\W_][\w]*)*[+\#]*(?:!_\w+)?|[,;:()\[\]—–/&]|-{{1,2}}|[.!?…]+""",
    re.VERBOSE,
)
_CONTRACTION = re.compile(r"^(.{1,60}?)(n't|'s|'m|'re|'ve|'d|'ll)$", re.IGNORECASE)
_UNAPOSTROPHED = {
    "dont": ("do", "n't"),
    "doesnt": ("does", "n't"),
    "didnt": ("did", "n't"),
    "isnt": ("is", "n't"),
    "arent": ("are", "n't"),
    "wasnt": ("was", "n't"),
    "cant": ("can", "n't"),
    "wont": ("will", "n't"),
    "im": ("i", "'m"),
    "ive": ("i", "'ve"),
    "weve": ("we", "'ve"),
    "cannot": ("can", "n't"),
    "havent": ("have", "n't"),
    "hasnt": ("has", "n't"),
    "youre": ("you", "'re"),
    "theyre": ("they", "'re"),
    "thats": ("that", "'s"),
    "wouldnt": ("would", "n't"),
    "couldnt": ("could", "n't"),
    "shouldnt": ("should", "n't"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "gotta": ("got", "to"),
    "lemme": ("let", "me"),
    "whats": ("what", "'s"),
    "youve": ("you", "'ve"),
    "theyve": ("they", "'ve"),
    "hes": ("he", "'s"),
    "shes": ("she", "'s"),
}


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    lower: str
    """The lower-case word, or the name of a multi-word expression ("no_longer")."""
    first: bool = False
    """Whether a capital letter says nothing here: the first word of a sentence or of a heading."""

    @property
    def is_word(self) -> bool:
        return self.text[:1].isalnum() or self.text.startswith((".NET", "'", "n'"))

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper() or self.text.startswith(".NET")


def tokenize(sentence: str) -> list[Token]:
    words = [
        match.group() for match in islice(_TOKEN.finditer(sentence.replace("’", "'")), MAX_TOKENS)
    ]
    tokens: list[Token] = []
    first = True
    for word in words:
        tokens.extend(Token(part, _normal(part), first) for part in _parts(word))
        first = not (word[0].isalnum() or word == PLACEHOLDER) and first
    return _joined(tokens)


def _normal(word: str) -> str:
    lower = word.lower()
    return {
        "n't": "not",
        "'ll": "will",
        "'em": "them",
        "u": "you",
        "r": "are",
        "n": "and",
        "pls": "please",
    }.get(lower, lower)


def _parts(word: str) -> tuple[str, ...]:
    known = _UNAPOSTROPHED.get(word.lower())
    if known is not None:
        head = word[0] + known[0][1:] if word[0].isupper() else known[0]
        return (head, known[1])
    if word.lower() in {"won't", "can't", "shan't"}:
        return ({"won't": "will", "can't": "can", "shan't": "shall"}[word.lower()], "n't")
    if word.lower() == "let's":
        return ("let", "us")
    match = _CONTRACTION.match(word)
    if match is None:
        return (word.rstrip("'"),) if len(word) > 1 and word.endswith("'") else (word,)
    head, tail = match.groups()
    return (*_parts(head), tail)


def _joined(tokens: list[Token]) -> list[Token]:
    """Joins multi-word expressions of function words to one token."""
    joined: list[Token] = []
    place = 0
    while place < len(tokens):
        for width in (4, 3, 2):
            part = tokens[place : place + width]
            name = (
                MULTIWORD.get(tuple(token.lower for token in part)) if len(part) == width else None
            )
            if name is not None:
                joined.append(
                    Token(" ".join(token.text for token in part).lower(), name, part[0].first)
                )
                place += width
                break
        else:
            joined.append(tokens[place])
            place += 1
    return joined
