"""Recognizes users' questions about themselves, and distinguishes them from how-to questions and statements."""

from __future__ import annotations

import re
from typing import Final

from services.agent_orchestrator.agent.planner.wordlists import opening, phrases

_SPEAKER: Final = phrases("i|i'm|i've|i'd|me|my|mine|myself")
# What people say about themselves: tools, preferences, decisions, work, acquaintances, and earlier statements.
_VERBS: Final = (
    "(?:uses?|using|used|prefer(?:red)?|liked?|loved?|favou?r|hated?|dislike|choose|chose|chosen|decided?"
    "|pick(?:ed)?|settled?|work(?:ing|ed)?|collaborat(?:e|ing|ed)|knew|know|depend(?:ing|ed)?"
    "|rely(?:ing)?|relied|switch(?:ed)?|write|wrote|code|drive|mention(?:ed)?|told|tell you|say|said"
    "|shared?|saved?|live|study|studied|learn(?:ing|ed)?|join(?:ed)?|lead(?:ing)?|led"
    "|maintain(?:ing|ed)?|build(?:ing)?|built|own|have|had|run(?:ning)?|met|meet|report(?: to)?|need"
    "|started|founded|belong|develop(?:ing|ed)?|host(?:ing)?|play|go(?:ing)?|went|program|speak|follow"
    "|pair(?:ing)?|hack(?:ing)?|tinker(?:ing)?|agreed?|interested|responsible|part|involved|based|employed"
    "|friends|usually|normally|typically|mostly)"
)
_ABOUT_SPEAKER: Final = (
    phrases(
        rf"(?:do|did|am|have|had|was|were) i (?:\w{{1,40}} ){{0,3}}?{_VERBS}",
        r"(?:that|which|what|who|whom|where|when|tools?|people|things|projects?)\b.{0,300}"
        rf"\bi(?:'m|'ve|'d| am| have| had)? (?:\w{{1,40}} ){{0,2}}?{_VERBS}",
        r"(?:know|remember(?:ed)?|recall|saved|stored|learn(?:ed|t)|noted|memory|memories|kept)\b.{0,300}"
        r"\b(?:about|on|of|from|for) me",
        "(?:who|what|where) am i|remind me",
        "my (?:memory|memories|preferences?|profile|favou?rites?|stack|team|setup)",
        r"(?:works?|worked|working|colleagues?|reports?|connected|related) (?:\w{1,40} )?(?:with|to|for) me",
        r"who (?:\w{1,40} )?(?:helps?|manages?|knows?) me",
    ),
    opening(
        "(?:what|who|which|where|when|whose|list|show|name|is|are|was|were|does|do|did|has|have|any)"
        r"\b.{0,300}\b(?:my|mine)",
        "(?:what about |all |all of )?my",
        r"am i\b.{0,300}\b(?:using|on|in|part|member|working|responsible)",
    ),
)
# Documents answer how to do something and what is allowed, also in the first person.
_ACTOR: Final = (
    "(?:i|we|you|one|people|users?|customers?|employees?|someone|somebody|anyone|developers?|teams?"
    r"|a \w{1,40}|an \w{1,40})"
)
_HOW_TO: Final = (
    phrases(
        f"how (?:do|can|could|should|would|may|must) {_ACTOR}|how to|how am i",
        "(?:can|could|should|may|must|might|would|shall) (?:i|we|my|you|one|people|users|anyone)",
        "i (?:can|could|should|must|may|need to|have to|want to|am supposed to)",
        "(?:do|must) (?:i|we) (?:need|have|get) to",
        "what (?:do|should|must) (?:i|we) do(?: if| when| to| after| before| first)?",
        "where (?:do|can|should) (?:i|we) (?!work|live|study|belong|stand)",
        "(?:am|are|is|be) (?:\\w{1,40} )?(?:allowed|supposed|permitted|required|entitled|forbidden) to",
        "(?:am|are) (?:i|we) (?:allowed|able|expected|entitled)",
        "whom? (?:do|can|should) (?:i|we) (?:ask|contact|call|talk|turn|escalate|notify|report (?:a|an|the))",
        "do i (?:file|request|reset|install|deploy (?!with)|configure|enable|apply|submit|escalate|set|start|stop)",
        "do i (?:roll|report (?!to\\b))",
        "(?:what|which) (?:form|steps?|permissions?|rights?|documents?) do (?:i|we) need",
    ),
    opening("why"),
)
_WISH: Final = phrases(
    "i (?:want|would like|need|wish|am looking|was wondering|wonder|am interested|am trying)",
    "i'd like|i'm (?:looking|wondering|trying|interested)",
)
_STATEMENT: Final = re.compile(
    r"^(?:well |so |and |also |actually ){0,5}(?:i|i'm|i've|we|we're|we've) "
    rf"(?:\w{{1,40}} ){{0,2}}?(?:{_VERBS}|am|are|was)\b"
    r"|^my [\w' -]{1,80} (?:is|are|was|uses|depends)\b"
)


def is_about_speaker(plain: str) -> bool:
    """Whether a lower-case question asks for something that the user has said about themselves."""
    if not _SPEAKER.search(plain) or is_how_to(plain):
        return False
    return any(pattern.search(plain) for pattern in _ABOUT_SPEAKER)


def is_how_to(plain: str) -> bool:
    """Whether a lower-case question asks how to do something or what is allowed."""
    return any(pattern.search(plain) for pattern in _HOW_TO)


def is_statement(text: str) -> bool:
    """Whether users state something about themselves instead of asking: "I use Docker"."""
    plain = text.casefold().replace("’", "'").strip()
    return not plain.endswith("?") and bool(_STATEMENT.match(plain)) and not _WISH.search(plain)
