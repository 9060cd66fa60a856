"""Turns judged clauses into relationships, by the verb frames.

All readings of a clause stand here, in the order in which they are tried: hence its length.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.extraction.chunks import NounPhrase, VerbGroup
from services.agent_orchestrator.entity_memory.extraction.clauses import Clause, Link, Phrase
from services.agent_orchestrator.entity_memory.extraction.copulas import Copulas
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.frames import (
    ENDINGS,
    EXPLICIT,
    FRAMES,
    IMPLIED,
    INSTRUMENTS,
    INVERSE_USE_VERBS,
    MENTION_VERBS,
    PASSIVES,
    Frame,
)
from services.agent_orchestrator.entity_memory.extraction.judgement import (
    Judgement,
    Reality,
    SentenceJudge,
    is_indispensable,
    is_simple_past,
    lasts,
)
from services.agent_orchestrator.entity_memory.extraction.references import References, document
from services.agent_orchestrator.entity_memory.extraction.statements import Statement
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set
from services.agent_orchestrator.entity_memory.extraction.words import BUILT_HEADS

_R = RelationshipType
_PERSONAL = frozenset({_R.WORKS_WITH, _R.KNOWS})
_TOOL_RELATIONS = (_R.USES, _R.PREFERS, _R.DECIDED, _R.DEPENDS_ON)
_NO_INSTRUMENT = word_set(
    """
    play experiment struggle compare start be look read invest interview meet try believe agree disagree help
    get fill interest lose come go happen compete see wait listen dabble toy mess familiarize need want like
    love hate
    """
)
_COMPARING = frozenset({"like", "love", "enjoy", "find", "know", "trust"})
_COMPARATIVES = frozenset({"better", "more", "best", "most", "easier", "nicer", "faster"})


@dataclass(frozen=True, slots=True)
class Interpreted:
    stated: list[Statement]
    ended: list[Statement]


_BUILDING = word_set(
    """build write rewrite port deploy host run implement develop migrate move create ship"""
)


@dataclass(frozen=True, slots=True)
class Predication:
    """A clause with its resolved subjects and what its verbs were judged to say."""

    clause: Clause
    subjects: list[Referent]
    main: VerbGroup
    judgement: Judgement


class Interpreter:
    """Reads the statements of one sentence's clauses."""

    def __init__(
        self,
        clauses: list[Clause],
        judge: SentenceJudge,
        references: References,
        types: EntityTypes,
    ) -> None:
        self._clauses = clauses
        self._judge = judge
        self._references = references
        self._types = types
        self._copulas = Copulas(clauses, judge, references, types)

    def read(self) -> Interpreted:
        stated: list[Statement] = []
        ended: list[Statement] = []
        self._copulas.equate()
        for place, clause in enumerate(self._clauses):
            if place:
                self._references.note([self._clauses[place - 1]])
            judgement = self._judge.judge(clause)
            if not self._judge.supposed(clause):
                stated.extend(self._copulas.roles(clause))
            if judgement.reality is Reality.OPEN or not clause.verbs:
                continue
            statements = [*self._statements(clause, judgement)]
            if judgement.reality is Reality.ENDED:
                ended.extend(statements)
                continue
            stated.extend(statements)
            ended.extend(self._given_up(clause))
        self._references.note(self._clauses[-1:])
        return Interpreted(_distinct(stated), _distinct(ended))

    # Who

    def _subjects(self, clause: Clause) -> list[Referent]:
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

    def _is_elided(self, clause: Clause) -> bool:
        """ "Switched to X last week": a sentence without subject is about the user."""
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

    def _referents(self, nouns: list[NounPhrase], clause: Clause) -> list[Referent]:
        found: list[Referent] = []
        for noun in nouns:
            found.extend(self._references.resolve(noun, clause))
        return found

    def _objects(self, clause: Clause) -> list[Referent]:
        """The direct objects; of "the editor I use" what the sentence equates it with."""
        found = self._referents(clause.objects, clause)
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

    # What

    def _statements(self, clause: Clause, judgement: Judgement) -> Iterator[Statement]:
        main = clause.verbs[-1]
        subjects = self._subjects(clause)
        if any(subject.is_self for subject in subjects):
            for subject in subjects:
                if not subject.is_self and self._types.accepts("person", subject):
                    self._types.remember(subject.name, EntityType.PERSON)
        yield from self._copulas.read(clause, subjects, judgement)
        if main.lemma == "be":
            return
        if main.passive and not (len(clause.verbs) > 1):
            yield from self._passive(clause, subjects, main, judgement)
            return
        yield from self._special(clause, subjects, judgement)
        yield from self._framed(Predication(clause, subjects, main, judgement))

    def _framed(self, predication: Predication) -> Iterator[Statement]:
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
            candidates = self._objects(clause)
        else:
            candidates = [
                referent
                for phrase in clause.phrases
                if phrase.preposition == frame.marker
                for referent in self._referents(phrase.nouns, clause)
            ]
            stranded = clause.link is Link.RELATIVE and clause.stranded == frame.marker
            if stranded and clause.antecedent is not None and not candidates:
                candidates = self._references.resolve(clause.antecedent, clause)
        return [referent for referent in candidates if self._types.accepts(frame.target, referent)]

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
            if not self._fits_source(frame, subject, main):
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
                companions = [*people, *self._companions(clause)]
                for person in companions:
                    if not self._types.accepts("person", person):
                        continue
                    yield Statement(USER, _R.WORKS_WITH, person, confidence)
                    if person not in people:
                        yield Statement(person, relation, target, confidence)
        elif relation is _R.WORKS_ON and subjects:
            for person in self._companions(clause):
                if person.is_self:
                    for subject in subjects:
                        yield Statement(USER, _R.WORKS_WITH, subject, confidence)
                    yield Statement(USER, relation, target, confidence)
                elif len(subjects) == 1 and self._types.accepts("person", person):
                    yield Statement(subjects[0], _R.WORKS_WITH, person, confidence)
                    yield Statement(person, relation, target, confidence)

    def _built(self, clause: Clause, main: VerbGroup) -> list[Referent]:
        """The named systems that are written in, deployed to or run on something."""
        if main.lemma not in _BUILDING:
            return []
        return [
            referent
            for referent in self._objects(clause)
            if not referent.is_self and self._types.accepts("project", referent)
        ]

    def _is_modifier_of_work(self, target: Referent) -> bool:
        return (
            bool(target.head)
            and bool(self._types.known.types_of(target.name))
            and target.head not in {"project", "team"}
        )

    def _companions(self, clause: Clause) -> list[Referent]:
        return [
            referent
            for phrase in clause.phrases
            if phrase.preposition in {"with", "alongside"}
            for referent in self._referents(phrase.nouns, clause)
            if referent.is_self or self._types.accepts("person", referent)
        ]

    def _fits_source(self, frame: Frame, subject: Referent, main: VerbGroup) -> bool:
        person = subject.is_self or self._types.is_person(subject)
        if frame.type in {*_PERSONAL, _R.WORKS_ON}:
            return subject.is_self or self._types.accepts("person", subject)
        match frame.source:
            case "self":
                return subject.is_self
            case "thing":
                return not person or (
                    subject.is_self
                    and main.lemma
                    not in {"write", "send", "read", "talk", "query", "call", "report"}
                )
            case "person" | "organized":
                return subject.is_self or self._types.accepts("person", subject)
            case _:
                return True

    # Readings that frames do not state

    def _special(
        self, clause: Clause, subjects: list[Referent], judgement: Judgement
    ) -> Iterator[Statement]:
        main = clause.verbs[-1]
        if is_indispensable(clause):
            targets = [
                r
                for phrase in clause.phrases
                if phrase.preposition == "without"
                for r in self._even_excluded(phrase)
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
            for target in self._objects(clause):
                if self._types.accepts("thing", target):
                    for subject in subjects:
                        yield Statement(subject, _R.PREFERS, target, 0.9 * judgement.factor)
        if (
            main.lemma in {"take", "choose", "pick"}
            and main.form in {"base", "third"}
            and any(p.preposition == "over" for p in clause.phrases)
        ):
            for target in self._objects(clause):
                if self._types.accepts("tool", target):
                    for subject in subjects:
                        yield Statement(subject, _R.PREFERS, target, IMPLIED)
        if main.lemma in MENTION_VERBS:
            documents = [*subjects, *(document(noun) for noun in clause.subject if not noun.names)]
            for paper in documents:
                if paper is not None and not paper.is_self and self._types.is_concept(paper):
                    for target in self._objects(clause):
                        if not target.is_self:
                            yield Statement(target, _R.MENTIONED_IN, paper, 0.9)
        if main.lemma in INVERSE_USE_VERBS:
            for subject in subjects:
                if not subject.is_self and self._types.accepts("tool", subject):
                    for target in self._objects(clause):
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
        }.get(main.lemma)
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

    def _even_excluded(self, phrase: Phrase) -> list[Referent]:
        return [
            referent
            for noun in phrase.nouns
            for referent in self._references.resolve_even_excluded(noun)
        ]

    def _instruments(
        self, predication: Predication, used: set[str], taken: set[str]
    ) -> Iterator[Statement]:
        """ "I take notes in Obsidian": a known tool after "in", "with", "on" of any activity."""
        clause, subjects = predication.clause, predication.subjects
        main, judgement = predication.main, predication.judgement
        if main.lemma in _NO_INSTRUMENT or (
            judgement.type is not None and judgement.type is not _R.PREFERS
        ):
            return
        owner = [
            target
            for target in self._objects(clause)
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
            if phrase.preposition not in INSTRUMENTS or phrase.preposition in used:
                continue
            for target in self._referents(phrase.nouns, clause):
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

    # Passives

    def _passive(
        self, clause: Clause, subjects: list[Referent], main: VerbGroup, judgement: Judgement
    ) -> Iterator[Statement]:
        agents = [
            r
            for phrase in clause.phrases
            if phrase.preposition == "by"
            for r in self._referents(phrase.nouns, clause)
        ]
        if main.lemma == "use":
            users = agents or [
                referent
                for phrase in clause.phrases
                if phrase.preposition in {"by", "in", "for", "at", "across", "within"}
                for referent in self._referents(phrase.nouns, clause)
                if referent.is_self or not self._types.is_tool(referent)
            ]
            for subject in subjects:
                if not main.past and not subject.is_self and self._types.accepts("thing", subject):
                    for user in users:
                        yield Statement(user, _R.USES, subject, 0.9)
            return
        for frame in PASSIVES.get(main.lemma, ()):
            for phrase in clause.phrases:
                if phrase.preposition != frame.marker:
                    continue
                targets = self._referents(phrase.nouns, clause)
                if frame.type is _R.MENTIONED_IN:
                    titles = [document(noun) for noun in phrase.nouns if not noun.names]
                    targets.extend(title for title in titles if title is not None)
                for target in targets:
                    if target.is_self or not self._types.accepts(frame.target, target):
                        continue
                    for subject in subjects:
                        if (
                            frame.type is _R.USES
                            and not subject.is_self
                            and self._types.is_person(subject)
                        ):
                            continue
                        yield Statement(
                            subject, frame.type, target, frame.confidence * judgement.factor
                        )
        for agent in agents:
            for frame in FRAMES.get(main.lemma, ()):
                if frame.marker or frame.type is _R.USES or (not frame.event and main.past):
                    continue
                for subject in subjects:
                    if (subject.is_self and frame.type not in _PERSONAL) or not self._types.accepts(
                        frame.target, subject
                    ):
                        continue
                    if subject.is_self:
                        yield Statement(USER, frame.type, agent, 0.9)
                    elif self._fits_source(frame, agent, main):
                        yield Statement(agent, frame.type, subject, 0.9 * judgement.factor)

    # Ends

    def _given_up(self, clause: Clause) -> Iterator[Statement]:
        """What a verb of ending takes back: "dropped X", "moved from B to A"."""
        main = clause.verbs[-1]
        markers = ENDINGS.get(main.lemma)
        if markers is None:
            return
        targets = self._objects(clause) if "" in markers else []
        for phrase in clause.phrases:
            if phrase.preposition in markers:
                targets.extend(self._even_excluded(phrase))
        for subject in self._subjects(clause):
            for target in targets:
                if target.is_self:
                    continue
                types = [*_TOOL_RELATIONS, _R.WORKS_ON, _R.PART_OF]
                for relation in types:
                    yield Statement(subject, relation, target, EXPLICIT)


def _distinct(statements: list[Statement]) -> list[Statement]:
    best: dict[tuple[str, RelationshipType, str], Statement] = {}
    for statement in statements:
        key = (statement.source.name.lower(), statement.type, statement.target.name.lower())
        if statement.source.name.lower() == statement.target.name.lower():
            continue
        if key not in best or best[key].confidence < statement.confidence:
            best[key] = statement
    return list(best.values())
