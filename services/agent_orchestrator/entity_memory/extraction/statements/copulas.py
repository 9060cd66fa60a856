"""Statements with "be": roles ("Ravi is my colleague"), favorites, employers, and equations."""

from collections.abc import Iterator

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.extraction.assertion_check import (
    Judgement,
    Reality,
    SentenceJudge,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import NounPhrase
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.references import References
from services.agent_orchestrator.entity_memory.extraction.statements.domain import Statement
from services.agent_orchestrator.entity_memory.extraction.statements.roles import (
    Roles,
    role_relation,
)
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import (
    EXPLICIT,
    IMPLIED,
)
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ENDED_ADJECTIVES,
    FUTURE_ADJECTIVES,
    PERSON_ROLES,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_R = RelationshipType

_PROJECT_ROLES = word_set(
    """
    maintainer author lead owner creator architect contributor committer developer tech_lead co-maintainer
    manager head coordinator
    """
)

_COMMUNITY = frozenset({"shop", "house", "user", "team", "company", "household"})

_STATES = frozenset({"be", "remain", "stay", "become"})

_MANY = word_set(
    """
    neighbour cofounder colleague coworker friend neighbor co-founder partner teammate flatmate co-worker
    roommate classmate
    """
)


class Copulas:
    """Reads the clauses of one sentence whose verb is "be"."""

    def __init__(
        self,
        clauses: list[Clause],
        judge: SentenceJudge,
        references: References,
        types: EntityTypes,
        roles: Roles,
    ) -> None:
        self._clauses = clauses
        self._judge = judge
        self._references = references
        self._types = types
        self._roles = roles

    def equate(self) -> None:
        """ "the editor I use is X", "X is what I use": records the referent of a noun phrase without a name."""
        for clause in self._clauses:
            self._equate_appositions(clause)
            verb = clause.verb
            if (
                verb is None
                or verb.lemma not in _STATES
                or verb.negated
                or self._judge.judge(clause).reality is not Reality.FACT
            ):
                continue
            named = [noun for noun in clause.objects if noun.names and not noun.excluded]
            subjects = [
                noun
                for noun in clause.subject
                if noun.names or noun.pronoun in {"it", "that", "this"}
            ]
            for noun in clause.subject:
                if not noun.names and noun.head and named and self._is_antecedent(noun):
                    noun.stands_for = named
            for noun in clause.objects:
                if (
                    not noun.names
                    and (noun.head or noun.pronoun == "one")
                    and subjects
                    and self._is_antecedent(noun)
                ):
                    noun.stands_for = subjects
                elif noun.names and any(each.pronoun == "it" for each in clause.subject):
                    for each in clause.subject:
                        each.stands_for = [noun]

    def _equate_appositions(self, clause: Clause) -> None:
        """ "Beacon, the project I maintain, …": the project is Beacon."""
        for pair in clause.appositions:
            for named, described in (pair, pair[::-1]):
                if named.names and not described.names and self._is_antecedent(described):
                    described.stands_for = [named]

    def _is_antecedent(self, noun: NounPhrase) -> bool:
        return any(each.antecedent is noun for each in self._clauses)

    def read(
        self, clause: Clause, subjects: list[Referent], judgement: Judgement
    ) -> Iterator[Statement]:
        main = clause.verbs[-1]
        if (
            main.lemma not in _STATES
            or (main.past and judgement.reality is Reality.FACT)
            or main.modal
        ):
            return
        named = [subject for subject in subjects if not subject.is_self]
        if self._is_of_choice(clause) and any(noun.possessor == "self" for noun in clause.objects):
            for referent in named:
                yield Statement(USER, _R.PREFERS, referent, EXPLICIT)
            return
        yield from self._complements(clause, subjects, named)
        yield from self._from_description(clause)
        yield from self._phrases(clause, subjects, named)

    def _complements(
        self, clause: Clause, subjects: list[Referent], named: list[Referent]
    ) -> Iterator[Statement]:
        for noun in clause.objects:
            if noun.names and not noun.head_follows:
                continue
            if noun.names:
                yield from self._community(noun, subjects)
                continue
            of_us = any(
                phrase.preposition == "of"
                and any(each.is_self or each.pronoun in {"mine", "ours"} for each in phrase.nouns)
                for phrase in clause.phrases
            )
            relation = role_relation(noun)
            if relation is not None and (of_us or noun.pronoun == "one"):
                for referent in named:
                    if self._types.accepts("person", referent):
                        yield Statement(USER, relation, referent, EXPLICIT)
            elif noun.possessor and not noun.excluded:
                yield from self._roles.described(named, noun, EXPLICIT)
            if noun.pronoun == "one":
                yield from self._one_of(clause, named)
            if (
                relation is not None
                and len(subjects) > 1
                and noun.head in _MANY
                and not noun.possessor
            ):
                yield from self._pairs(subjects, relation)
            if noun.head in PERSON_ROLES:
                yield from self._occupation(clause, subjects, noun)

    def _one_of(self, clause: Clause, named: list[Referent]) -> Iterator[Statement]:
        for phrase in clause.phrases:
            if phrase.preposition == "of":
                for noun in phrase.nouns:
                    yield from self._roles.described(named, noun, EXPLICIT)

    def _pairs(self, subjects: list[Referent], relation: RelationshipType) -> Iterator[Statement]:
        first = USER if any(subject.is_self for subject in subjects) else subjects[0]
        for subject in subjects:
            if (
                subject is not first
                and not subject.is_self
                and self._types.accepts("person", subject)
            ):
                yield Statement(first, relation, subject, 0.9)

    def _community(self, noun: NounPhrase, subjects: list[Referent]) -> Iterator[Statement]:
        """ "We are a Python shop", "I'm a Vim user"."""
        head = noun.words[-1].rstrip("s") if noun.words else ""
        if head not in _COMMUNITY or noun.excluded:
            return
        for name in noun.names:
            referent = Referent(name.text, "", name.lower, name.initial)
            if self._types.is_tool(referent):
                for subject in subjects:
                    if subject.is_self or self._types.is_person(subject):
                        yield Statement(subject, _R.USES, referent, IMPLIED)

    def _occupation(
        self, clause: Clause, subjects: list[Referent], noun: NounPhrase
    ) -> Iterator[Statement]:
        """ "I'm an engineer at Acme", "Ana is the maintainer of Beacon"."""
        if noun.modifiers() & (ENDED_ADJECTIVES | FUTURE_ADJECTIVES):
            return
        for phrase in clause.phrases:
            targets = [
                referent
                for each in phrase.nouns
                for referent in self._references.resolve(each, clause)
            ]
            for target in targets:
                if target.is_self:
                    continue
                for subject in subjects:
                    if not subject.is_self and not self._types.accepts("person", subject):
                        continue
                    organization = self._types.is_organization(target) and not target.project
                    if phrase.preposition in {"at", "for", "with"} or (
                        phrase.preposition == "of" and organization
                    ):
                        if (
                            self._types.accepts("organization", target)
                            and phrase.preposition != "with"
                        ):
                            yield Statement(subject, _R.PART_OF, target, EXPLICIT)
                    elif (
                        phrase.preposition in {"of", "on"}
                        and noun.head in _PROJECT_ROLES
                        and self._types.accepts("thing", target)
                    ):
                        yield Statement(subject, _R.WORKS_ON, target, 0.92)

    def _from_description(self, clause: Clause) -> Iterator[Statement]:
        """ "My favourite editor is X", "Our database is X", "My manager is Helen"."""
        named = [
            referent
            for noun in clause.objects
            if noun.names
            for referent in self._references.resolve(noun, clause)
        ]
        of_choice = self._is_of_choice(clause)
        for noun in clause.subject:
            if noun.names or noun.negative:
                continue
            yield from self._roles.affiliation_of_role(clause, noun, named)
            if of_choice and noun.possessor == "self":
                for referent in named:
                    yield Statement(USER, _R.PREFERS, referent, EXPLICIT)
            else:
                described = list(self._roles.described(named, noun, EXPLICIT))
                yield from described
                if any(statement.type is _R.USES for statement in described):
                    yield from self._parts(clause)

    def _parts(self, clause: Clause) -> Iterator[Statement]:
        """ "Our backend is X with Y on Z"."""
        for phrase in clause.phrases:
            if phrase.preposition in {"with", "on"}:
                for noun in phrase.nouns:
                    for referent in self._references.resolve(noun, clause):
                        if self._types.accepts("known tool", referent) and not referent.is_self:
                            yield Statement(USER, _R.USES, referent, 0.85)

    @staticmethod
    def _is_of_choice(clause: Clause) -> bool:
        return any(
            phrase.preposition == "of" and any(noun.head == "choice" for noun in phrase.nouns)
            for phrase in clause.phrases
        )

    def _phrases(
        self, clause: Clause, subjects: list[Referent], named: list[Referent]
    ) -> Iterator[Statement]:
        """ "We're on AWS", "Ana is at Acme", "X is part of Y", "Ana is on my team"."""
        for phrase in clause.phrases:
            nouns = phrase.nouns
            targets = [
                referent for noun in nouns for referent in self._references.resolve(noun, clause)
            ]
            match phrase.preposition:
                case "on":
                    for target in targets:
                        yield from self._on(subjects, target)
                    if any(
                        noun.possessor == "self"
                        and noun.head in {"team", "squad", "crew", "group", "project"}
                        for noun in nouns
                    ):
                        for subject in named:
                            if self._types.accepts("person", subject):
                                yield Statement(USER, _R.WORKS_WITH, subject, 0.9)
                case "at" | "with":
                    for target in targets:
                        if (
                            not clause.objects
                            and not target.is_self
                            and self._is_employer(target, phrase.preposition)
                        ):
                            for subject in subjects:
                                if subject.is_self or self._types.accepts("person", subject):
                                    yield Statement(subject, _R.PART_OF, target, 0.9)
                case "part_of" | "member_of":
                    yield from self._membership(subjects, targets)
                case "in_charge_of":
                    for target in targets:
                        if not target.is_self and self._types.accepts("thing", target):
                            for subject in subjects:
                                if self._types.accepts("person", subject):
                                    yield Statement(subject, _R.WORKS_ON, target, 0.92)
                case "friends_with":
                    for target in targets:
                        if self._types.accepts("person", target):
                            source = subjects[0] if subjects else None
                            if source is not None and not target.is_self:
                                yield Statement(source, _R.KNOWS, target, EXPLICIT)
                            elif source is not None:
                                yield Statement(USER, _R.KNOWS, source, EXPLICIT)
                case "next_to":
                    pass
                case _:
                    continue

    def _is_employer(self, target: Referent, preposition: str) -> bool:
        if preposition == "with":
            return self._types.is_organization(target) and not self._types.is_person(target)
        return self._types.accepts("organization", target) and not self._types.is_place(target)

    def _on(self, subjects: list[Referent], target: Referent) -> Iterator[Statement]:
        if target.is_self or not self._types.accepts("tool", target):
            return
        if target.head in {"team", "project", "squad"}:
            relation = _R.WORKS_ON if target.head == "project" else _R.PART_OF
            for subject in subjects:
                yield Statement(subject, relation, target, IMPLIED)
            return
        for subject in subjects:
            if subject.is_self or self._types.accepts("thing", subject):
                known = self._types.is_tool(target)
                yield Statement(
                    subject,
                    _R.USES,
                    target,
                    0.9 if known else 0.75,
                )

    def _membership(self, subjects: list[Referent], targets: list[Referent]) -> Iterator[Statement]:
        for target in targets:
            if target.is_self:
                continue
            for subject in subjects:
                yield Statement(subject, _R.PART_OF, target, EXPLICIT)
