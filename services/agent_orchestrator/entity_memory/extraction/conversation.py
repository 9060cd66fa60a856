"""Reads a user's turns one by one and collects the statements that are worth saving.

For English only. Deterministic, without a language model; time is linear in the length that is read of a turn.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from services.agent_orchestrator.entity_memory.domain import (
    IMPLIED_CONFIDENCE,
    SELF,
    EntityType,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
    RelationshipType,
)
from services.agent_orchestrator.entity_memory.extraction.assertion_check import SentenceJudge
from services.agent_orchestrator.entity_memory.extraction.chunks.chunker import Chunker
from services.agent_orchestrator.entity_memory.extraction.clauses.builder import ClauseBuilder
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause
from services.agent_orchestrator.entity_memory.extraction.entity_types import EntityTypes, Referent
from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames
from services.agent_orchestrator.entity_memory.extraction.own_text import (
    PLACEHOLDER,
    OwnText,
    Sentence,
)
from services.agent_orchestrator.entity_memory.extraction.references import References
from services.agent_orchestrator.entity_memory.extraction.statements.domain import Statement
from services.agent_orchestrator.entity_memory.extraction.statements.interpreter import Interpreter
from services.agent_orchestrator.entity_memory.extraction.tokens import tokenize
from services.agent_orchestrator.entity_memory.roles import is_in_place_of

_R = RelationshipType
MAX_CONTEXT_LENGTH = 300
_CORRECTION = re.compile(
    r"\b(?:actually|instead|chang(?:ed|e) (?:my|our) minds?|on second thoughts?|correction|"
    r"scratch that|i meant|we meant|i mean|"
    r"wait|sorry|after all|turns out|make that|not any ?more|forget (?:that|what))\b",
    re.IGNORECASE,
)
_RENAMING = re.compile(
    r"^\W*(?:(?:no|nope|oh|ah|oops|hmm|well|ok|actually|and)\b[\s,.!-]{0,9}){0,9}(?:i meant|i mean|sorry|"
    r"correction|wait|make that|scratch that|"
    r"that should be|should be|i wanted to say|typo)\b",
    re.IGNORECASE,
)
_NO_LONGER = re.compile(
    r"^\W*(?:(?:well|actually|no|but|hmm)\b[\s,]{0,9}){0,9}(?:not any ?more|no longer|not now)\s{0,9}[,.!;–—-]",
    re.IGNORECASE,
)
_ONE_AT_A_TIME = frozenset({_R.DECIDED, _R.PREFERS})
_TOOL_TYPES = (_R.USES, _R.PREFERS, _R.DECIDED, _R.DEPENDS_ON)

_Key = tuple[str, RelationshipType, str]


@dataclass(slots=True)
class _Saved:
    relationship: ExtractedRelationship
    turn: int


@dataclass(slots=True)
class _Turn:
    """The statements that one turn adds and withdraws."""

    added: dict[_Key, ExtractedRelationship] = field(default_factory=dict)
    retracted: dict[_Key, ExtractedRelationship] = field(default_factory=dict)


class Conversation:
    """The turns of one user in one conversation. English only."""

    def __init__(self, known: KnownNames) -> None:
        self._types = EntityTypes(known)
        self._known = known
        self._references = References(self._types)
        self._own_text = OwnText()
        self._saved: dict[_Key, _Saved] = {}
        self._entity_types: dict[str, EntityType] = {}
        self._turns = 0

    def read(self, turn: str) -> Extraction:
        """Returns the statements that this turn adds to the memory and those that it withdraws."""
        self._turns += 1
        result = _Turn()
        for sentence in self._own_text.sentences(turn):
            self._read_sentence(sentence, result)
        return self._extraction(result.added.values(), result.retracted.values())

    def everything(self) -> Extraction:
        """Returns all statements worth saving after the turns read so far."""
        return self._extraction([saved.relationship for saved in self._saved.values()], [])

    def _read_sentence(self, sentence: Sentence, result: _Turn) -> None:
        clauses = ClauseBuilder(Chunker(tokenize(sentence.text), self._known).chunks()).clauses()
        if not clauses:
            return
        judge = SentenceJudge(clauses, sentence.question)
        read = Interpreter(clauses, judge, self._references, self._types).read()
        context = sentence.text.replace(PLACEHOLDER, "…")[:MAX_CONTEXT_LENGTH]
        if _NO_LONGER.match(sentence.text):
            self._take_back_last(result)
        correcting = bool(_CORRECTION.search(sentence.text))
        for statement in read.ended:
            self._take_back(statement, result)
        stated = [
            statement for statement in read.stated if statement.confidence >= IMPLIED_CONFIDENCE
        ]
        for statement in stated:
            self._supersede(statement, correcting, result)
        for statement in stated:
            self._save(statement, context, result)
        if not stated and not sentence.question:
            self._rename(clauses, sentence.text, context, result)

    # Statements that later turns withdraw

    def _take_back(self, statement: Statement, result: _Turn) -> None:
        types = _TOOL_TYPES if statement.type in {_R.USES, _R.DEPENDS_ON} else (statement.type,)
        for relation in types:
            key = _key(statement.source, relation, statement.target)
            self._saved.pop(key, None)
            result.added.pop(key, None)
            result.retracted[key] = ExtractedRelationship(
                statement.source.name or SELF, relation, statement.target.name, statement.confidence
            )

    def _take_back_last(self, result: _Turn) -> None:
        """ "Not any more" answers the previous turn."""
        latest = [key for key, saved in self._saved.items() if saved.turn == self._turns - 1]
        if len(latest) == 1:
            result.retracted[latest[0]] = self._saved.pop(latest[0]).relationship

    def _supersede(self, statement: Statement, correcting: bool, result: _Turn) -> None:
        """A later decision, preference or employer replaces the previous one if the sentence corrects it."""
        self._end_role(statement, result)
        employer = statement.type is _R.PART_OF and statement.source.is_self and correcting
        if not ((correcting and statement.type in _ONE_AT_A_TIME | {_R.USES}) or employer):
            return
        source = (statement.source.name or SELF).lower()
        types = (
            {_R.USES, _R.DECIDED} if statement.type in {_R.USES, _R.DECIDED} else {statement.type}
        )
        for key, saved in list(self._saved.items()):
            if (
                key[0] == source
                and key[1] in types
                and saved.turn == self._turns - 1
                and key[2] != statement.target.name.lower()
            ):
                if (
                    statement.type is _R.USES
                    and len([k for k in self._saved if k[0] == source and k[1] in types]) > 1
                ):
                    continue
                del self._saved[key]
                result.retracted[key] = saved.relationship

    def _end_role(self, statement: Statement, result: _Turn) -> None:
        """What is said in place of something ends what an earlier turn said of the same role, or of the same kind."""
        if not statement.exclusive:
            return
        for key, saved in list(self._saved.items()):
            other = saved.relationship
            if (
                is_in_place_of(statement, other)
                and other.source == SELF
                and saved.turn < self._turns
                and key[2] != statement.target.name.lower()
            ):
                del self._saved[key]
                result.retracted[key] = other

    def _rename(self, clauses: list[Clause], text: str, context: str, result: _Turn) -> None:
        """ "Sorry, I meant X", "It's X, not Y": the last relationship gets another target."""
        nouns = [noun for clause in clauses for noun in clause.nouns() if noun.names]
        wrong = {noun.names[-1].text.lower() for noun in nouns if noun.excluded}
        right = [noun for noun in nouns if not noun.excluded]
        if not right or not self._saved:
            return
        replaced = [key for key in self._saved if key[2] in wrong]
        if not replaced and _RENAMING.match(text):
            replaced = list(self._saved)[-1:]
        if not replaced:
            return
        key = replaced[-1]
        saved = self._saved.pop(key)
        result.added.pop(key, None)
        result.retracted[key] = replace(saved.relationship, mistaken=True)
        name = right[0].names[-1].text
        relationship = replace(saved.relationship, target=name, context=context)
        entity_type = self._entity_types.get(key[2], EntityType.TOOL)
        self._entity_types.setdefault(name.lower(), entity_type)
        self._types.remember(name, entity_type)
        new = (key[0], key[1], name.lower())
        self._saved[new] = _Saved(relationship, self._turns)
        result.added[new] = relationship

    # Statements that are saved

    def _save(self, statement: Statement, context: str, result: _Turn) -> None:
        source, target = statement.source, statement.target
        type_ = self._types.of_target(statement.type, target, source, statement.built)
        self._remember_type(target, type_)
        if not source.is_self:
            self._remember_type(source, self._types.of_source(statement.type, source, type_))
        key = _key(source, statement.type, target)
        before = self._saved.get(key)
        confidence = round(
            min(1.0, max(statement.confidence, before.relationship.confidence if before else 0.0)),
            4,
        )
        relationship = ExtractedRelationship(
            source.name or SELF,
            statement.type,
            target.name,
            confidence,
            context,
            statement.role or (before.relationship.role if before else ""),
            statement.exclusive,
        )
        self._saved[key] = _Saved(relationship, self._turns)
        result.added[key] = relationship
        result.retracted.pop(key, None)

    def _remember_type(self, referent: Referent, entity_type: EntityType) -> None:
        self._types.remember(referent.name, entity_type)
        self._entity_types.setdefault(referent.name.lower(), entity_type)

    def _extraction(
        self,
        relationships: Iterable[ExtractedRelationship],
        retracted: Iterable[ExtractedRelationship],
    ) -> Extraction:
        kept = tuple(relationships)
        entities: dict[str, ExtractedEntity] = {}
        for relationship in kept:
            for name in (relationship.source, relationship.target):
                if name == SELF:
                    continue
                before = entities.get(name.lower())
                confidence = max(relationship.confidence, before.confidence if before else 0.0)
                written = before.name if before else name
                entities[name.lower()] = ExtractedEntity(
                    written, self._entity_types[name.lower()], confidence
                )
        return Extraction(tuple(entities.values()), kept, tuple(retracted))


def read_turns(turns: Iterable[str], known: KnownNames) -> Extraction:
    """Returns the statements worth saving after all turns of a conversation."""
    conversation = Conversation(known)
    for turn in turns:
        conversation.read(turn)
    return conversation.everything()


def _key(source: Referent, relation: RelationshipType, target: Referent) -> _Key:
    return ((source.name or SELF).lower(), relation, target.name.lower())
