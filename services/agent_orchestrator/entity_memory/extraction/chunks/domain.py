"""Chunks of a sentence: noun phrases, verb groups and function words."""

from dataclasses import dataclass, field
from enum import StrEnum

from services.agent_orchestrator.entity_memory.extraction.names import Name


class Kind(StrEnum):
    NOUN = "noun phrase"
    VERB = "verb group"
    PREPOSITION = "preposition"
    CONJUNCTION = "conjunction"
    COMMA = "comma"
    STOP = "stop"
    COLON = "colon"
    RELATIVE = "relative"
    SUBORDINATOR = "subordinator"
    QUESTION = "question word"
    NEGATION = "negation"
    ADVERB = "adverb"


@dataclass(slots=True)
class NounPhrase:
    """A noun phrase: its names, or its other referent."""

    words: tuple[str, ...] = ()
    """In lower case."""
    text: str = ""
    """As written."""
    names: list[Name] = field(default_factory=list)
    pronoun: str = ""
    possessor: str = ""
    """`self` of "my" and "our", `other` of any other possessive."""
    possessor_name: Name | None = None
    head: str = ""
    """The last common noun, singular; empty if a name ends the phrase and no noun precedes it."""
    head_follows: bool = False
    """Whether the head stands after the name ("the Zed editor")."""
    determiner: str = ""
    negative: bool = False
    excluded: bool = False
    """Set aside by the sentence: "not B", "instead of B"."""
    stands_for: list["NounPhrase"] = field(default_factory=list)
    """What the sentence equates it with: "the editor I use is X"."""

    @property
    def is_self(self) -> bool:
        return self.pronoun in {"i", "we", "me", "us", "myself", "ourselves"}

    def modifiers(self) -> frozenset[str]:
        return frozenset(self.words)


@dataclass(slots=True)
class VerbGroup:
    """Auxiliaries, negation and a main verb."""

    lemma: str
    form: str
    """Of the main verb: `base`, `third`, `past`, `participle`, `ing`, `to` (infinitive)."""
    auxiliaries: tuple[str, ...] = ()
    negated: bool = False
    modal: str = ""
    passive: bool = False
    perfect: bool = False
    progressive: bool = False
    past: bool = False
    adverbs: tuple[str, ...] = ()

    @property
    def finite(self) -> bool:
        return bool(self.auxiliaries) or self.form in {"base", "third", "past"}


@dataclass(slots=True)
class Chunk:
    kind: Kind
    word: str
    start: int
    end: int
    noun: NounPhrase | None = None
    verb: VerbGroup | None = None
