"""Statements in forms without a verb frame: "cannot live without", comparisons, "together", "there"."""

from collections.abc import Iterator

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.extraction.aspect import (
    is_indispensable,
)
from services.agent_orchestrator.entity_memory.extraction.assertion_check import (
    Judgement,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import VerbGroup
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.references import References, document
from services.agent_orchestrator.entity_memory.extraction.statements.domain import Statement
from services.agent_orchestrator.entity_memory.extraction.statements.participants import (
    Participants,
)
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import (
    EXPLICIT,
    IMPLIED,
    INVERSE_USE_VERBS,
    MENTION_VERBS,
)

_R = RelationshipType

_COMPARING = frozenset({"like", "love", "enjoy", "find", "know", "trust"})

_COMPARATIVES = frozenset({"better", "more", "best", "most", "easier", "nicer", "faster"})


class Forms:
    """Reads the forms that no frame covers."""

    def __init__(
        self, participants: Participants, references: References, types: EntityTypes
    ) -> None:
        self._participants = participants
        self._references = references
        self._types = types

    def read(
        self, clause: Clause, subjects: list[Referent], judgement: Judgement
    ) -> Iterator[Statement]:
        main = clause.verbs[-1]
        if is_indispensable(clause):
            targets = [
                r
                for phrase in clause.phrases
                if phrase.preposition == "without"
                for r in self._participants.even_excluded(phrase)
            ]
            if clause.stranded == "without" and clause.antecedent is not None:
                targets = self._references.resolve(clause.antecedent, clause)
            for target in targets:
                if self._types.accepts("thing", target):
                    for subject in subjects:
                        yield Statement(
                            subject, _R.USES if subject.is_self else _R.DEPENDS_ON, target, EXPLICIT
                        )
        if main.lemma in _COMPARING and self._compares(clause):
            for target in self._participants.objects(clause):
                if self._types.accepts("thing", target):
                    for subject in subjects:
                        yield Statement(subject, _R.PREFERS, target, 0.9 * judgement.factor)
        if (
            main.lemma in {"take", "choose", "pick"}
            and main.form in {"base", "third"}
            and any(p.preposition == "over" for p in clause.phrases)
        ):
            for target in self._participants.objects(clause):
                if self._types.accepts("tool", target):
                    for subject in subjects:
                        yield Statement(subject, _R.PREFERS, target, IMPLIED)
        if main.lemma in MENTION_VERBS:
            documents = [*subjects, *(document(noun) for noun in clause.subject if not noun.names)]
            for paper in documents:
                if paper is not None and not paper.is_self and self._types.is_concept(paper):
                    for target in self._participants.objects(clause):
                        if not target.is_self:
                            yield Statement(target, _R.MENTIONED_IN, paper, 0.9)
        if main.lemma in INVERSE_USE_VERBS:
            for subject in subjects:
                if not subject.is_self and self._types.accepts("tool", subject):
                    for target in self._participants.objects(clause):
                        yield Statement(target, _R.USES, subject, 0.9)
        yield from self._mutual(clause, subjects, main)
        yield from self._there(clause, subjects, main)

    def _there(
        self, clause: Clause, subjects: list[Referent], main: VerbGroup
    ) -> Iterator[Statement]:
        organization = self._references.organization
        if organization is None or main.past:
            return
        there = any(noun.pronoun == "there" for noun in clause.objects)
        if main.lemma in {"work", "study", "teach", "intern"} and there:
            for subject in subjects:
                if self._types.accepts("person", subject):
                    yield Statement(subject, _R.PART_OF, organization, 0.9)

    def _mutual(
        self, clause: Clause, subjects: list[Referent], main: VerbGroup
    ) -> Iterator[Statement]:
        """ "Ana and I work together", "Ana and Ben know each other"."""
        together = "together" in clause.adverbs or any(
            noun.pronoun == "each_other" for noun in clause.objects
        )
        together = together or any(
            noun.pronoun == "each_other" for phrase in clause.phrases for noun in phrase.nouns
        )
        if len(subjects) < 2 or not (together or main.lemma == "meet"):
            return
        kind = {
            "work": _R.WORKS_WITH,
            "collaborate": _R.WORKS_WITH,
            "pair": _R.WORKS_WITH,
            "know": _R.KNOWS,
            "meet": _R.KNOWS,
            "live": _R.KNOWS,
        }.get(main.lemma, _R.WORKS_WITH if together and main.progressive else None)
        if kind is None or (kind is _R.WORKS_WITH and main.past and not main.perfect):
            return
        first = USER if any(subject.is_self for subject in subjects) else subjects[0]
        for subject in subjects:
            if (
                not subject.is_self
                and subject is not first
                and self._types.accepts("person", subject)
            ):
                yield Statement(first, kind, subject, 0.9)

    def _compares(self, clause: Clause) -> bool:
        adverbs = {*clause.adverbs, *clause.verbs[-1].adverbs}
        for noun in clause.objects:
            adverbs |= {word for word in noun.words if word in _COMPARATIVES}
        phrases = {phrase.preposition for phrase in clause.phrases}
        if clause.verbs[-1].lemma == "know":
            return False
        return bool(adverbs & _COMPARATIVES) or bool(phrases & {"better_than", "more_than"})
