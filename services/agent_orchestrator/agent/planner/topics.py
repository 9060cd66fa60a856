"""What a question is about: the noun phrases of its text, found by articles and the words around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.agent_orchestrator.agent.planner.language import FUNCTION_WORDS, fold
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.wordlists import word_set

_WORD: Final = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_ARTICLES: Final = word_set("the a an our my your his her their its this that these those")
# After these a subject follows, and after it a verb: "does the bell hang".
_AUXILIARIES: Final = word_set(
    "do does did can could will would should must may might has have had"
)
# Ends "When was the bell cast" and not "Where is the bell".
_PARTICIPLE: Final = re.compile(
    r" (?:\w{1,40}(?:ed|wn|ught)|cast|built|made|kept|held|hung|sold|told|sent|spent|left|lost|set|put|cut|met|led|paid"
    r"|laid|done|seen|born|found|run|written|broken|taken|given|chosen|stored|stolen|hidden)$",
    re.IGNORECASE,
)
_COPULAS: Final = word_set("is are was were")
_PREPOSITIONS: Final = word_set("for in at with of from on by to under near about")
_INTERROGATIVE: Final = re.compile(
    r"^(?:(?:since|until|till|by|from|for|with|at|to|in|on) )?"
    r"(?:who(?:m|se)?|what|which|where|when|why|how)(?: (?:many|much|long|often|come|far|old))?\b",
    re.IGNORECASE,
)
_AUXILIARY: Final = (
    "(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may|might)"
)
_OPENING: Final = re.compile(
    rf"^(?:{_INTERROGATIVE.pattern[1:]}(?: [\w-]{{1,40}}){{0,3}}? )?(?P<auxiliary>{_AUXILIARY}) ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase and its position in a text; `before` is the word before it."""

    text: str
    start: int
    end: int
    before: str = ""


def interrogative(text: str) -> str:
    """Returns the word or words that ask at the start of a text: "since when", "how much"; empty if none do."""
    found = _INTERROGATIVE.match(text)
    return found[0] if found is not None else ""


def with_interrogative(text: str, asks: str) -> str:
    """Returns a question that asks something else of what another question says: "Since when does the bell hang"."""
    found = _OPENING.match(text)
    if found is None:
        return f"{text}, {asks.casefold()}"
    start, end = found.span("auxiliary")
    return f"{asks} {text[start:end].casefold()}{text[end:]}"


def said_by(text: str) -> str:
    """Returns what follows a question's auxiliary: "the Marlin probe cost"; empty if it has none."""
    found = _OPENING.match(text)
    return "" if found is None else text[found.end() :].strip(" ?.!")


def topic(question: Question) -> Phrase | None:
    """Returns the noun phrase that a question is about: its first entity, its subject, or its last noun phrase."""
    phrases = _noun_phrases(question)
    named = _entity_phrase(question)
    return named if named is not None else _subject(phrases)


def replace_topic(question: Question, phrase: str) -> str | None:
    """Returns the text of a question about another thing: "Where does the red lamp hang"; None if it names nothing.

    It takes the place of a noun phrase after the same preposition, of one that shares a word, or of the topic.
    """
    first, _, rest = phrase.partition(" ")
    preposition = first.casefold() if first.casefold() in _PREPOSITIONS else ""
    new = rest if preposition else phrase
    old = _counterpart(question, new, preposition)
    if old is None or not new:
        return None
    return f"{question.text[: old.start]}{new}{question.text[old.end :]}"


def _counterpart(question: Question, new: str, preposition: str) -> Phrase | None:
    phrases = _noun_phrases(question)
    if preposition:
        after = [one for one in phrases if one.before == preposition]
        if after:
            return after[-1]
    words = {word for word in fold(new).split() if word not in FUNCTION_WORDS}
    sharing = [one for one in phrases if words & set(fold(one.text).split())]
    return sharing[0] if sharing else topic(question)


def _subject(phrases: Sequence[Phrase]) -> Phrase | None:
    """Returns the phrase after an auxiliary, or what stands after it: "the price of the S2" is about the S2."""
    place = next(
        (
            place
            for place, one in enumerate(phrases)
            if one.before in _AUXILIARIES or one.before in _COPULAS
        ),
        len(phrases) - 1,
    )
    if place < 0:
        return None
    while place + 1 < len(phrases) and phrases[place + 1].before == "of":
        place += 1
    return phrases[place]


def _entity_phrase(question: Question) -> Phrase | None:
    for entity in question.entities:
        start = question.text.casefold().find(entity.name.casefold())
        if start >= 0:
            return Phrase(entity.name, start, start + len(entity.name))
    return None


def _noun_phrases(question: Question) -> list[Phrase]:
    """Returns the runs of content words after an article or, if there are none, of any content words."""
    times = [(time.start, time.end) for time in question.times]
    words = [
        word
        for word in _WORD.finditer(question.text)
        if not any(start <= word.start() < end for start, end in times)
    ]
    found = [phrase for phrase in _runs(words, question.text) if phrase is not None]
    with_article = [one for one in found if fold(one.text.split()[0]) in _ARTICLES]
    return with_article or [one for one in found if one.before in _PREPOSITIONS | _COPULAS]


def _runs(words: Sequence[re.Match[str]], text: str) -> list[Phrase | None]:
    runs: list[list[re.Match[str]]] = []
    befores: list[str] = []
    is_open = False
    for place, word in enumerate(words):
        plain = word[0].casefold()
        adjoins = place > 0 and text[words[place - 1].end() : word.start()].isspace()
        starts = plain in _ARTICLES
        if starts or (plain not in FUNCTION_WORDS and not (is_open and adjoins)):
            runs.append([word])
            befores.append(words[place - 1][0].casefold() if place else "")
            is_open = True
        elif plain in FUNCTION_WORDS:
            is_open = False
        else:
            runs[-1].append(word)
    return [_phrase(run, before, text) for run, before in zip(runs, befores, strict=True)]


def _phrase(run: Sequence[re.Match[str]], before: str, text: str) -> Phrase | None:
    has_article = run[0][0].casefold() in _ARTICLES
    if has_article and len(run) == 1:
        return None
    phrase = Phrase(text[run[0].start() : run[-1].end()], run[0].start(), run[-1].end(), before)
    is_verb = before in _AUXILIARIES or (before in _COPULAS and _PARTICIPLE.search(phrase.text))
    if is_verb and len(run) > 1 + has_article:
        return Phrase(text[phrase.start : run[-2].end()], phrase.start, run[-2].end(), before)
    return phrase
