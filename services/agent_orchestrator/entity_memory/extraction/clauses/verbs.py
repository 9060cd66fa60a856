"""Finds the role of a verb group: it continues a chain, opens a clause, or returns to the clause that it ends."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    VerbGroup,
)
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link
from services.agent_orchestrator.entity_memory.extraction.clauses.state import BuildState
from services.agent_orchestrator.entity_memory.extraction.word_classes import EXCLUDING_PREPOSITIONS
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_OBJECT_CONTROL = word_set(
    """
    want ask tell force allow expect help get persuade convince advise urge encourage order like love beg
    remind teach recommend propose decide go plan be try have decide agree plan
    """
)

_CHAINING = frozenset({"about", "of", "into"})
"""Prepositions before a gerund that continue the chain of verbs: "thinking about using X"."""

_CHAINING_PAIRS = frozenset(
    tuple(pair.split("_"))
    for pair in word_set(
        """
        work_on focus_on plan_on insist_on give_on switch_to look_to use_to commit_to look_at go_to get_to
        move_to keep_from refrain_from
        """
    )
)


class VerbReader:
    """Adds verb groups to the clauses of one sentence."""

    def __init__(self, state: BuildState) -> None:
        self._state = state

    def add(self, place: int, chunk: Chunk) -> None:
        verb = chunk.verb or VerbGroup(chunk.word, "base")
        joined, self._state.joined_by = self._state.joined_by, None
        if self._state.excluding and not self._state.clause.objects and not joined:
            verb.negated = True
        if self._state.preposition is not None and verb.form == "ing" and not verb.auxiliaries:
            self._gerund(verb)
        elif self._state.resumed_by is not None and self._state.clause.verbs and verb.finite:
            self._coordinate_verb(verb, self._state.resumed_by, chunk.start)
        elif verb.form == "to" and self._state.clause.verbs and joined is None:
            self._infinitive(verb, chunk.start)
        elif not verb.finite and self._state.clause.verbs and joined is None and verb.form == "ing":
            self._participle(verb, chunk.start)
        elif not verb.finite and self._state.clause.verbs and joined is None:
            self._reduced_passive(verb, chunk.start)
        elif self._state.clause.verbs and joined is not None:
            self._coordinate_verb(verb, joined, chunk.start)
        elif self._state.clause.verbs and verb.finite:
            self._back_to_parent(verb, chunk.start)
        elif (
            not self._state.clause.verbs
            and not verb.finite
            and verb.form == "participle"
            and self._state.clause.subject
            and self._finite_follows(place)
        ) or (
            not self._state.clause.verbs
            and verb.form == "ing"
            and self._state.clause.subject
            and not verb.finite
            and self._finite_follows(place)
        ):
            self._reduced_passive(verb, chunk.start)
        else:
            self._state.clause.verbs.append(verb)
        self._state.open_list = None
        self._state.previous = None
        self._state.preposition = None
        self._state.excluding = False

    def _infinitive(self, verb: VerbGroup, start: int) -> None:
        """An infinitive continues the chain of verbs; after an object it is a purpose ("use X to build Y")."""
        clause = self._state.clause
        if not (clause.objects or clause.phrases) or clause.verbs[-1].lemma in _OBJECT_CONTROL:
            clause.verbs.append(verb)
            return
        self._state.clause = self._state.open(Link.SUBORDINATE, "gerund_to", clause, start)
        self._state.reset()
        self._state.clause.subject = list(clause.subject)
        self._state.clause.shared_subject = True
        self._state.clause.verbs.append(verb)

    def _finite_follows(self, place: int) -> bool:
        for chunk in self._state.chunks[place + 1 : place + 8]:
            if chunk.kind is Kind.VERB and chunk.verb is not None and chunk.verb.finite:
                return True
            if chunk.kind in {Kind.COMMA, Kind.STOP, Kind.CONJUNCTION}:
                return False
        return False

    def _gerund(self, verb: VerbGroup) -> None:
        """A verb after a preposition: "for building X", "thinking about using X"."""
        preposition = self._state.preposition or ""
        parent = self._state.clause
        negated = preposition in EXCLUDING_PREPOSITIONS
        if (
            not negated
            and parent.verbs
            and not parent.objects
            and (
                preposition in _CHAINING or (parent.verbs[-1].lemma, preposition) in _CHAINING_PAIRS
            )
        ):
            verb.adverbs = (*verb.adverbs, f"after_{preposition}")
            parent.verbs.append(verb)
            return
        self._state.clause = self._state.open(
            Link.SUBORDINATE, f"gerund_{preposition}", parent, parent.end
        )
        self._state.reset()
        verb.negated = verb.negated or negated
        self._state.clause.subject = list(parent.subject)
        self._state.clause.shared_subject = True
        self._state.clause.verbs.append(verb)

    def _participle(self, verb: VerbGroup, start: int) -> None:
        """ "-ing" after a verb continues its chain; after an object it is a clause with the same subject."""
        clause = self._state.clause
        if not clause.objects and not clause.phrases:
            clause.verbs.append(verb)
            return
        if self._state.previous is not None and self._state.previous.names and not clause.subject:
            clause.verbs.append(verb)
            return
        self._state.clause = self._state.open(Link.COORDINATE, "participle", clause, start)
        self._state.reset()
        self._state.clause.subject = list(clause.subject)
        self._state.clause.shared_subject = True
        self._state.clause.verbs.append(verb)

    def _reduced_passive(self, verb: VerbGroup, start: int) -> None:
        """ "a service written in Go": a participle that modifies the noun phrase before it."""
        antecedent = self._state.previous
        parent = self._state.clause
        self._state.clause = self._state.open(Link.RELATIVE, "", parent, start)
        self._state.reset()
        if antecedent is not None:
            self._state.clause.antecedent = antecedent
            self._state.clause.subject = [antecedent]
        verb.passive = verb.form == "participle"
        self._state.clause.verbs.append(verb)

    def _coordinate_verb(self, verb: VerbGroup, joined: str, start: int) -> None:
        """ "I use X and love Y": the new clause has the subject of the previous one."""
        before = self._state.clause
        link = before.link if before.link is not Link.MAIN else Link.COORDINATE
        clause = self._state.open(
            link, before.opener if link is before.link else joined, before.parent, start
        )
        clause.antecedent = before.antecedent
        clause.subject = list(before.subject)
        clause.shared_subject = True
        first = before.verbs[0]
        if self._continues_chain(before, verb):
            clause.verbs = [*before.verbs[:-1], verb]
            self._state.clause = clause
            self._state.reset()
            return
        if first.passive and verb.form == "past" and not verb.auxiliaries:
            verb.form, verb.passive, verb.past = "participle", True, False
        if not verb.finite or (verb.form == "participle"):
            verb.auxiliaries = verb.auxiliaries or first.auxiliaries
            verb.passive = (first.passive and verb.form == "participle") or verb.passive
        if verb.form in {"base", "to", "ing"} and not verb.auxiliaries and first.modal:
            verb.modal, verb.auxiliaries = first.modal, first.auxiliaries
            verb.negated = verb.negated or (first.negated and joined in {"or", "nor"})
        elif first.negated and joined in {"or", "nor"}:
            verb.negated = True
        self._state.clause = clause
        self._state.reset()
        clause.verbs.append(verb)

    @staticmethod
    def _continues_chain(before: Clause, verb: VerbGroup) -> bool:
        """ "thinking about moving and using X", "want to drop X and use Y": the governor of the first governs both."""
        if len(before.verbs) == 1 or verb.auxiliaries:
            return False
        last = before.verbs[-1].form
        return (verb.form == "ing" and last in {"to", "ing"}) or (
            verb.form == "base" and last == "to" and before.verbs[0].form != "base"
        )

    def _back_to_parent(self, verb: VerbGroup, start: int) -> None:
        """A second finite verb ends a relative clause and belongs to the clause around it."""
        clause = self._state.clause
        while clause.link in {Link.RELATIVE, Link.SUBORDINATE} and clause.parent is not None:
            clause = clause.parent
            if not clause.verbs:
                self._state.clause = clause
                clause.verbs.append(verb)
                return
        if self._state.previous is not None and self._state.previous in self._state.clause.objects:
            subject = self._state.clause.objects.pop()
            self._state.complement(subject, start)
            self._state.clause.verbs.append(verb)
            return
        antecedents = [noun for noun in self._state.clause.objects if not noun.excluded]
        self._state.clause = self._state.open(Link.COORDINATE, "", None, start)
        self._state.reset()
        self._state.clause.subject = antecedents[-1:]
        self._state.clause.verbs.append(verb)
