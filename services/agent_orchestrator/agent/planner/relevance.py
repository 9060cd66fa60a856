"""Scores how well a sentence answers a question: the words it covers, the required names, the kind of answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.agent_orchestrator.agent.planner.dates.words import MONTHS
from services.agent_orchestrator.agent.planner.language import (
    FUNCTION_WORDS,
    content_words,
    fold,
    stem,
    word_list,
)
from services.agent_orchestrator.agent.planner.normalized_text import Pairs, Wording, word_pairs
from services.agent_orchestrator.agent.planner.question import Question, without_times
from services.agent_orchestrator.agent.planner.wordlists import phrases, words
from services.runtime.patterns import WORD_END, WORD_START, compile_linear, escape

# Words with much the same meaning in questions and answers; each row is one meaning.
_SYNONYMS: Final = (
    "own owner belong hold steward responsible charge",
    "lead head manage run direct chair boss supervise",
    "use built based run rely power",
    "depend rely need require wait",
    "member part join belong team",
    "cause reason lead trigger due because fault",
    "fix repair solve resolve mend recover",
    "replace supersede reverse succeed swap",
    "supplier vendor provider",
    "start begin open launch since",
    "end stop finish close last until",
    "leave depart quit",
    "go move transfer switch",
    "quick fast within soon",
    "long last take duration",
    "cost fee price",
    "notice detect discover find spot see",
    "allow permit may",
    "deploy release ship",
    "write author publish",
    "decide decision choose adopt agree",
    "suggest propose recommend",
    "person people staff employee",
    "shopper customer buyer user",
    "mail email message",
    "outage down failure incident",
    "keep store save hold",
    "carrier deliver ship",
    "purpose goal aim for",
    "change alter move switch",
    "warn alert alarm",
    "answer reply respond acknowledge",
    "lose drop miss",
    "charge bill pay payment",
    "twice double two second",
    "deputy substitute",
    "company firm business",
    "create build make develop",
    "found establish",
    "size large big many much",
    "age old aged born birthday",
)


def _related_stems() -> dict[str, frozenset[str]]:
    related: dict[str, frozenset[str]] = {}
    for row in _SYNONYMS:
        meaning = frozenset(stem(word) for word in words(row))
        for one in meaning:
            related[one] = related.get(one, frozenset()) | meaning
    return related


_RELATED: Final = _related_stems()

_NUMBER: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"seventy|eighty|ninety|hundred|thousand|million|half|dozen|once|twice|every|each|daily|"
    r"weekly|monthly|nightly|few|several)\b",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:1[89]|20)\d\d\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|noon|midnight|spring|summer|autumn|winter)\b|\d:\d\d",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[A-Z][\w-]{1,40}|^[A-Z][\w-]{1,40} [A-Z][\w-]{1,40}"
)
# A first word that acts in the singular: "Ada owns", but not "Backups are".
_ACTOR: Final = re.compile(
    r"^([A-Z][\w-]{0,40}[^\Ws]) (?:is|was|has|had|will|\w{1,40}[^s\W]s|\w{1,40}ed|led|ran|built|wrote)\b"
)
# Sentences that continue about something the previous one names.
_ANAPHORA: Final = re.compile(
    r"\b(?:it|its|they|their|them|he|she|his|her)\b|^(?:this|that|these|those|both|each|such|then)\b",
    re.IGNORECASE,
)
# The noun that a question counts: "how many shoppers".
_COUNTED: Final = re.compile(
    r"\bhow many (?:other |more |different |new )?([\w-]{1,40})", re.IGNORECASE
)
# A word that the answering sentence must contain: "which version of X", "how old".
_PART: Final = re.compile(
    r"\b(?:which|what) (?!kind|type|sort|part|share|one|number|percentage|member|team)(\w{1,40}) of\b|\bhow (old)\b",
    re.IGNORECASE,
)
_MONTHS: Final = frozenset(name.capitalize() for name in MONTHS)
_DAY_OR_CODE: Final = re.compile(
    rf"\b\d{{1,2}} (?:{'|'.join(MONTHS)})(?: \d{{4}})?|\b(?:{'|'.join(MONTHS)}) \d{{4}}"
    r"|\b[A-Z]{1,40}-\d{1,20}|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_NO_ACTORS: Final = FUNCTION_WORDS | {
    "nobody",
    "everybody",
    "everyone",
    "someone",
    "one",
    "anyone",
    "nothing",
}
_REASON: Final = phrases(
    "because|since|so that|due to|reason|as a result|after|cause[sd]?|in order to|to avoid|"
    "therefore|which is why|cost|judged|had|fault|follows from|wanted"
)
_WHERE: Final = re.compile(r"^\W{0,40}(?:and |but |so )?(?:from )?where\b", re.IGNORECASE)
_PLACE: Final = re.compile(
    r"\b(?:to|at|in|on|with|from|into|near|by|under|behind) (?:the |a |an |its |our )?[A-Za-z]"
)
_WHO: Final = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
_WHEN: Final = re.compile(
    (
        r"^\W{0,40}(?:and |but |so )?(?:since |until |from |by )?when\b|\b(?:what|which) (?:day|date|year|"
        r"month|time|week)\b|\bsince when\b"
    ),
    re.IGNORECASE,
)
_HOW_MANY: Final = re.compile(
    (
        r"\bhow (?:many|much|long|often|far|high|big|large|fast|quick(?:ly)?|soon|late|deep|"
        r"heavy|wide)\b|\bwhat (?:number|share|percentage|size|limit|budget|score|price)\b"
    ),
    re.IGNORECASE,
)
_WHY: Final = re.compile(
    (
        r"^\W{0,40}(?:and |but )?why\b|\bwhat (?:was|is|were|"
        r"are) the (?:root )?(?:cause|reason)"
    ),
    re.IGNORECASE,
)
_KIND_NOUN: Final = re.compile(
    (
        r"\b(?:which|what)\s{1,9}((?:[\w'-]{1,40}\s{1,9}){0,2}?[\w'-]{1,40})\s{1,9}(?:is|are|was|were|do|does|did|has|"
        r"have|had|can|could|will|would|[\w'-]{1,40}(?:ed|s)\b|led|made|took|ran|left|came|held|gave)"
    ),
    re.IGNORECASE,
)

_NAME_WEIGHT: Final = 1.5
_TIME_MARK_WEIGHT: Final = 0.5
# Below this coverage, all other scores are 0.
_HOPELESS: Final = 0.4
_NOTHING: Final = Wording()
_NO_STEMS: Final[frozenset[str]] = frozenset()
_KIND_WEIGHT: Final = 0.4
_IN_TITLE: Final = 0.7
_BEFORE: Final = 0.2
_BEFORE_ANAPHORA: Final = 0.4
_NAME_IN_TITLE: Final = 0.85
_NAME_BEFORE: Final = 0.6
_IN_NO_TEXT: Final = 3.0
_HAS_NAMES: Final = 0.3
_PHRASE: Final = 0.04
_MAX_PHRASES: Final = 0.12
_SYNONYM: Final = 0.8
_HAS_KIND: Final = 0.12
_LACKS_KIND: Final = -0.3
_LACKS_REASON: Final = -0.08


@dataclass(frozen=True, slots=True)
class Need:
    """The requirements of an answer: whole names, stems of words with their weights, and the kind of answer.

    `required` are stems that the sentence itself must contain. `passive` is a name and the stem of the verb that has it
    as its object. `pairs` are adjacent words of the question.
    """

    names: dict[str, float]
    stems: dict[str, float]
    kind: str
    required: frozenset[str] = frozenset()
    passive: tuple[str, str] | None = None
    pairs: Pairs = frozenset()

    @property
    def weight(self) -> float:
        """The total weight."""
        return sum(self.names.values()) + sum(self.stems.values())

    def weighed(self, texts: Sequence[Wording]) -> Need:
        """Returns the need with higher weights for rare words and names, and the highest for those that no text has."""
        names = {
            name: weight * _rarity(sum(name in text.folded for text in texts), len(texts))
            for name, weight in self.names.items()
        }
        stems = {
            word: weight * _rarity(sum(_met(word, text.stems) > 0 for text in texts), len(texts))
            for word, weight in self.stems.items()
        }
        return replace(self, names=names, stems=stems)


@dataclass(frozen=True, slots=True)
class Match:
    """How a statement meets a need: the covered share, and a correction for the kind of answer."""

    coverage: float
    words: float
    kind: float
    phrases: float
    names: float

    @property
    def score(self) -> float:
        """Coverage, shared phrases and kind in one number; a sentence that contains the names itself ranks first."""
        return self.coverage + self.kind + self.phrases + _HAS_NAMES * self.names

    @property
    def has_names(self) -> bool:
        """Whether every name is in the sentence or close to it."""
        return self.names > 0


def need_of(question: Question) -> Need:
    """Returns the requirements of a question, without its times."""
    text = without_times(question.text, question.times)
    names = tuple(fold(entity.name) for entity in question.entities)
    rest = _HOW_MANY.sub(" ", fold(text))
    for name in names:
        rest = rest.replace(name, " ")
    light = _kind_words(text)
    stems = {stem(word): _KIND_WEIGHT if word in light else 1.0 for word in content_words(rest)}
    counted = _COUNTED.search(text) or _PART.search(text)
    required = frozenset(
        {stem((counted[1] or counted[counted.lastindex or 1]).casefold())} if counted else ()
    )
    done = _passive(names, fold(text))
    weights = {
        fold(entity.name): _TIME_MARK_WEIGHT if question.only_marks_a_time(entity) else _NAME_WEIGHT
        for entity in question.entities
    }
    return Need(weights, stems, kind_of(question.text), required, done, word_pairs(question.words))


def _passive(names: Sequence[str], text: str) -> tuple[str, str] | None:
    """Returns the name and the verb of "when was X founded"."""
    for name in names:
        found = compile_linear(
            rf"{WORD_START}(?:was|were) (?:the )?{escape(name)} (\w+ed){WORD_END}"
        ).search(text)
        if found is not None:
            return name, stem(found[1])
    return None


def kind_of(text: str) -> str:
    """Returns the kind of answer that a question asks for."""
    for kind, pattern in (
        ("why", _WHY),
        ("number", _HOW_MANY),
        ("date", _WHEN),
        ("name", _WHO),
        ("place", _WHERE),
    ):
        if pattern.search(text):
            return kind
    return ""


def match(
    need: Need, sentence: Wording, title: Wording = _NOTHING, before: Wording = _NOTHING
) -> Match:
    """Matches a sentence with a need; words of its title and of the previous sentence count for less."""
    share_before = _BEFORE_ANAPHORA if _ANAPHORA.search(sentence.text) else _BEFORE
    met = {
        word: weight
        * max(
            _met(word, sentence.stems),
            _IN_TITLE * _met(word, title.stems),
            share_before * _met(word, before.stems),
        )
        for word, weight in need.stems.items()
    }
    named = {
        name: weight * _named(name, sentence, title, before) for name, weight in need.names.items()
    }
    coverage = (sum(named.values()) + sum(met.values())) / (need.weight or 1.0)
    of_words = sum(met.values()) / sum(need.stems.values()) if need.stems else 1.0
    if coverage < _HOPELESS:
        return Match(coverage, of_words, 0.0, 0.0, 0.0)
    fits = _has_required(need, sentence, title) and _is_done_to(need.passive, sentence)
    phrases = min(len(need.pairs & sentence.pairs) * _PHRASE, _MAX_PHRASES)
    kind = _kind_score(need, sentence.text) if fits else _LACKS_KIND
    return Match(coverage, of_words, kind, phrases, _share_of_names(need, named))


def _share_of_names(need: Need, named: Mapping[str, float]) -> float:
    """Returns the share of names in the sentence itself or its title; 0 if any name is not even close to it."""
    if not need.names:
        return 1.0
    if not all(share > 0 or need.names[name] < _NAME_WEIGHT / 2 for name, share in named.items()):
        return 0.0
    own = sum(share >= need.names[name] * _NAME_IN_TITLE for name, share in named.items())
    return (own + 1) / (len(need.names) + 1)


def _has_required(need: Need, sentence: Wording, title: Wording) -> bool:
    """Whether a sentence, or its title, contains the nouns that the question counts."""
    return all(_met(word, sentence.stems | title.stems) > 0 for word in need.required)


def _is_done_to(passive: tuple[str, str] | None, sentence: Wording) -> bool:
    """Whether the name is the object of the verb in a sentence: "X was founded", "founded X"; not "X founded Y"."""
    if passive is None or passive[1] not in sentence.stems:
        return True
    name, verb = passive
    text = " ".join(verb if stem(word) == verb else word for word in sentence.words)
    target, done = escape(" ".join(word_list(name))), escape(verb)
    before = rf"{target} (?:(?:is|was|were|are|been|being|has|have|had|be) )+(?:\w+ )?{done}"
    behind = rf"{done} (?:\S+ ){{0,2}}{target}"
    return compile_linear(f"{WORD_START}(?:{before}|{behind}){WORD_END}").search(text) is not None


def stems_meet(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether any two stems are equal or similar in meaning."""
    wanted = set(second)
    return any(one in wanted or _RELATED.get(one, frozenset()) & wanted for one in first)


