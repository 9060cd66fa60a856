"""The forms of questions, recognized by their grammar: interrogatives, tense, verbs of relation, marks of time."""

from __future__ import annotations

import re
from typing import Final

from services.agent_orchestrator.agent.planner.dates.words import DOCUMENT_NOUNS
from services.agent_orchestrator.agent.planner.first_person import (
    is_about_speaker,
    is_how_to,
    is_statement,
)
from services.agent_orchestrator.agent.planner.language import stem, word_list
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.small_talk import is_small_talk
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
# Lasting relations: a question about the past without a time asks for their history.
_STATES: Final = frozenset(
    stem(word)
    for word in word_set(
        (
            "own lead manage use depend run maintain head operate host employ work belong rely "
            "report supervise oversee chair"
        ),
    )
)

_INTERROGATIVE: Final = opening(
    "(?:(?:at|on|in|by|to|for|from|with|of|under) )?(?:who(?:m|se|'s)?|what(?:'s)?|which|where(?:'s)?)",
    "how many|list|show|name|give|is|are|was|were|do|does|did|has|have|had",
)
_OPEN: Final = opening(
    "why|how come|explain|describe|summari[sz]e|outline|walk (?:me|us) through|help",
    "how(?! many| much| long| often| old| is| are| was| were| closely)",
)
_FINDINGS: Final = phrases(
    "findings?", "key insights?", "insights", "intents", "outcomes?", "blockers?"
)
_FINDING_FILTERS: Final = phrases(
    "confiden(?:ce|t)", "high-confidence", "methodolog(?:y|ies)", "priority", "status", "noted", "recorded",
    "extracted", "open", "blocked", "(?:of|with) type",
)  # fmt: skip

_NOUN: Final = f"(?:{'|'.join(sorted(DOCUMENT_NOUNS, key=len, reverse=True))})s?"
_DOCUMENT_NOUN: Final = phrases(_NOUN)
_IN_DOCUMENT: Final = phrases(
    rf"(?:in|of|from) (?:the|our|that|this|its|last \w{{1,40}}'s|\w{{1,40}}'s) (?:[\w'.-]{{1,40}} ){{0,4}}?{_NOUN}"
)
_SAYING: Final = phrases(
    "says?|said|states?|stated|mentions?|mentioned|describes?|described|explains?|explained",
    "covers?|covered|discuss(?:es|ed)?|recommends?|recommended|suggests?|suggested|concludes?|concluded",
    "lists?|listed|defines?|defined|specif(?:y|ies|ied)|warns?|warned|prescribes?|contains?",
    "teach(?:es)?|tells?|requires?|asks? for|claims?|claimed|argues?|argued|notes?|noted",
)
_DOCUMENTS: Final = (
    "(?:documents?|docs|documentation|wiki|knowledge base|sources?|texts?|articles?|papers?"
    "|passages?|pages?|files?)"
)
_DOCUMENT: Final = (
    phrases(
        "according to",
        "(?:written|documented|noted|stated|mentioned|described|laid down) (?:in|about|on|anywhere|down)",
        "(?:it|there anything|this|that) (?:written|documented)",
    ),
    phrases(rf"(?:find|search|look)\b.{{0,300}}\b(?:{_DOCUMENTS}|mentions?)"),
    phrases(
        rf"(?:which|what|any|all|list|show|find|in the|these|those|our) (?:\w{{1,40}} ){{0,2}}?{_DOCUMENTS}\b"
        "(?! (?:owner|lead|team))"
    ),
    opening(
        "summari[sz]e|summary|explain|describe|outline|quote|overview of",
        "give (?:me |us )?(?:an?|the) (?:overview|summary|gist)",
        "(?:anything|everything|something|tell (?:me|us)|more|details|information|info) (?:about|on)",
    ),
    phrases(
        "reasons? (?:for|behind|why|was|were|is|are)|root cause|lessons? learned|best practices?",
        "procedures?|instructions?|guidelines?|steps|rules?|definition|meaning of",
        "what do (?:you|we) know about",
    ),
)
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

