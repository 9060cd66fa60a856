"""How well a sentence answers a question: the words it covers, the names it must have, the kind of answer it holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.agent_orchestrator.agent.planner.language import (
    FUNCTION_WORDS,
    content_words,
    fold,
    stem,
    word_list,
)
from services.agent_orchestrator.agent.planner.question import Question, without_times
from services.agent_orchestrator.agent.planner.wordlists import phrases, words

# Words that mean much the same in questions and answers; each row is one meaning.
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
    "leave depart quit go",
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
    r"seventy|eighty|ninety|hundred|thousand|million|half|dozen|once|twice|every|daily|"
    r"weekly|monthly|nightly|few|several)\b",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:1[89]|20)\d\d\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|noon|midnight|spring|summer|autumn|winter)\b|\d:\d\d",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w-]+|^[A-Z][\w-]+ [A-Z][\w-]+")
# A first word that acts in the singular: "Ada owns", but not "Backups are".
_ACTOR: Final = re.compile(
    r"^([A-Z][\w-]*[^\Ws]) (?:is|was|has|had|will|\w+[^s\W]s|\w+ed|led|ran|built|wrote)\b"
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
_WHO: Final = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
_WHEN: Final = re.compile(
    (
        r"^\W*(?:and |but |so )?(?:since |until |from |by )?when\b|\b(?:what|which) (?:day|date|year|"
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
        r"^\W*(?:and |but )?why\b|\bwhat (?:was|is|were|"
        r"are) the (?:root )?(?:cause|reason)"
    ),
    re.IGNORECASE,
)
_KIND_NOUN: Final = re.compile(
    (
        r"\b(?:which|what)\s+((?:[\w'-]+\s+){0,2}?[\w'-]+)\s+(?:is|are|was|were|do|does|did|has|"
        r"have|had|can|could|will|would|[\w'-]+(?:ed|s)\b|led|made|took|ran|left|came|held|gave)"
    ),
    re.IGNORECASE,
)

_NAME_WEIGHT: Final = 1.5
_KIND_WEIGHT: Final = 0.4
_IN_TITLE: Final = 0.7
_BEFORE: Final = 0.45
_NAME_IN_TITLE: Final = 0.85
_NAME_BEFORE: Final = 0.6
_IN_NO_TEXT: Final = 3.0
_PHRASE: Final = 0.04
_MAX_PHRASES: Final = 0.12
_SYNONYM: Final = 0.8
_HAS_KIND: Final = 0.12
_LACKS_KIND: Final = -0.3
_LACKS_REASON: Final = -0.08


@dataclass(frozen=True, slots=True)
class Need:
    """What an answer to a question has to cover: names as a whole, stems of words with their weights, and its kind."""

    names: dict[str, float]
    stems: dict[str, float]
    kind: str

    @property
    def weight(self) -> float:
        """The weight of everything."""
        return sum(self.names.values()) + sum(self.stems.values())

    def weighed(self, texts: Sequence[str]) -> Need:
        """The same need with rare words and names counting for more, and most of all those that no text has."""
        held = [(fold(text), _stems(text)) for text in texts]
        names = {
            name: weight * _rarity(sum(name in text for text, _ in held), len(held))
            for name, weight in self.names.items()
        }
        stems = {
            word: weight * _rarity(sum(_met(word, own, own) > 0 for _, own in held), len(held))
            for word, weight in self.stems.items()
        }
        return Need(names, stems, self.kind)


@dataclass(frozen=True, slots=True)
class Match:
    """How a statement meets a need: the share of it that is covered, and a correction by the kind of answer."""

    coverage: float
    words: float
    kind: float
    phrases: float
    has_names: bool

    @property
    def score(self) -> float:
        """Coverage, shared phrases and kind in one number."""
        return self.coverage + self.kind + self.phrases


def need_of(question: Question) -> Need:
    """What a question asks for, without its times."""
    text = without_times(question.text, question.times)
    names = tuple(fold(entity.name) for entity in question.entities)
    rest = _HOW_MANY.sub(" ", fold(text))
    for name in names:
        rest = rest.replace(name, " ")
    light = _kind_words(text)
    stems = {stem(word): _KIND_WEIGHT if word in light else 1.0 for word in content_words(rest)}
    return Need(dict.fromkeys(names, _NAME_WEIGHT), stems, kind_of(question.text))


def kind_of(text: str) -> str:
    """Which kind of answer a question wants."""
    for kind, pattern in (("why", _WHY), ("number", _HOW_MANY), ("date", _WHEN), ("name", _WHO)):
        if pattern.search(text):
            return kind
    return ""


def match(
    need: Need, sentence: str, title: str = "", before: str = "", question: str = ""
) -> Match:
    """How a sentence meets a need; words of its title and of the sentence before count for less."""
    own = _stems(sentence)
    near = ((_stems(title), _IN_TITLE), (_stems(before), _BEFORE))
    named = {
        name: weight * _named(name, sentence, title, before) for name, weight in need.names.items()
    }
    met = {word: weight * _met_near(word, own, near) for word, weight in need.stems.items()}
    coverage = (sum(named.values()) + sum(met.values())) / (need.weight or 1.0)
    of_words = sum(met.values()) / sum(need.stems.values()) if need.stems else 1.0
    return Match(
        coverage,
        of_words,
        _kind_score(need, sentence),
        _shared_phrases(question, sentence),
        all(named.values()),
    )


def stems_meet(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether any two stems are the same or mean much the same."""
    wanted = set(second)
    return any(one in wanted or _RELATED.get(one, frozenset()) & wanted for one in first)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in word_list(text)) | frozenset(
        stem(part) for word in word_list(text) if "-" in word for part in word.split("-")
    )


