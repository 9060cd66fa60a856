"""Questions of a user about themselves, told from questions on how to do something and from statements."""

from __future__ import annotations

import re
from typing import Final

from services.agent_orchestrator.agent.planner.wordlists import opening, phrases

_SPEAKER: Final = phrases("i", "i'm", "i've", "i'd", "me", "my", "mine", "myself")
# What people say about themselves: uses, tastes, choices, work, acquaintances, and what they said before.
_VERBS: Final = "|".join((
    ("uses?|using|used|prefer(?:red)?|liked?|loved?|favou?r|hated?|dislike|choose|chose|"
        "chosen|decided?|pick(?:ed)?|settled?"),
    ("work(?:ing|ed)?|collaborat(?:e|ing|ed)|knew|know|depend(?:ing|ed)?|rely(?:ing)?|"
        "relied|switch(?:ed)?|write|wrote|code|drive"),
    ("mention(?:ed)?|told|tell you|say|said|shared?|saved?|live|study|studied|learn(?:ing|"
        "ed)?|join(?:ed)?|lead(?:ing)?|led"),
    ("maintain(?:ing|ed)?|build(?:ing)?|built|own|have|had|run(?:ning)?|met|meet|report(?: "
        "to)?|need|started|founded|belong"),
    ("develop(?:ing|ed)?|host(?:ing)?|play|go(?:ing)?|went|program|speak|follow|"
        "pair(?:ing)?|hack(?:ing)?|tinker(?:ing)?|agreed?"),
    "going with|go with|interested|responsible|part|involved|based|employed|friends|allergic",
))  # fmt: skip
_ABOUT_SPEAKER: Final = (
    re.compile(rf"\b(?:do|did|am|have|had|was|were) i (?:\w+ ){{0,3}}?(?:{_VERBS})\b"),
    re.compile(rf"\b(?:that|which|what|who|whom|where|when|tools?|people|things|projects?)\b.*\bi(?:'m|"
        rf"'ve|'d| am| have| had)? (?:\w+ ){{0,2}}?(?:{_VERBS})\b"),
    opening(r"(?:what|who|which|where|when|whose|list|show|name|is|are|was|were|does|do|did|has|"
        r"have|any)\b.*\b(?:my|mine)"),
    opening("(?:what about |all |all of )?my"),
    phrases(r"(?:know|remember(?:ed)?|recall|saved|stored|learn(?:ed|t)|noted|memory|memories|"
        r"kept)\b.*\b(?:about|on|of|from|for) me"),
    phrases("(?:who|what|where) am i", "remind me", ("my (?:memory|memories|preferences?|profile|"
        "favou?rites?|stack|team|setup)")),
    phrases((r"(?:works?|worked|working|colleagues?|reports?|connected|related) (?:\w+ )?(?:with|to|"
        r"for) me"), r"who (?:\w+ )?(?:helps?|manages?|knows?) me"),
    opening(r"am i\b.*\b(?:using|on|in|part|member|working|responsible)"),
)  # fmt: skip
# How to do something and what is allowed stands in documents, whoever asks.
_ACTOR: Final = (
    "(?:i|we|you|one|people|users?|customers?|employees?|someone|somebody|anyone|"
    "developers?|teams?|a \\w+|an \\w+)"
)
_HOW_TO: Final = (
    phrases(f"how (?:do|can|could|should|would|may|must) {_ACTOR}", "how to", "how am i"),
    phrases("(?:can|could|should|may|must|might|would|shall) (?:i|we|my|you|one|people|users)"),
    phrases(("i (?:can|could|should|must|may|need to|have "
        "to|want to|am supposed to)"), "(?:do|must) (?:i|we) (?:need|have|get) to"),
    phrases("what (?:do|should|must) (?:i|we) do(?: if| when| to| after| before| first)?"),
    phrases("where (?:do|can|should) (?:i|we) (?!work|live|study|belong|stand)"),
    phrases("(?:am|are) (?:i|we) (?:allowed|supposed|permitted|required|able|expected|entitled)"),
    phrases("whom? (?:do|can|should) (?:i|we) (?:ask|contact|call|talk|turn|escalate|notify|report (?:a|an|the))"),
    phrases("do i (?:file|request|reset|install|deploy|configure|enable|apply|submit|escalate|set|"
        "start|stop|roll|report (?!to\\b))"),
    phrases("(?:what|which) (?:form|steps?|permissions?|rights?|documents?) do (?:i|we) need"),
    opening("why"),
)  # fmt: skip
_WISH: Final = phrases(
    "i (?:want|would like|need|wish|am looking|was wondering|wonder|am interested|am trying)",
    "i'd like",
    "i'm (?:looking|wondering|trying|interested)",
)
_STATEMENT: Final = re.compile(
    rf"^(?:well |so |and |also |actually )*(?:i|i'm|i've|we|we're|"
    rf"we've) (?:\w+ ){{0,2}}?(?:{_VERBS}|am|are|was)\b|^my [\w' -]+ (?:is|are|was|uses|"
    rf"depends)\b"
)


def is_about_speaker(plain: str) -> bool:
    """Whether a question, in lower case, asks for what the user has said about themselves."""
    if not _SPEAKER.search(plain) or is_how_to(plain):
        return False
    return any(pattern.search(plain) for pattern in _ABOUT_SPEAKER)


def is_how_to(plain: str) -> bool:
    """Whether a question, in lower case, asks how to do something or what is allowed."""
    return any(pattern.search(plain) for pattern in _HOW_TO)


def is_statement(text: str) -> bool:
    """Whether users state something about themselves rather than ask: "I use Docker"."""
    plain = text.casefold().replace("’", "'").strip()
    return not plain.endswith("?") and bool(_STATEMENT.match(plain)) and not _WISH.search(plain)
