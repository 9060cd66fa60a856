"""What one passage names: a pure function of its text, its title and the space's known names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from services.graph_query.extraction.gazetteer import Gazetteer
from services.graph_query.extraction.phrases import Span, find_phrases
from services.graph_query.extraction.tokens import TokenText
from services.graph_query.names import clean_name, name_key, title_names

_LOWER_CASE_WORDS = 3
_NESTED_WORDS = 2


class MentionKind(IntEnum):
    """How a passage came to name an entity; the greater one wins where several hold."""

    PHRASE = 1
    NAME = 2
    ABOUT = 3


@dataclass(slots=True)
class Mention:
    """An entity's name in a passage: as written, how it was found, and in which sentences."""

    name: str
    kind: MentionKind
    sentences: list[int]


@dataclass(frozen=True, slots=True)
class Extraction:
    """All names of a passage by key, its title's names first; `subjects` are the title's names."""

    mentions: dict[str, Mention]
    subjects: tuple[str, ...]


def extract(title: str, sentences: list[TokenText], gazetteer: Gazetteer) -> Extraction:
    """Names in a passage: its title's, known names (longest match), capitalised runs."""
    mentions: dict[str, Mention] = {}
    subjects = tuple(_note(mentions, name, MentionKind.ABOUT) for name in title_names(title))
    for number, places in enumerate(gazetteer.find(sentences)):
        sentence = sentences[number]
        known = longest([place for place in places if _is_named(sentence, place)])
        for start, end, key in known:
            surface = _surface(sentence, Span(start, end))
            for name in names_at(sentence, Span(start, end), gazetteer.names_of(key)):
                _note_in(mentions, name, surface, MentionKind.NAME, number)
        for span in find_phrases(sentence):
            if _is_free(span, known):
                surface = _surface(sentence, span)
                _note_in(mentions, name_key(surface), surface, MentionKind.PHRASE, number)
    return Extraction(mentions, tuple(dict.fromkeys(subjects)))


def _note(mentions: dict[str, Mention], name: str, kind: MentionKind) -> str:
    key = name_key(name)
    mentions.setdefault(key, Mention(name, kind, []))
    return key


def _note_in(
    mentions: dict[str, Mention], key: str, surface: str, kind: MentionKind, number: int
) -> None:
    mention = mentions.setdefault(key, Mention(clean_name(surface), kind, []))
    mention.kind = max(mention.kind, kind)
    if not mention.sentences or mention.sentences[-1] != number:
        mention.sentences.append(number)


def _surface(sentence: TokenText, span: Span) -> str:
    return sentence.text[sentence.spans[span.start][0] : sentence.spans[span.end - 1][1]]


def _is_named(sentence: TokenText, place: tuple[int, int, str]) -> bool:
    """Whether a match is written as a name: its first letter is no small one, or it is long, or joined."""
    start, end, _ = place
    if end - start >= _LOWER_CASE_WORDS:
        return True
    if not sentence.text[sentence.spans[start][0]].islower():
        return True
    between = sentence.text[sentence.spans[start][1] : sentence.spans[end - 1][0]]
    return end - start > 1 and between != "" and not between[0].isspace()


def longest(places: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Longest matches left to right, and of those inside them the ones of two words or more."""
    kept: list[tuple[int, int, str]] = []
    reach = 0
    for start, end, key in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= reach:
            kept.append((start, end, key))
            reach = end
        elif end <= reach and end - start >= _NESTED_WORDS:
            kept.append((start, end, key))
    return kept


def names_at(sentence: TokenText, span: Span, names: tuple[str, ...]) -> list[str]:
    """The names meant at a match: those written exactly so (the longest), else all that need no symbol."""
    begin = sentence.spans[span.start][0]
    exact = [name for name in names if name_key(sentence.text[begin : begin + len(name)]) == name]
    if exact:
        longest = max(len(name) for name in exact)
        return [name for name in exact if len(name) == longest]
    if span.end - span.start == 1:
        return [name for name in names if name[-1].isalnum() and name[0].isalnum()]
    return list(names)


def _is_free(span: Span, known: list[tuple[int, int, str]]) -> bool:
    """Whether a run stands apart from every known name, or holds it whole with words of its own."""
    for start, end, _ in known:
        apart = span.end <= start or span.start >= end
        holds = span.start <= start and end <= span.end and span.end - span.start > end - start
        if not apart and not holds:
            return False
    return True
