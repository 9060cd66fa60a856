"""Recognizes users' questions about themselves, and distinguishes them from how-to questions and statements."""

from __future__ import annotations

import re
from typing import Final

from services.agent_orchestrator.agent.planner.wordlists import phrases

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
_WISH: Final = phrases(
    "i (?:want|would like|need|wish|am looking|was wondering|wonder|am interested|am trying)",
    "i'd like|i'm (?:looking|wondering|trying|interested)",
)
_STATEMENT: Final = re.compile(
    r"^(?:well |so |and |also |actually ){0,5}(?:i|i'm|i've|we|we're|we've) "
    rf"(?:\w{{1,40}} ){{0,2}}?(?:{_VERBS}|am|are|was)\b"
    r"|^my [\w' -]{1,80} (?:is|are|was|uses|depends)\b"
)


def is_statement(text: str) -> bool:
    """Whether users state something about themselves instead of asking: "I use Docker"."""
    plain = text.casefold().replace("’", "'").strip()
    return not plain.endswith("?") and bool(_STATEMENT.match(plain)) and not _WISH.search(plain)
