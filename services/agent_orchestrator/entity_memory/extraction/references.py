"""Resolves noun phrases to their referents; pronouns may refer to earlier turns."""

from dataclasses import dataclass, field

from services.agent_orchestrator.entity_memory.domain import EntityType
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import NounPhrase
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.names import Name
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    DETERMINERS,
    DOCUMENT_HEADS,
    ENDED_ADJECTIVES,
    EVENT_HEADS,
    FUTURE_ADJECTIVES,
    PERSON_PRONOUNS,
    PRIVATE_HEADS,
    PROJECT_HEADS,
    SELF_GROUPS,
    SELF_POSSESSIVES,
)

_FEWEST_WORDS_OF_A_TITLE = 2
_INCLUSIVE = frozenset({"all", "both", "most", "everyone", "everybody", "each", "everything"})


@dataclass(slots=True)
class References:
    """The names that pronouns of later clauses and turns can refer to."""

    types: EntityTypes
    person: Referent | None = None
    several_people: bool = False
    thing: Referent | None = None
    organization: Referent | None = None
    seen: list[Referent] = field(default_factory=list)

    def resolve(self, noun: NounPhrase, clause: Clause | None = None) -> list[Referent]:
        """Returns the referents of the noun phrase; empty if it names nothing or is excluded."""
        if noun.excluded or noun.negative:
            return []
        return self.resolve_even_excluded(noun, clause)

    def resolve_even_excluded(
        self, noun: NounPhrase, clause: Clause | None = None
    ) -> list[Referent]:
        if noun.is_self:
            return [USER]
        if noun.pronoun:
            return self._pronoun(noun, clause)
        if noun.names:
            return [
                referent
                for referent in (self._named(noun, name) for name in noun.names[-1:])
                if referent is not None
            ]
        if noun.stands_for:
            return [referent for each in noun.stands_for for referent in self.resolve(each)]
        ended = noun.modifiers() & (ENDED_ADJECTIVES | FUTURE_ADJECTIVES)
        group = noun.head in SELF_GROUPS or noun.head + "s" in SELF_GROUPS
        ours = noun.possessor == "self" and noun.possessor_name is None
        if (
            (ours and group)
            or (noun.determiner == "the" and noun.head == "team" and not noun.possessor)
        ) and not ended:
            return [USER]
        if noun.possessor_name is not None and group:
            owner = Referent(noun.possessor_name.text, initial=noun.possessor_name.initial)
            return [owner] if self.types.accepts("project", owner) else []
        return []

    def _named(self, noun: NounPhrase, name: Name) -> Referent | None:
        if noun.head in PRIVATE_HEADS:
            return None
        head = noun.head if noun.head_follows else ""
        if noun.head_follows and noun.head in DOCUMENT_HEADS:
            return document(noun)
        if noun.head_follows and (noun.words[-1] in EVENT_HEADS or noun.head in EVENT_HEADS):
            return None
        built = (
            bool(name.introduced)
            or (head in PROJECT_HEADS and noun.possessor == "self")
            or noun.head in {"project", "side-project", "side_project"}
        )
        return Referent(name.text, head, name.lower, name.initial, name.titled, built)

    def _pronoun(self, noun: NounPhrase, clause: Clause | None) -> list[Referent]:
        word = noun.pronoun
        if word in PERSON_PRONOUNS:
            if self.person is None and self.thing is not None:
                if not self.types.accepts("person", self.thing):
                    return []
                self.types.remember(self.thing.name, EntityType.PERSON)
                return [self.thing]
            return [self.person] if self.person is not None else []
        if word in {"it", "this one", "that one", "this", "that"}:
            return [self.thing] if self.thing is not None else []
        if word in {"they", "them"}:
            return [self.person] if self.person is not None and not self.several_people else []
        if word in _INCLUSIVE and clause is not None and _is_of_us(clause):
            return [USER]
        if word == "everything" and clause is not None and _is_alone(noun, clause):
            return [USER]
        if word == "both" and len(self.seen) > 1:
            return self.seen[-2:]
        return []

    def note(self, clauses: list[Clause]) -> None:
        """Stores the names of a sentence for later pronouns; subjects before objects."""
        people: list[Referent] = []
        things: list[tuple[int, Referent]] = []
        for clause in clauses:
            if self.thing is not None and any(noun.pronoun == "it" for noun in clause.subject):
                things.append((0, self.thing))
            ranked = [(0, noun) for noun in clause.subject]
            ranked += [(1, noun) for noun in clause.objects]
            ranked += [(2, noun) for phrase in clause.phrases for noun in phrase.nouns]
            for rank, noun in ranked:
                for name in noun.names:
                    referent = self._named(noun, name)
                    if referent is None or self.types.is_place(referent):
                        continue
                    self.add_referent(referent, rank, people, things)
        if people:
            self.person = people[0] if len(people) == 1 else people[-1]
            self.several_people = len({each.name for each in people}) > 1
        if things:
            self.thing = min(things, key=lambda each: each[0])[1]
            self.seen = [each for _, each in things]

    def add_referent(
        self,
        referent: Referent,
        rank: int,
        people: list[Referent],
        things: list[tuple[int, Referent]],
    ) -> None:
        remembered = self.types.recall(referent.name)
        if remembered is EntityType.PERSON or (
            remembered is None and self.types.is_person(referent)
        ):
            people.append(referent)
        elif remembered is EntityType.ORGANIZATION or (
            remembered is None
            and self.types.is_organization(referent)
            and not self.types.is_tool(referent)
        ):
            self.organization = referent
        else:
            things.append((rank, referent))


def document(noun: NounPhrase) -> Referent | None:
    """Returns the name of a document: "the onboarding guide" without its article."""
    words = noun.text.split()
    while words and words[0].lower() in DETERMINERS | SELF_POSSESSIVES:
        words = words[1:]
    if len(words) < _FEWEST_WORDS_OF_A_TITLE or noun.head not in DOCUMENT_HEADS:
        return None
    return Referent(" ".join(words))


def _is_alone(noun: NounPhrase, clause: Clause) -> bool:
    """ "Everything runs on X" with no owner named: the user's things are meant."""
    return noun in clause.subject and not any(phrase.after is noun for phrase in clause.phrases)


def _is_of_us(clause: Clause) -> bool:
    return any(
        phrase.preposition in {"of", "on", "in", "at"}
        and any(noun.is_self or noun.possessor == "self" for noun in phrase.nouns)
        for phrase in clause.phrases
    )