def _met(word: str, own: frozenset[str], near: frozenset[str]) -> float:
    """1 for the word itself, a little less for one that means much the same."""
    if word in own or word in near:
        return 1.0
    return _SYNONYM if _RELATED.get(word, frozenset()) & (own | near) else 0.0


def _met_near(
    word: str, own: frozenset[str], near: Sequence[tuple[frozenset[str], float]]
) -> float:
    return max(_met(word, own, own), *(share * _met(word, stems, stems) for stems, share in near))


def _named(name: str, sentence: str, title: str, before: str) -> float:
    """A name counts whole in the sentence, nearly so in its title, and less where the sentence names others."""
    if name in fold(sentence):
        return 1.0
    if name in fold(title):
        return _NAME_IN_TITLE
    if name in fold(before):
        return _NAME_BEFORE if not _other_names((name,), sentence) else _NAME_BEFORE / 2
    return 0.0


def _rarity(count: int, total: int) -> float:
    """From 0.6 for what every text has to 1.5 for what one has, and 3 for what none has."""
    if count == 0:
        return _IN_NO_TEXT
    return 0.6 + 0.9 * math.log((total + 1) / (count + 1)) / math.log(total + 1)


def _shared_phrases(question: str, sentence: str) -> float:
    """A little for each pair of neighbouring words that both have, small words included."""
    asked, said = _pairs(question), _pairs(sentence)
    return min(len(asked & said) * _PHRASE, _MAX_PHRASES)


def _pairs(text: str) -> set[tuple[str, str]]:
    plain = word_list(text)
    pairs = pairwise(plain)
    return {pair for pair in pairs if not FUNCTION_WORDS.issuperset(pair)}


def _kind_words(text: str) -> frozenset[str]:
    """The nouns behind "which": an answer names one of the kind, and need not say the kind."""
    found = _KIND_NOUN.search(text)
    if found is None:
        return frozenset()
    return frozenset(word for word in word_list(found[1]) if word not in FUNCTION_WORDS)


def _kind_score(need: Need, sentence: str) -> float:
    if need.kind == "number":
        return _HAS_KIND if _NUMBER.search(sentence) else _LACKS_KIND
    if need.kind == "date":
        return _HAS_KIND if _DATE.search(sentence) else _LACKS_KIND
    if need.kind == "name":
        return _HAS_KIND if _other_names(tuple(need.names), sentence) else _LACKS_KIND
    if need.kind == "why":
        return _HAS_KIND if _REASON.search(sentence) else _LACKS_REASON
    return 0.0


def _other_names(names: Sequence[str], sentence: str) -> bool:
    """Whether a sentence names someone whom the question does not."""
    rest = sentence
    for name in names:
        rest = re.sub(re.escape(name), "it", rest, flags=re.IGNORECASE)
    found = [match[0] for match in _NAME.finditer(rest)] + _ACTOR.findall(rest)
    return any(fold(name) not in _NO_ACTORS for name in found)
