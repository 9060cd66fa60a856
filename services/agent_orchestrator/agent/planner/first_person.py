"""Recognizes what users state about themselves, and distinguishes it from questions."""

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
_PAST: Final = r"\w{2,40}ed|bought|sold|took|got|made|gave|became|began|won|brought|put|set|quit|grew|held|sent"
_STATEMENT: Final = re.compile(
    r"^(?:well |so |and |also |actually |by the way,? |please |(?:remember|note|keep in mind)(?: that)?,? ){0,5}"
    r"(?:i|i'm|i've|we|we're|we've) "
    rf"(?:\w{{1,40}} ){{0,2}}?(?:{_VERBS}|am|are|was|were|{_PAST})\b"
    r"|^(?:my|our) [\w' -]{1,80} (?:is|are|was|were|uses?|depends?|has|have)\b"
)
# An indirect question: "I don't know who owns it", "we tried to find the runbook".
_SEEKS: Final = phrases(
    "(?:don't|do not|didn't|did not|can't|cannot|couldn't) (?:know|remember|understand|find|see|recall)",
    "forgot|forgotten|tried|looked|searched|asked|wondered|wanted|needed|checked|supposed",
)


def is_statement(text: str) -> bool:
    """Whether users state something about themselves instead of asking: "I use Docker"."""
    plain = text.casefold().replace("’", "'").strip()
    if plain.endswith("?") or _WISH.search(plain) or _SEEKS.search(plain):
        return False
    return bool(_STATEMENT.match(plain))
