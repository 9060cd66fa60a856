"""The end of a relation that a question asks for: "what does X depend on" or "what depends on X"."""

from __future__ import annotations

from typing import Final, Literal

from services.agent_orchestrator.agent.planner.language import fold
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.results import ResultItem
from services.runtime.patterns import WORD_END, WORD_START, compile_linear, escape

Side = Literal["subject", "object", ""]

_AUXILIARIES: Final = "do|does|did|has|have|had|will|would|can|could"
_COPULAS: Final = "is|are|was|were|been|be"
_ASKS: Final = compile_linear(rf"\W*(?:and |but )?(?:who|which|what){WORD_END}")
_COPULA_AND_ARTICLE: Final = compile_linear(rf"{WORD_START}(?:{_COPULAS}) the{WORD_END}")
# The end of a name that "'s" does not follow.
_NOT_POSSESSIVE: Final = r"(?:[^\w']|'[^s]|'?$)"


def side_of(question: Question) -> Side:
    """Returns whether the question's entity is subject or object of the facts that answer it; "" if either may be."""
    if len(question.entities) != 1:
        return ""
    name = escape(fold(question.entity))
    plain = fold(question.text)
    if _has(rf"(?:{_AUXILIARIES}) (?:the |our |a )?{name}{_NOT_POSSESSIVE}", plain):
        return "subject"
    if _has(rf"\w+(?:ed|en|un|t) by (?:the |our |a )?{name}{WORD_END}", plain):
        return "subject"
    if _has(rf"(?:{_COPULAS}) (?:the |our |a )?{name}{_NOT_POSSESSIVE}", plain):
        passive = _has(rf"{name} (?:.*\W)?\w+(?:ed|en|un) by{WORD_END}", plain)
        return "object" if passive else "subject"
    asks = _ASKS.match(plain)
    if asks is None or _COPULA_AND_ARTICLE.search(plain[asks.end() - 1 :]):
        return ""
    return "object" if _has(rf"{name}{WORD_END}", plain[asks.end() - 1 :]) else ""


def _has(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text, from the start of a word."""
    return compile_linear(WORD_START + pattern).search(text) is not None


def is_on_side(item: ResultItem, question: Question, side: Side) -> bool:
    """Whether the question's entity is on that side of a fact."""
    if not side:
        return True
    if item.relation.upper().endswith("BY"):
        side = "object" if side == "subject" else "subject"
    end = item.subject if side == "subject" else item.object
    return fold(end) == fold(question.entity)
