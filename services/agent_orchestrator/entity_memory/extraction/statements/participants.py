"""The participants of a clause: its subjects and objects as referents."""

from dataclasses import dataclass

from services.agent_orchestrator.entity_memory.extraction.assertion_check import (
    Judgement,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import NounPhrase, VerbGroup
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link, Phrase
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.references import References
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ENDED_ADJECTIVES,
    FUTURE_ADJECTIVES,
    PERSON_ROLES,
    PRIVATE_HEADS,
)


@dataclass(frozen=True, slots=True)
class Predication:
    """A clause with its resolved subjects and the judgement of its verbs."""

    clause: Clause
    subjects: list[Referent]
    main: VerbGroup
    judgement: Judgement


class Participants:
    """Resolves the noun phrases of one sentence's clauses."""

    def __init__(self, clauses: list[Clause], references: References, types: EntityTypes) -> None:
        self._clauses = clauses
        self._references = references
        self._types = types

    def subjects(self, clause: Clause) -> list[Referent]:
        if not clause.subject:
            return [USER] if self._is_elided(clause) else []
        found: list[Referent] = []
        for noun in clause.subject:
            if clause.link is Link.RELATIVE and noun is clause.antecedent and not noun.names:
                found.extend(
                    referent
                    for each in noun.stands_for
                    for referent in self._references.resolve(each)
                )
                continue
            found.extend(self._references.resolve(noun, clause))
        return found

    @staticmethod
    def are_own_things(clause: Clause) -> bool:
        """Whether the subject is an unnamed thing of the user's: "our invoices", "all my notes"."""
        return bool(clause.subject) and all(
            noun.possessor == "self"
            and noun.possessor_name is None
            and not (noun.names or noun.negative or noun.excluded)
            and noun.head not in PERSON_ROLES | PRIVATE_HEADS
            and not noun.modifiers() & (ENDED_ADJECTIVES | FUTURE_ADJECTIVES)
            for noun in clause.subject
        )

    def _is_elided(self, clause: Clause) -> bool:
        """ "Switched to X last week": a sentence without a subject is about the user."""
        if clause.link is not Link.MAIN or self._clauses[0] is not clause:
            return False
        verb = clause.verbs[0]
        if verb.negated or any(
            each.opener == "" and each.link is Link.COORDINATE and each.parent is None
            for each in self._clauses[1:]
        ):
            return False
        been = (verb.lemma == "be" and verb.form == "participle") or verb.auxiliaries[:1] == (
            "been",
        )
        return (verb.form in {"past", "ing"} and not verb.auxiliaries) or been

    def referents(self, nouns: list[NounPhrase], clause: Clause) -> list[Referent]:
        found: list[Referent] = []
        for noun in nouns:
            found.extend(self._references.resolve(noun, clause))
        return found

    def objects(self, clause: Clause) -> list[Referent]:
        """Returns the direct objects; for "the editor I use" the name that the sentence equates it with."""
        found = self.referents(clause.objects, clause)
        if (
            clause.link is Link.RELATIVE
            and clause.antecedent is not None
            and clause.antecedent not in clause.subject
        ):
            has_phrase = any(clause.antecedent in phrase.nouns for phrase in clause.phrases)
            if (
                not has_phrase
                and all(noun.excluded for noun in clause.objects)
                and not clause.stranded
            ):
                found.extend(self._references.resolve(clause.antecedent, clause))
        return found

    def companions(self, clause: Clause) -> list[Referent]:
        return [
            referent
            for phrase in clause.phrases
            if phrase.preposition in {"with", "alongside"}
            for referent in self.referents(phrase.nouns, clause)
            if referent.is_self or self._types.accepts("person", referent)
        ]

    def even_excluded(self, phrase: Phrase) -> list[Referent]:
        return [
            referent
            for noun in phrase.nouns
            for referent in self._references.resolve_even_excluded(noun)
        ]