def gives_reason(text: str) -> bool:
    """Whether a text gives a reason."""
    return bool(_REASON.search(text))


def _met(word: str, stems: frozenset[str]) -> float:
    """Returns 1 for the word itself, a little less for a word of similar meaning."""
    if word in stems:
        return 1.0
    return _SYNONYM if _RELATED.get(word, _NO_STEMS) & stems else 0.0


def _named(name: str, sentence: Wording, title: Wording, before: Wording) -> float:
    """Scores a name: full in the sentence, nearly full in its title, lower if the sentence contains other names."""
    if name in sentence.folded:
        return 1.0
    if name in title.folded:
        return _NAME_IN_TITLE
    if name in before.folded:
        return _NAME_BEFORE / (2 if _other_names((name,), sentence.text) else 1)
    return 0.0


def _rarity(count: int, total: int) -> float:
    """Returns 0.6 for words that every text has, up to 1.5 for those that one has, and 3 for those that none has."""
    if count == 0:
        return _IN_NO_TEXT
    return 0.6 + 0.9 * math.log((total + 1) / (count + 1)) / math.log(total + 1)


def _kind_words(text: str) -> frozenset[str]:
    """Returns the nouns after "which": an answer names one of that kind and need not repeat the noun."""
    found = _KIND_NOUN.search(text)
    if found is None or " of " in found[1]:
        return frozenset()
    return frozenset(word for word in word_list(found[1]) if word not in FUNCTION_WORDS)


def _kind_score(need: Need, sentence: str) -> float:
    if need.kind == "number":
        return _HAS_KIND if _NUMBER.search(_DAY_OR_CODE.sub(" ", sentence)) else _LACKS_KIND
    if need.kind == "date":
        return _HAS_KIND if _DATE.search(sentence) else _LACKS_KIND
    if need.kind == "name":
        return _HAS_KIND if _other_names(tuple(need.names), sentence) else _LACKS_KIND
    if need.kind == "place":
        return _HAS_KIND if _PLACE.search(sentence) else _LACKS_KIND
    if need.kind == "why":
        return _HAS_KIND if _REASON.search(sentence) else _LACKS_REASON
    return 0.0


def _other_names(names: Sequence[str], sentence: str) -> bool:
    """Whether a sentence contains a name that the question does not."""
    rest = sentence
    for name in names:
        rest = compile_linear(escape(name), ignore_case=True).sub("it", rest)
    found = [match[0] for match in _NAME.finditer(rest)] + _ACTOR.findall(rest)
    return any(fold(name) not in _NO_ACTORS and name not in _MONTHS for name in found)