_CHANGE: Final = phrases(
    "chang(?:e|es|ed|ing)|different(?:ly)?|new|newly|add(?:ed|itions?)?|remov(?:ed|als?)|dropped|gone",
    "ended|disappeared|appeared|gained|lost|moved|shift(?:s|ed)?|turnover|altered|modified",
    "updates?|updated|replaced|started|stopped",
)
_COMPARISON: Final = phrases(
    "differ(?:s|ed|ences?|ent(?:ly)?)?|compar(?:e|es|ed|ing|ison)|versus|vs|diff|delta|contrast",
    "relative to|as opposed to",
)
_WHAT_CHANGED: Final = (
    phrases(
        r"what(?:'s|s| is| are| was| were| has| have| had| all| else| exactly)?\b.{0,300}"
        r"\b(?:chang(?:e|es|ed)|new|different|added|removed|ended|altered|gone|updates?|updated)",
        "(?:any|all|list|show|which|the|what|anything|everything(?: that)?|there) "
        r"(?:\w{1,40} ){0,4}?(?:changes|changed|new|differences?)",
        r"(?:did|has|have) (?:anything|something|much|a lot|things?) (?:\w{1,40} )?chang(?:e|ed)",
    ),
    opening("changes|changed|new facts|differences?|anything new|news"),
)
# Verbs for a beginning or an end: "who joined since January" compares two times.
_TURNOVER: Final = phrases("joined|left|added|hired|started|stopped|appeared|ended|moved|departed")
_ROLES: Final = (
    "(?:owner|lead|leader|manager|head|member|employer|job|role|position|vendor|supplier|team|name|tool|ceo|cto|chair"
    "|maintainer|user|partner|provider|client|customer|state|employee|president|version|title)s?"
)
_CHANGE_OF_STATE: Final = (
    r"(?:chang\w{0,40}|start\w{0,40}|stop\w{0,40}|begin|began|become|became|leave|left"
    r"|join\w{0,40}|mov\w{0,40}|switch\w{0,40}|end\w{0,40}"
    r"|replac\w{0,40}|own\w{0,40}|lead|led|us(?:e|ed|ing)|(?:take|took|taken) over"
    r"|appoint\w{0,40}|promot\w{0,40}|retir\w{0,40}"
    r"|last|first|hand\w{0,40}|adopt\w{0,40}|migrat\w{0,40}|work\w{0,40}"
    r"|found\w{0,40}|merge\w{0,40}|acquir\w{0,40}|renam\w{0,40})"
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
_HISTORY: Final = (
    *_CERTAIN_HISTORY,
    phrases(
        r"(?:what|which|who)\b.{0,300}\bchang(?:ed|es)\b.{0,300}\b(?:about|with|for|in|at|to)",
        "(?:happened|happen) to|became of|used to|no longer",
        "changed? hands|handed over|took over|taken over|takes? over|come and gone",
        "predecessors?|successors?|succession",
        "(?:replaced|succeeded|followed|came after) [^?]{0,300} as",
        "ever|so far|always|originally|initially|at first|in the beginning",
        "(?:chronological|time|historical) order|one after (?:the other|another)",
        "how long (?:has|have|did|was|were|is|had)|since when|how often (?:has|have|did)|how many times",
    ),
    phrases(
        rf"(?:former|formerly|previous|previously|past|earlier|prior|old|ex-?) ?(?:\w{{1,40}} ){{0,2}}?"
        rf"(?:{_ROLES}|owned|led|used|managed|worked|engine|carrier|database|stack)",
        rf"(?:all|every|each|list(?: of)?|which|what) (?:the )?(?:\w{{1,40}} )?{_ROLES}\b.{{0,300}}"
        r"\b(?:has had|have had|had|has held|has been|have been|ever)",
        rf"(?:which|what) (?:\w{{1,40}} )?{_ROLES} (?:has|have|had) [^?]{{0,300}}"
        r"\b(?:had|held|been|worked|owned|led|used|filled)",
        rf"(?:first|last|next|original|second) {_ROLES}",
    ),
    opening(rf"when (?:did|was|were|has|have|had)\b.{{0,300}}\b{_CHANGE_OF_STATE}"),
)
_PAST: Final = phrases(
    "was|were|did|had|been|owned|led|used|managed|ran|worked|depended|belonged|headed|maintained|reported|supplied",
    "employed|hosted|operated|held|supervised|relied|chaired|built|wrote|left|became|came|went|made|took|kept",
)
_CURRENT: Final = phrases(
    "now|currently|at present|at the moment|presently|these days|nowadays|as we speak|present|current|still|today",
)
_EVENTS: Final = phrases(
    (
        "happen(?:ed|s)?|occur(?:red|s)?|incidents?|outages?|events?|went wrong|took place|"
        "broke|fail(?:ed|ures?)?|announced"
    ),
    "decisions?|decided|meetings?|releases?|released|deployments?|tickets?|alerts?|bugs?|orders?",
)
_RELATED: Final = phrases(
    (
        "related|connected|linked|tied|connects?|connections?|relationships?|relations?|ties|"
        "path|know each other|have to do with|in common"
    ),
)
# "What is it for?", "what led to it?", "what did she do before?"
_NO_RELATION: Final = re.compile(
    r" for$|\bl(?:ed|eads?) to\b|\bwhat (?:do|does|did|has|have|is|are|was|were)\b.{0,300}\b(?:do|doing|done)\b"
)
# "Who are the engineers on the Apollo team?"
_WHO_AT: Final = opening(
    r"(?:who(?:'s| is| are| was| were)|list|name) (?:\w{1,40} ){1,4}?(?:on|in|at|of|behind)"
)
_DEFINITION: Final = opening(r"what(?:'s| is| are| was| were) (?:an? |the )?[\w\s'’.&+#-]{1,300}$")
_POSSESSED: Final = re.compile(r"'s \w{1,40}$")
_SPAN: Final = re.compile(r"\b(?:and|to|until|till|through)\b|[-–—]")
_TRAILING_PREPOSITION: Final = re.compile(
    r"\b(?:on|in|with|by|of|to|from|at|for|under|behind|into)$"
)


def is_nothing_to_look_up(question: Question) -> bool:
    """Whether it is small talk, or a statement of the user about themselves."""
    return is_small_talk(question.text) or is_statement(question.text)


def is_memory(question: Question) -> bool:
    """Whether it asks what the user said about themselves: first person, not a how-to question."""
    return is_about_speaker(question.plain)


def is_findings(question: Question) -> bool:
    """Whether it asks for statements about the texts: findings, intents, outcomes."""
    return bool(_FINDINGS.search(question.plain)) and not asks_a_document(question)


def has_finding_filter(question: Question) -> bool:
    """Whether it filters findings by one of their fields."""
    return bool(_FINDING_FILTERS.search(question.plain))


def asks_a_document(question: Question) -> bool:
    """Whether it asks how to do something, or what a document says."""
    plain = question.plain
    if is_how_to(plain) or any(pattern.search(plain) for pattern in _DOCUMENT):
        return True
    about_document = _DOCUMENT_NOUN.search(plain) and _SAYING.search(plain)
    return bool(about_document or _IN_DOCUMENT.search(plain))


def is_comparison(question: Question) -> bool:
    """Whether it compares two times, or asks what changed during a time."""
    plain, times = question.plain, question.times
    if not times:
        return False
    two_times = len(times) > 1 or any(
        names_two_times(question.text[one.start : one.end]) for one in times
    )
    if _COMPARISON.search(plain) or (two_times and _CHANGE.search(plain)):
        return True
    if (
        all(one.kind == "since" for one in times)
        and not question.entities
        and _TURNOVER.search(plain)
    ):
        return True
    if plain.startswith(("how", "and how", "when", "why")) and question.entities:
        return False
    return any(pattern.search(plain) for pattern in _WHAT_CHANGED)


def names_two_times(text: str) -> bool:
    """Whether a time expression names both ends of a span."""
    return _SPAN.search(text.casefold().removeprefix("from ")) is not None


def is_certain_history(question: Question) -> bool:
    """Whether it asks explicitly how something changed."""
    return any(pattern.search(question.plain) for pattern in _CERTAIN_HISTORY)


def is_history(question: Question) -> bool:
    """Whether it asks how something changed, or for a lasting relation in the past without a time."""
    plain = question.plain
    if any(pattern.search(plain) for pattern in _HISTORY):
        return True
    if not question.entities or question.times or is_open(question) or _CURRENT.search(plain):
        return False
    return bool(_PAST.search(plain)) and bool(relation_stems(question) & _STATES)


def is_open(question: Question) -> bool:
    """Whether it asks why or how, or for an explanation: only running text answers it."""
    return bool(_OPEN.search(question.plain)) and not is_related(question)


def is_relation(question: Question) -> bool:
    """Whether it asks who or what is related to something."""
    if is_related(question):
        return True
    plain, stems = question.plain, relation_stems(question)
    if question.entities and _WHO_AT.search(plain):
        return True
    if not stems & RELATIONS or is_open(question) or _NO_RELATION.search(plain):
        return False
    if _DEFINITION.match(plain) and not _TRAILING_PREPOSITION.search(plain) and " of " not in plain:
        return _POSSESSED.search(plain) is not None
    return bool(_INTERROGATIVE.search(plain)) or bool(question.entities)


def is_related(question: Question) -> bool:
    """Whether it asks how two things are related."""
    return bool(_RELATED.search(question.plain)) and not question.plain.startswith("why")


def relation_stems(question: Question) -> frozenset[str]:
    """Returns the stems of a question's words outside its names: "Support Team" contains no verb."""
    plain = question.plain
    for entity in question.entities:
        plain = plain.replace(entity.name.casefold(), " ")
    return frozenset(stem(word) for word in word_list(plain))


def is_about_events(question: Question) -> bool:
    """Whether it asks what happened: incidents, decisions, meetings."""
    return bool(_EVENTS.search(question.plain))


def is_current(question: Question) -> bool:
    """Whether the question names the present explicitly."""
    return bool(_CURRENT.search(question.text))


def is_past_tense(question: Question) -> bool:
    """Whether the question's verb is in the past tense."""
    regular = any(len(word) > len("used") and word.endswith("ed") for word in question.words)
    return regular or bool(_PAST.search(question.plain))


def is_interrogative(question: Question) -> bool:
    """Whether it asks who, what, which or where, or is a request to list."""
    return bool(_INTERROGATIVE.search(question.plain))


def asks_for_similar(question: Question) -> bool:
    """Whether it asks for passages with a similar meaning."""
    return bool(_SIMILAR.search(question.plain))


def asks_for_exact_words(question: Question) -> bool:
    """Whether it contains quoted words, codes, or names of files or settings."""
    return bool(_EXACT.search(question.text))
