"""The goal of a question that no single sentence answers: a predecessor, a whole list, a number, a duration, a period.

Only the kind of the answer is recognized here. What is listed or counted is decided by reading facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from services.agent_orchestrator.agent.planner.language import FUNCTION_WORDS, fold, word_list
from services.agent_orchestrator.agent.planner.question import Question, without_times
from services.runtime.patterns import Pattern, compile_linear


class Goal(Enum):
    """What an answer has to be computed from facts and dates."""

    PREVIOUS = auto()
    NEXT = auto()
    FIRST = auto()
    LAST = auto()
    ALL = auto()
    COUNT = auto()
    COMPARE = auto()
    DURATION = auto()
    PERIOD = auto()
    STILL = auto()


def _words(*alternatives: str) -> Pattern:
    return compile_linear(rf"\b(?:{'|'.join(alternatives)})\b", ignore_case=True)


_STILL: Final = compile_linear(
    r"^\W*(?:and |but |so )?(?:is|are|am|do|does|has|have)(?:n't)?\b.*\b(?:still|any ?more|any longer)\b",
    ignore_case=True,
)
_DURATION: Final = _words("how long", "how many (?:years|months|weeks|days)")
_COUNT: Final = _words("how many", "(?:the|what) (?:total )?number of", "^count")
_COMPARE: Final = _words(
    "compar(?:e|es|ed|ing|ison)", "differ(?:s|ed|ence|ences|ent|ently)?", "versus", "vs"
)
_HAPPENED: Final = _words(
    r"what (?:\w+ ){0,3}(?:happened|happens|occurred|took place|went on)", "(?:any|the|which) news"
)
LEAVING: Final = _words("left", "leaves?", "leaving", "departed", "quit", "resigned", "retired")
JOINING: Final = _words("joined", "joins?", "joining", "arrived", "hired", "started")
_WHO: Final = _words("who", "which", "anyone", "anybody", "everyone", "list", "name")
_REPLACED: Final = "replaced|succeeded|followed|preceded"
_REPLACE: Final = "replaces?|succeeds?|follows?|takes? over from"
_AT_END: Final = r"(?: (?:as|in|at|on|for)\b.*)?\W*$"
# How another holder is asked for, and whether the known one stands behind or ahead of these words.
_NEIGHBORS: Final = (
    (Goal.NEXT, compile_linear(rf"(\b(?:{_REPLACED}) by){_AT_END}"), "ahead"),
    (Goal.PREVIOUS, compile_linear(rf"\b(?:did|does) .*\b(?:{_REPLACE})\b"), "ahead"),
    (Goal.PREVIOUS, _words(rf"(?:{_REPLACED}) by"), "behind"),
    (Goal.PREVIOUS, compile_linear(r"'s? predecessors?\b"), "ahead"),
    (Goal.NEXT, compile_linear(r"'s? successors?\b"), "ahead"),
    (
        Goal.PREVIOUS,
        _words("before", "prior to", "preced(?:ed|es|ing)", "predecessors? (?:of|to)"),
        "behind",
    ),
    (Goal.PREVIOUS, _words("previous(?:ly)?", "former(?:ly)?", "predecessors?", "used to"), ""),
    (
        Goal.NEXT,
        _words("after", "took over (?:.* )?from", _REPLACED, _REPLACE, "successors? (?:of|to)"),
        "behind",
    ),
)
_FIRST: Final = _words("first", "original(?:ly)?", "initial(?:ly)?", "earliest", "oldest")
_LAST: Final = _words("last", "latest", "most recent(?:ly)?", "newest")
_ALL: Final = _words("^(?:please )?(?:list|enumerate)", "all", "every", "everyone", "everything")
_BY_NAME: Final = (
    (Goal.STILL, _STILL),
    (Goal.DURATION, _DURATION),
    (Goal.COUNT, _COUNT),
)
_IN_ORDER: Final = (
    *((goal, pattern) for goal, pattern, _ in _NEIGHBORS),
    (Goal.ALL, _ALL),
    (Goal.FIRST, _FIRST),
    (Goal.LAST, _LAST),
)


def asks_for_comparison(text: str) -> bool:
    """Whether two things, or one at two times, are to be compared."""
    return _COMPARE.search(text) is not None


def goal_of(question: Question) -> Goal | None:
    """Returns what a question's answer has to be computed; None if a statement can answer it."""
    text = without_times(question.text, question.times)
    for goal, pattern in _BY_NAME:
        if pattern.search(text):
            return goal
    if asks_for_comparison(text) and (
        len(question.entities) > 1 or (question.entities and question.times)
    ):
        return Goal.COMPARE
    if question.times and (_HAPPENED.search(text) or asks_for_turnover(question)):
        return Goal.PERIOD
    if question.page:
        return None
    return next((goal for goal, pattern in _IN_ORDER if pattern.search(fold(text))), None)


def asks_for_turnover(question: Question) -> bool:
    """Whether it asks who left or joined."""
    text = question.text
    return bool(_WHO.search(text)) and bool(LEAVING.search(text) or JOINING.search(text))


@dataclass(frozen=True, slots=True)
class Anchor:
    """The holder that a predecessor or successor is asked for: an entity, or words that may be a part of its name."""

    name: str
    words: frozenset[str]

    def is_named(self, name: str) -> bool:
        """Whether a name is meant."""
        return (
            fold(name) == fold(self.name) if self.name else bool(set(word_list(name)) & self.words)
        )


def anchor_of(question: Question) -> Anchor | None:
    """Returns the holder next to the words that ask for another one; None for the present one: "the previous owner"."""
    text = fold(question.text)
    found = ((pattern.search(text), side) for _, pattern, side in _NEIGHBORS)
    word, side = next(((match, side) for match, side in found if match), (None, ""))
    if word is None or not side:
        return None
    # What follows the words, where a pattern has to look at it, is outside its group.
    edge = word.end(1) if word.groups() else word.end()
    places = sorted((text.find(fold(one.name)), one.name) for one in question.entities)
    ahead = [name for place, name in places if 0 <= place < edge]
    behind = [name for place, name in places if place >= edge]
    if side == "ahead":
        return Anchor(ahead[-1] if ahead else "", _names_in(text[:edge]))
    return Anchor(behind[0] if behind else "", _names_in(text[edge:]))


def _names_in(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for word in word_list(text)) - FUNCTION_WORDS
