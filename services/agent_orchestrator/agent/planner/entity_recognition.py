"""Recognizes entities in a text: those that the space knows, or runs of capitalized words if it knows none."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from services.agent_orchestrator.agent.planner.language import FUNCTION_WORDS
from services.agent_orchestrator.agent.planner.wordlists import word_set
from services.runtime.patterns import compile_linear

# A capitalized word, a code such as INC-104, or an acronym; joined by whitespace or "of", but not by "and".
_RUN: Final = r"(?:[A-Z][\w&.'’+#-]*|[a-z]+[A-Z]\w*)(?:\s+(?:of\s+the\s+|of\s+)?(?:[A-Z][\w&'’+#-]*|\d+(?:\.\d+)*\b))*"
_HEADS: Final = "service|team|project|system|app|library|platform|product|department|office|company|group|gateway"
_RUN_WITH_HEAD: Final = compile_linear(rf"{_RUN}(?: (?:{_HEADS})\b)?")
# One or two lower-case words and a noun after an article are read as a name.
_CALLED: Final = re.compile(rf"\b(?:the|our|an?) ((?:[a-z][\w-]{{1,40}} ){{1,2}}(?:{_HEADS}))\b")
_CODE: Final = re.compile(r"\b[A-Za-z]{2,20}-\d{1,20}\b")
# No more names are read from one text.
_MAX_NAMES: Final = 64
_NOT_NAMES: Final = word_set(
    "january february march april may june july august september october november december monday",
    "tuesday wednesday thursday friday saturday sunday q1 q2 q3 q4 h1 h2 utc ok hi hello hey thanks i i'm i've",
    "i'd i'll let let's is does are was were did has have had can could should would will who's what's how's",
    "where's when's during since before after until as any anyone anybody each every anything everything please",
)
# Verbs and nouns that open a request: "Compare the teams".
_COMMANDS: Final = word_set(
    "compare summarise summarize explain describe list show tell give find name between according back remind",
    "search look check track trace walk outline provide analyse analyze identify determine detail count draw map",
    "plot see view display retrieve fetch return quote define report present summary history timeline",
)


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity by name, with its type if it is known. `is_known` is false for a name that only looks like one."""

    name: str
    type: str = ""
    is_known: bool = field(default=True, compare=False)


LinkEntities = Callable[[str], Awaitable[Sequence[KnownEntity]]]


def capitalised_names(text: str) -> list[KnownEntity]:
    """Returns runs of capitalized words, codes, and names with a common noun such as "the billing service", in order.

    A word that is capitalized only because it begins the sentence is not a name.
    """
    names: dict[str, str] = {}
    beginning = len(text) - len(text.lstrip())
    for found in _RUN_WITH_HEAD.finditer(text):
        name = _trimmed(found[0], opens=found.start() <= beginning)
        if name and name not in _HEADS.split("|"):
            names.setdefault(name.casefold(), name)
        if len(names) == _MAX_NAMES:
            break
    for code in islice(_CODE.finditer(text), _MAX_NAMES):
        if not any(code[0].casefold() in other for other in names):
            names[code[0].casefold()] = code[0]
    for called in islice(_CALLED.finditer(text), _MAX_NAMES):
        name = " ".join(word for word in called[1].split() if not _is_no_name(word))
        if " " in name and not any(_share(name, other) for other in names):
            names[name.casefold()] = name
    plain = text.casefold()
    return [KnownEntity(names[name], is_known=False) for name in sorted(names, key=plain.find)]


def _share(name: str, other: str) -> bool:
    """Whether one name contains the other."""
    first, second = name.casefold(), other.casefold()
    return first in second or second in first


def _trimmed(run: str, *, opens: bool) -> str:
    """Removes words that are not part of a name from a run; a command is removed only if it opens the text."""
    words = run.replace("’", "'").split()
    while words and (_is_no_name(words[0]) or (opens and words[0].casefold() in _COMMANDS)):
        words.pop(0)
    while words and (_is_no_name(words[-1]) or words[-1].isdigit()):
        words.pop()
    return " ".join(words).removesuffix("'s").rstrip(".'")


def _is_no_name(word: str) -> bool:
    plain = word.casefold().removesuffix("'s").rstrip(".")
    return plain in FUNCTION_WORDS or plain in _NOT_NAMES
