"""Reads noun phrases: determiner, possessor, modifiers, names and the head."""

from dataclasses import replace

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    NounPhrase,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.function_words import FunctionWords
from services.agent_orchestrator.entity_memory.extraction.chunks.scan import Scan
from services.agent_orchestrator.entity_memory.extraction.chunks.verb_detection import VerbDetector
from services.agent_orchestrator.entity_memory.extraction.own_text import PLACEHOLDER
from services.agent_orchestrator.entity_memory.extraction.verbs import AUXILIARIES, NOUNS_TOO
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ADVERBS,
    CONJUNCTIONS,
    DETERMINERS,
    NAMING,
    NEGATIVE_DETERMINERS,
    NEGATORS,
    OTHER_POSSESSIVES,
    PERSON_ROLES,
    PREPOSITIONS,
    PRONOUNS,
    SELF_POSSESSIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
)


class NounPhrases:
    """Reads the noun phrase that starts at a position."""

    def __init__(self, scan: Scan, function_words: FunctionWords, detector: VerbDetector) -> None:
        self._scan = scan
        self._function_words = function_words
        self._detector = detector

    def read(self, place: int) -> int:
        start = place
        noun = NounPhrase()
        token = self._scan.tokens[place]
        if (
            token.lower in PRONOUNS
            and place not in self._scan.inside_names
            and not self._determines(place)
        ):
            noun.pronoun = token.lower
            noun.words = (token.lower,)
            noun.negative = token.lower in NEGATIVE_DETERMINERS
            self._scan.chunks.append(Chunk(Kind.NOUN, token.lower, start, place + 1, noun=noun))
            return place + 1
        words: list[str] = []
        while place < len(self._scan.tokens):
            name = self._scan.names.get(place)
            adjacent = name is not None and name.start > start and _is_followed_by(noun, place)
            if name is not None and not adjacent and not self._scan.verb_over_name(place):
                if noun.names and not _words_since(noun, words):
                    break
                noun.names.append(name)
                words.append(name.text.lower())
                noun.head_follows = False
                place = name.end
                continue
            if place > start and not self._continues_noun(place, noun, words):
                break
            place = self._noun_word(place, noun, words)
        noun.words = tuple(words)
        noun.text = " ".join(token.text for token in self._scan.tokens[start:place])
        self._scan.chunks.append(
            Chunk(Kind.NOUN, words[-1] if words else "", start, place, noun=noun)
        )
        return place

    def _determines(self, place: int) -> bool:
        """Whether a word that can also be a pronoun precedes its noun: "that tool", "both editors", "her team"."""
        word = self._scan.lower(place)
        if word in SUBJECT_PRONOUNS | {"me", "us", "him", "them", "mine", "ours"} or word.endswith(
            ("self", "selves", "body", "one")
        ):
            return False
        if word not in DETERMINERS | {"her"}:
            return False
        following = self._scan.lower(place + 1)
        if not following or not self._scan.tokens[place + 1].is_word:
            return False
        if (place + 1) in self._scan.names:
            return word != "that" or not self._scan.is_finite(place + 2)
        if (
            following
            in AUXILIARIES | PREPOSITIONS | PRONOUNS | CONJUNCTIONS | ADVERBS | SUBORDINATORS
        ):
            return following in {"one", "ones"} or (word == "her" and following == "own")
        kinds = self._scan.kinds(place + 1)
        return (
            not kinds
            or following in NOUNS_TOO
            or bool(kinds & {"ing", "participle"} and word != "that")
        )

    def _continues_noun(self, place: int, noun: NounPhrase, words: list[str]) -> bool:
        token = self._scan.tokens[place]
        word = token.lower
        if word == "'s":
            return not self._detector.is_contracted_verb(place)
        if not token.is_word and token.text != PLACEHOLDER:
            return False
        if place in self._scan.inside_names or (word in NAMING and place + 1 in self._scan.names):
            return False
        if word in DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES or word in PRONOUNS:
            complete = bool(words)
            return (
                (not complete and word not in SUBJECT_PRONOUNS)
                or word in {"one", "ones", "own"}
                or (
                    len(words) == 1
                    and words[0] in {"all", "both", "half"}
                    and word in SELF_POSSESSIVES | {"the", "these", "those"}
                )
            )
        if (
            self._function_words.kind(place) is not None
            or word in AUXILIARIES
            or word in NEGATORS
            or word == "to"
        ):
            return False
        if word in ADVERBS:
            # "my best friend", "our only database"
            describes = bool(noun.possessor) and not noun.head
            return (not words or describes) and not noun.names and word != "not"
        kinds = self._scan.kinds(place)
        if not kinds:
            return True
        if not noun.names and not noun.head:
            return True
        self._scan.chunks.append(Chunk(Kind.NOUN, "", place, place, noun=_snapshot(noun, words)))
        try:
            return not self._detector.is_verb_here(place, kinds)
        finally:
            self._scan.chunks.pop()

    def _noun_word(self, place: int, noun: NounPhrase, words: list[str]) -> int:
        word = self._scan.lower(place)
        if word in SELF_POSSESSIVES:
            noun.possessor = "self"
        elif word in OTHER_POSSESSIVES:
            noun.possessor = "other"
        elif word == "'s":
            if noun.names:
                noun.possessor_name = noun.names.pop()
                noun.possessor = "other"
            elif noun.possessor != "self" or noun.head in PERSON_ROLES:
                noun.possessor = "other"
            noun.head = ""
        elif word in DETERMINERS and not noun.head:
            noun.determiner = noun.determiner or word
        elif word in NEGATIVE_DETERMINERS:
            noun.negative = True
        else:
            noun.head = singular(word)
            noun.head_follows = bool(noun.names)
        if word in NEGATIVE_DETERMINERS:
            noun.negative = True
        words.append(word)
        return place + 1


def _is_followed_by(noun: NounPhrase, place: int) -> bool:
    """Whether a name directly follows another: two adjacent names are two phrases."""
    return bool(noun.names) and noun.names[-1].end == place


def _words_since(noun: NounPhrase, words: list[str]) -> bool:
    """Whether a common noun stands between the last name and this position."""
    return bool(words) and words[-1] != noun.names[-1].text.lower()


def singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "ops")) and len(word) > 3:
        return word[:-1]
    return word


def _snapshot(noun: NounPhrase, words: list[str]) -> NounPhrase:
    return replace(noun, words=tuple(words))
