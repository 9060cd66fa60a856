"""A clause: its subject, verb groups, objects and prepositional phrases, and what it depends on."""

from dataclasses import dataclass, field
from enum import StrEnum

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import NounPhrase, VerbGroup


class Link(StrEnum):
    MAIN = "main"
    COORDINATE = "coordinate"
    SUBORDINATE = "subordinate"
    RELATIVE = "relative"
    COMPLEMENT = "complement"
    QUESTION = "question"


@dataclass(slots=True)
class Phrase:
    """A preposition with the noun phrases that it governs."""

    preposition: str
    nouns: list[NounPhrase] = field(default_factory=list)
    after: NounPhrase | None = None
    """The noun phrase that it directly follows ("Sarah from Acme")."""


@dataclass(slots=True)
class Clause:
    link: Link
    opener: str = ""
    parent: "Clause | None" = None
    subject: list[NounPhrase] = field(default_factory=list)
    verbs: list[VerbGroup] = field(default_factory=list)
    objects: list[NounPhrase] = field(default_factory=list)
    phrases: list[Phrase] = field(default_factory=list)
    adverbs: list[str] = field(default_factory=list)
    antecedent: NounPhrase | None = None
    """Of a relative clause: the noun phrase that it modifies."""
    appositions: list[tuple[NounPhrase, NounPhrase]] = field(default_factory=list)
    shared_subject: bool = False
    stranded: str = ""
    """A preposition left without noun phrase: "the database we settled on"."""
    alternative: bool = False
    """Whether its objects are joined by "or"."""
    start: int = 0
    end: int = 0

    @property
    def verb(self) -> VerbGroup | None:
        return self.verbs[-1] if self.verbs else None

    def nouns(self) -> list[NounPhrase]:
        phrases = [noun for phrase in self.phrases for noun in phrase.nouns]
        return [*self.subject, *self.objects, *phrases]
