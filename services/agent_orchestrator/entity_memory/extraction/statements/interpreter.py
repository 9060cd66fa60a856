"""Reads the statements of a sentence: what its clauses assert, and what they say has ended."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.extraction.assertion_check import (
    Judgement,
    Reality,
    SentenceJudge,
)
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    EntityTypes,
)
from services.agent_orchestrator.entity_memory.extraction.references import References
from services.agent_orchestrator.entity_memory.extraction.statements.copulas import Copulas
from services.agent_orchestrator.entity_memory.extraction.statements.domain import Statement
from services.agent_orchestrator.entity_memory.extraction.statements.forms import Forms
from services.agent_orchestrator.entity_memory.extraction.statements.participants import (
    Participants,
    Predication,
)
from services.agent_orchestrator.entity_memory.extraction.statements.passives import Passives
from services.agent_orchestrator.entity_memory.extraction.statements.roles import Roles
from services.agent_orchestrator.entity_memory.extraction.statements.verb_frames import VerbFrames
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import (
    ENDINGS,
    EXPLICIT,
)

_R = RelationshipType

_NOW = frozenset({"now", "currently", "nowadays"})
_TOOL_RELATIONS = (_R.USES, _R.PREFERS, _R.DECIDED, _R.DEPENDS_ON)


@dataclass(frozen=True, slots=True)
class Interpreted:
    stated: list[Statement]
    ended: list[Statement]


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
        self._roles = Roles(references, types)
        self._copulas = Copulas(clauses, judge, references, types, self._roles)
        self._participants = Participants(clauses, references, types)
        self._frames = VerbFrames(self._participants, references, types)
        self._forms = Forms(self._participants, references, types)
        self._passives = Passives(self._participants, self._frames, types)

    def read(self) -> Interpreted:
        roles: list[Statement] = []
        stated: list[Statement] = []
        ended: list[Statement] = []
        self._copulas.equate()
        for place, clause in enumerate(self._clauses):
            if place:
                self._references.note([self._clauses[place - 1]])
            judgement = self._judge.judge(clause)
            if not self._judge.supposed(clause):
                roles.extend(self._roles.read(clause))
            if judgement.reality is Reality.OPEN or not clause.verbs:
                continue
            statements = [*self._statements(clause, judgement)]
            if judgement.reality is Reality.ENDED:
                ended.extend(statements)
                continue
            stated.extend(_instead(one, clause) for one in statements)
            ended.extend(self._ended_statements(clause))
        self._references.note(self._clauses[-1:])
        return Interpreted(_distinct([*_drop_own_work(roles, stated), *stated]), _distinct(ended))

    def _statements(self, clause: Clause, judgement: Judgement) -> Iterator[Statement]:
        main = clause.verbs[-1]
        subjects = self._participants.subjects(clause)
        if any(subject.is_self for subject in subjects):
            for subject in subjects:
                if not subject.is_self and self._types.accepts("person", subject):
                    self._types.remember(subject.name, EntityType.PERSON)
        yield from self._copulas.read(clause, subjects, judgement)
        if main.lemma == "be":
            return
        if main.passive and not (len(clause.verbs) > 1):
            yield from self._passives.read(clause, subjects, main, judgement)
            return
        yield from self._forms.read(clause, subjects, judgement)
        yield from self._frames.read(Predication(clause, subjects, main, judgement))

    def _ended_statements(self, clause: Clause) -> Iterator[Statement]:
        """Yields the statements that a verb of ending withdraws: "dropped X", "moved from B to A"."""
        main = clause.verbs[-1]
        markers = ENDINGS.get(main.lemma)
        if markers is None:
            return
        targets = self._participants.objects(clause) if "" in markers else []
        for phrase in clause.phrases:
            if phrase.preposition in markers:
                targets.extend(self._participants.even_excluded(phrase))
        for subject in self._participants.subjects(clause):
            for target in targets:
                if target.is_self:
                    continue
                types = [*_TOOL_RELATIONS, _R.WORKS_ON, _R.PART_OF, _R.LIVES_IN]
                for relation in types:
                    yield Statement(subject, relation, target, EXPLICIT)


def _instead(statement: Statement, clause: Clause) -> Statement:
    """Marks what is said in place of something else: where the user lives, and a role that something has "now"."""
    if not statement.source.is_self:
        return statement
    now = bool(_NOW & {*clause.adverbs, *(word for verb in clause.verbs for word in verb.adverbs)})
    if statement.type is _R.LIVES_IN or (now and (statement.role or statement.type is _R.PART_OF)):
        return replace(statement, exclusive=True)
    return statement


def _drop_own_work(roles: list[Statement], stated: list[Statement]) -> list[Statement]:
    """ "I work on Apollo, our ticketing system": a system that the user builds is not also a tool they use."""
    built = {one.target.name.lower() for one in stated if one.type is _R.WORKS_ON}
    return [one for one in roles if one.type is not _R.USES or one.target.name.lower() not in built]


def _distinct(statements: list[Statement]) -> list[Statement]:
    best: dict[tuple[str, RelationshipType, str], Statement] = {}
    for statement in statements:
        key = (statement.source.name.lower(), statement.type, statement.target.name.lower())
        if statement.source.name.lower() == statement.target.name.lower():
            continue
        if key not in best or best[key].confidence < statement.confidence:
            best[key] = statement
    return list(best.values())
