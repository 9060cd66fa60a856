"""Statements by a verb with its object or preposition, according to the table of frames."""

from collections.abc import Iterator

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.extraction.aspect import (
    is_simple_past,
    lasts,
)
from services.agent_orchestrator.entity_memory.extraction.assertion_check import (
    Reality,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import VerbGroup
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.references import References
from services.agent_orchestrator.entity_memory.extraction.statements.domain import Statement
from services.agent_orchestrator.entity_memory.extraction.statements.participants import (
    Participants,
    Predication,
)
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import (
    FRAMES,
    IMPLIED,
    INSTRUMENTS,
    OBJECT,
    Frame,
)
from services.agent_orchestrator.entity_memory.extraction.word_classes import BUILT_HEADS
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_R = RelationshipType

_PERSONAL = frozenset({_R.WORKS_WITH, _R.KNOWS})

_NO_INSTRUMENT = word_set(
    """
    play experiment struggle compare start be look read invest interview meet try believe agree disagree help
    get fill interest lose come go happen compete see wait listen dabble toy mess familiarize need want like
    love hate
    """
)

_SPOKEN = frozenset({"write", "send", "read", "talk", "query", "call", "report"})
"""What a person does to people and texts, and a system to other systems."""
_WAYS = frozenset({"via", "through"})
_BUILDING = word_set(
    """build write rewrite port deploy host run implement develop migrate move create ship"""
)


def fills(frame: Frame, referent: Referent, types: EntityTypes) -> bool:
    """Whether a referent can fill the slot of a frame. A person cannot be used or written in."""
    if types.accepts(frame.target, referent):
        return True
    used = frame.type is _R.USES and frame.marker in {OBJECT, "in"} and frame.target != "concept"
    return used and types.may_be_tool(referent)


class VerbFrames:
    """Reads clauses by the frames of their verbs."""

    def __init__(
        self, participants: Participants, references: References, types: EntityTypes
    ) -> None:
        self._participants = participants
        self._references = references
        self._types = types

    def read(self, predication: Predication) -> Iterator[Statement]:
        clause, main, judgement = predication.clause, predication.main, predication.judgement
        past = is_simple_past(clause) and judgement.type is None
        perfect = clause.verbs[0].perfect
        used_markers: set[str] = set()
        taken: set[str] = set()
        for frame in FRAMES.get(main.lemma, ()):
            holds = (
                frame.event
                or not (past or (perfect and not lasts(clause)))
                or judgement.reality is Reality.ENDED
            )
            progressive_event = (
                frame.event
                and main.progressive
                and main.lemma in {"join", "meet", "start", "choose", "pick", "decide", "found"}
            )
            if not holds or progressive_event or (frame.needs_object and not clause.objects):
                continue
            if (
                frame.event
                and not frame.needs_object
                and frame.type is _R.WORKS_ON
                and not (past or perfect)
                and main.form == "to"
            ):
                continue
            for target in self._fillers(clause, frame):
                if target.name.lower() in taken and frame.type is not _R.WORKS_ON:
                    continue
                for statement in self._related(predication, frame, target):
                    taken.add(target.name.lower())
                    used_markers.add(frame.marker)
                    yield statement
        if not (past or (perfect and not lasts(clause))):
            yield from self._instruments(predication, used_markers, taken)

    def _fillers(self, clause: Clause, frame: Frame) -> list[Referent]:
        if frame.marker == "":
            candidates = self._participants.objects(clause)
        else:
            candidates = [
                referent
                for phrase in clause.phrases
                if phrase.preposition == frame.marker
                for referent in self._participants.referents(phrase.nouns, clause)
            ]
            stranded = clause.link is Link.RELATIVE and clause.stranded == frame.marker
            if stranded and clause.antecedent is not None and not candidates:
                candidates = self._references.resolve(clause.antecedent, clause)
        # A name among those of people is a person's, whatever else it could be: "two boys, Luca and Dario".
        people = any(self._types.is_person(one) for one in candidates)
        tools = people and frame.target in {"tool", "thing"}
        return [
            one
            for one in candidates
            if fills(frame, one, self._types) and not (tools and not self._types.is_tool(one))
        ]

    def _related(
        self, predication: Predication, frame: Frame, target: Referent
    ) -> Iterator[Statement]:
        clause, subjects = predication.clause, predication.subjects
        main, judgement = predication.main, predication.judgement
        relation = frame.type
        confidence = frame.confidence * judgement.factor
        if judgement.type is not None and relation in {_R.USES, _R.DECIDED, _R.DEPENDS_ON}:
            relation = judgement.type
        if relation is _R.DECIDED and clause.alternative:
            return
        if target.is_self:
            if relation in _PERSONAL:
                for subject in subjects:
                    if not subject.is_self and self._types.accepts("person", subject):
                        yield Statement(USER, relation, subject, confidence)
            return
        people = [subject for subject in subjects if not subject.is_self]
        built = self._built(clause, main) if relation is _R.USES and frame.marker else []
        if built:
            for source in built:
                yield Statement(source, relation, target, confidence)
            return
        for subject in subjects:
            if not self.fits_source(frame, subject, clause):
                continue
            if relation is _R.WORKS_ON and self._is_modifier_of_work(target):
                if subject.is_self and self._types.is_tool(target):
                    yield Statement(subject, _R.USES, target, IMPLIED * judgement.factor)
                continue
            if (
                relation is _R.DEPENDS_ON
                and subject.is_self
                and main.lemma in {"need", "require"}
                and not self._types.is_tool(target)
            ):
                continue
            if relation in _PERSONAL and subject.name == target.name:
                continue
            yield Statement(
                subject,
                relation,
                target,
                confidence,
                built=main.lemma in {"talk", "call"} or target.head in BUILT_HEADS,
            )
        if relation in {_R.WORKS_ON, _R.PART_OF} and any(subject.is_self for subject in subjects):
            together = relation is _R.WORKS_ON or main.lemma in {"found", "co-found", "cofound"}
            if together:
                companions = [*people, *self._participants.companions(clause)]
                for person in companions:
                    if not self._types.accepts("person", person):
                        continue
                    yield Statement(USER, _R.WORKS_WITH, person, confidence)
                    if person not in people:
                        yield Statement(person, relation, target, confidence)
        elif relation is _R.WORKS_ON and subjects:
            for person in self._participants.companions(clause):
                if person.is_self:
                    for subject in subjects:
                        yield Statement(USER, _R.WORKS_WITH, subject, confidence)
                    yield Statement(USER, relation, target, confidence)
                elif len(subjects) == 1 and self._types.accepts("person", person):
                    yield Statement(subjects[0], _R.WORKS_WITH, person, confidence)
                    yield Statement(person, relation, target, confidence)

    def _built(self, clause: Clause, main: VerbGroup) -> list[Referent]:
        """Returns the named systems that are written in, deployed to or run on something."""
        if main.lemma not in _BUILDING:
            return []
        return [
            referent
            for referent in self._participants.objects(clause)
            if not referent.is_self and self._types.accepts("project", referent)
        ]

    def _is_modifier_of_work(self, target: Referent) -> bool:
        return (
            bool(target.head)
            and bool(self._types.known.types_of(target.name))
            and target.head not in {"project", "team"}
        )

    def fits_source(self, frame: Frame, subject: Referent, clause: Clause) -> bool:
        person = subject.is_self or self._types.is_person(subject)
        if frame.type in {*_PERSONAL, _R.WORKS_ON}:
            return subject.is_self or self._types.accepts("person", subject)
        if frame.type is _R.LIVES_IN and frame.marker == "to":
            # A company moves to a tool as well, a person of whom nothing else is said to a place.
            return subject.is_self and any(noun.pronoun == "i" for noun in clause.subject)
        match frame.source:
            case "self":
                return subject.is_self
            case "thing":
                ours = subject.is_self and not any(noun.is_self for noun in clause.subject)
                return (
                    not person
                    or ours
                    or (subject.is_self and clause.verbs[-1].lemma not in _SPOKEN)
                )
            case "person" | "organized":
                return subject.is_self or self._types.accepts("person", subject)
            case _:
                return True

    def _instruments(
        self, predication: Predication, used: set[str], taken: set[str]
    ) -> Iterator[Statement]:
        """ "I take notes in Obsidian": a known tool after "in", "with" or "on" of any activity."""
        clause, subjects = predication.clause, predication.subjects
        main, judgement = predication.main, predication.judgement
        if judgement.type is not None and judgement.type is not _R.PREFERS:
            return
        if not subjects and self._participants.are_own_things(clause):
            subjects = [USER]
        markers = _WAYS if main.lemma in _NO_INSTRUMENT else INSTRUMENTS
        owner = [
            target
            for target in self._participants.objects(clause)
            if target.name
            and main.lemma in {"build", "write", "run", "deploy", "host", "develop", "maintain"}
        ]
        sources = [each for each in owner if not self._types.is_tool(each)] or subjects
        if (
            owner
            and not [each for each in owner if not self._types.is_tool(each)]
            and main.lemma in {"run", "deploy", "host"}
        ):
            sources = subjects
        for phrase in clause.phrases:
            if phrase.preposition not in markers or phrase.preposition in used:
                continue
            for target in self._participants.referents(phrase.nouns, clause):
                if (
                    target.is_self
                    or target.name.lower() in taken
                    or not self._types.accepts("known tool", target)
                ):
                    continue
                for source in sources:
                    if source.is_self or not self._types.is_tool(source):
                        yield Statement(
                            source, judgement.type or _R.USES, target, IMPLIED * judgement.factor
                        )
