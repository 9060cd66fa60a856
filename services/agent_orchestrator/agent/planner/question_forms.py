"""The forms of questions, recognized by their grammar: interrogatives, tense, verbs of relation, marks of time."""

from __future__ import annotations

import re
from typing import Final

from services.agent_orchestrator.agent.planner.language import stem, word_list
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.wordlists import opening, phrases, word_set

# Verbs and nouns that relate two named things.
RELATIONS: Final = frozenset(
    stem(word)
    for word in word_set(
        ("own owner lead leader manage manager head run use depend rely require need work "
            "belong report maintain operate"),
        ("support supply supplier provide provider connect link relate relation join member "
            "found founder fix cause replace"),
        ("propose approve build create develop design write author publish host employ employer "
            "employee hire supervise"),
        "supervisor mentor advise adviser chair direct director sponsor fund acquire partner compete contain include",
        "consist call integrate marry live study teach succeed assign oversee administer serve collaborate contribute",
        ("consume subscribe deputy boss responsible charge accountable vendor customer contact "
            "dependency colleague teammate"),
        ("subsidiary parent competitor investor steward sit staff reverse sign star compose "
            "invent discover coach power"),
        "upstream downstream team peers stack interact involve govern handle database language framework ceo cto cfo",
        ("president minister captain spouse wife husband brother sister son daughter mother "
            "father sibling citizen capital"),
    )
)  # fmt: skip

_OPEN: Final = opening(
    "why|how come|explain|describe|summari[sz]e|outline|walk (?:me|us) through|help",
    "how(?! many| much| long| often| old| is| are| was| were| closely)",
)
_SUMMARY: Final = opening(
    "summari[sz]e|sum up|outline|(?:give|write)(?: me)? an? (?:summary|overview)"
)
_FINDING_FILTERS: Final = phrases(
    "confiden(?:ce|t)", "high-confidence", "methodolog(?:y|ies)", "priority", "status", "noted", "recorded",
    "extracted", "open", "blocked", "(?:of|with) type",
)  # fmt: skip

_SIMILAR: Final = phrases(
    r"similar|like this|resembl\w{1,40}|semantically|in other words|paraphras\w{1,40}|along the lines of",
    "something like|close in meaning|same meaning|same idea|comparable to|reminiscent of",
)
_FILES: Final = "py|md|ya?ml|json|sql|toml|go|rs|ts|js|txt|csv|xml"
_EXACT: Final = re.compile(
    r"[\"“”«»„][^\"“”«»„]{2,300}[\"“”«»„]|\b[A-Z]{2,40}[-_]\d{1,20}\b|\b[A-Z][A-Z]{0,40}_[A-Z_]{1,40}\b|--\w{1,40}"
    rf"|\b0x[0-9a-f]{{1,40}}\b|\b\w{{1,40}}\.(?:{_FILES})\b|\bexact(?:ly)? (?:words?|phrase|term|string|match)"
    r"|\bword for word\b|\bkeywords?\b|\bverbatim\b|\berror (?:code|message)\b"
)

_CHANGED: Final = (
    r"(?:chang\w{0,40}|evolv\w{0,40}|develop(?:ed)?|progress\w{0,40}|"
    r"grown?|grew|shift\w{0,40}|come about)"
)
_CERTAIN_HISTORY: Final = (
    phrases(
        "history|timeline|time line|evolution|chronology|track record|trajectory|life ?cycle|lineage",
        "progression|career|over (?:time|the years|the months|its (?:life|lifetime|history))",
        "through(?:out)? (?:time|the years|its life)|across (?:time|the years)",
        rf"how (?:has|have|had|did|does|do|much has|often has|was|were)\b.{{0,300}}\b{_CHANGED}",
        r"how [^?]{0,300}\b(?:changed|evolved|developed|grew|shifted)",
    ),
)
_CURRENT: Final = phrases(
    "now|currently|at present|at the moment|presently|these days|nowadays|as we speak|present|current|still|today",
)
_RELATED: Final = phrases(
    (
        "related|connected|linked|tied|connects?|connections?|relationships?|relations?|ties|"
        "path|know each other|have to do with|in common"
    ),
)
_PAST: Final = phrases(
    "was|were|did|had|been|owned|led|used|managed|ran|worked|depended|belonged|headed|maintained|reported|supplied",
    "employed|hosted|operated|held|supervised|relied|chaired|built|wrote|left|became|came|went|made|took|kept",
)
_SPAN: Final = re.compile(r"\b(?:and|to|until|till|through)\b|[-–—]")


def has_finding_filter(question: Question) -> bool:
    """Whether it filters findings by one of their fields."""
    return bool(_FINDING_FILTERS.search(question.plain))


def names_two_times(text: str) -> bool:
    """Whether a time expression names both ends of a span."""
    return _SPAN.search(text.casefold().removeprefix("from ")) is not None


def is_certain_history(question: Question) -> bool:
    """Whether it asks explicitly how something changed."""
    return any(pattern.search(question.plain) for pattern in _CERTAIN_HISTORY)


def asks_for_summary(question: Question) -> bool:
    """Whether what the documents say about a topic is asked for."""
    return bool(_SUMMARY.search(question.plain))


def is_open(question: Question) -> bool:
    """Whether it asks why or how, or for an explanation: only running text answers it."""
    return bool(_OPEN.search(question.plain)) and not is_related(question)


def is_related(question: Question) -> bool:
    """Whether it asks how two things are related."""
    return bool(_RELATED.search(question.plain)) and not question.plain.startswith("why")


def relation_stems(question: Question) -> frozenset[str]:
    """Returns the stems of a question's words outside its names: "Support Team" contains no verb."""
    plain = question.plain
    for entity in question.entities:
        plain = plain.replace(entity.name.casefold(), " ")
    return frozenset(stem(word) for word in word_list(plain))


def is_current(question: Question) -> bool:
    """Whether the question names the present explicitly."""
    return bool(_CURRENT.search(question.text))


def is_past_tense(question: Question) -> bool:
    """Whether the question's verb is in the past tense."""
    regular = any(len(word) > len("used") and word.endswith("ed") for word in question.words)
    return regular or bool(_PAST.search(question.plain))


def asks_for_similar(question: Question) -> bool:
    """Whether it asks for passages with a similar meaning."""
    return bool(_SIMILAR.search(question.plain))


def asks_for_exact_words(question: Question) -> bool:
    """Whether it contains quoted words, codes, or names of files or settings."""
    return bool(_EXACT.search(question.text))
