"""Finds the role of a noun phrase: subject, object, phrase, list, apposition, or a separate clause."""

from dataclasses import replace

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    NounPhrase,
)
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link, Phrase
from services.agent_orchestrator.entity_memory.extraction.clauses.state import BuildState
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import COMPLEMENT_VERBS
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    EXCLUDING_PREPOSITIONS,
    PERSON_ROLES,
)


class NounReader:
    """Adds noun phrases to the clauses of one sentence."""

    def __init__(self, state: BuildState) -> None:
        self._state = state

    def add(self, place: int, chunk: Chunk) -> None:
        noun = chunk.noun or NounPhrase()
        noun.excluded = noun.excluded or self._state.excluding or noun.negative
        joined, self._state.joined_by = self._state.joined_by, None
        if self._state.preposition is not None:
            self._complete_phrase(noun)
        elif self._is_fronted_complete() and self._state.starts_clause(place):
            self._state.clause = self._state.clause.parent or self._state.clause
            self._state.reset()
            self._before_verb(place, noun, None)
        elif self._is_purpose_alone() and self._state.starts_clause(place):
            self._state.new_clause(Link.MAIN, "", None, chunk.start)
            self._before_verb(place, noun, None)
        elif (
            self._state.resumed_by is not None
            and self._state.clause.verbs
            and self._state.starts_clause(place)
        ):
            self._start_coordinate(noun, self._state.resumed_by, chunk.start)
        elif (
            joined == "but"
            and self._is_negated_with_object()
            and not self._state.starts_clause(place)
        ):
            self._contrast(noun, chunk.start)
        elif joined is not None and (paired := self._paired(place)) is not None:
            self._state.clause = paired
            self._state.reset()
            paired.objects.append(noun)
            self._state.open_list = paired.objects
        elif (
            joined is not None
            and self._state.open_list is not None
            and not self._state.starts_clause(place)
        ):
            self._join(noun, joined)
        elif joined is not None and self._state.clause.verbs and self._state.starts_clause(place):
            self._start_coordinate(noun, joined, chunk.start)
        elif not self._state.clause.verbs:
            self._before_verb(place, noun, joined)
        elif self._state.previous is not None and self._state.starts_clause(
            place, coordinated=False
        ):
            self._reduced_relative(noun, chunk.start)
        elif self._state.clause.verbs and self._state.starts_clause(place, coordinated=False):
            self._state.complement(noun, chunk.start)
        else:
            self._state.clause.objects.append(noun)
            self._state.open_list = self._state.clause.objects
        self._state.previous = noun
        if not (joined and joined != ","):
            self._state.excluding = False

    def _paired(self, place: int) -> Clause | None:
        """Returns the clause of "I use X for A and Y for B": the second pair repeats the preposition of the first."""
        following = self._state.chunks[place + 1] if place + 1 < len(self._state.chunks) else None
        if following is None or following.kind is not Kind.PREPOSITION:
            return None
        clause, parent = self._state.clause, self._state.clause.parent
        if clause.opener == f"gerund_{following.word}" and parent is not None and parent.objects:
            return parent
        repeated = any(
            phrase.nouns is self._state.open_list and phrase.preposition == following.word
            for phrase in clause.phrases
        )
        return clause if clause.objects and repeated else None

    def _is_fronted_complete(self) -> bool:
        """ "For monitoring we use X", "When I code I use X": the main clause starts without a comma."""
        clause = self._state.clause
        fronted = clause.link is Link.SUBORDINATE and clause.verbs and clause.parent is not None
        if not fronted or clause.parent is None or clause.parent.verbs:
            return False
        return clause.verbs[-1].lemma not in COMPLEMENT_VERBS

    def _is_purpose_alone(self) -> bool:
        """ "To deploy we use X": an infinitive opens the sentence."""
        clause = self._state.clause
        return (
            bool(clause.verbs)
            and not clause.subject
            and all(verb.form == "to" for verb in clause.verbs)
        )

    def _is_negated_with_object(self) -> bool:
        clause = self._state.clause
        return bool(clause.objects) and any(verb.negated for verb in clause.verbs)

    def _contrast(self, noun: NounPhrase, start: int) -> None:
        """ "We don't use B but A": the part after "but" is affirmed."""
        before = self._state.clause
        self._state.clause = self._state.open(Link.COORDINATE, "but", before.parent, start)
        self._state.reset()
        self._state.clause.subject = list(before.subject)
        self._state.clause.shared_subject = True
        self._state.clause.verbs = [replace(verb, negated=False) for verb in before.verbs]
        self._state.clause.objects.append(noun)
        self._state.open_list = self._state.clause.objects

    def _complete_phrase(self, noun: NounPhrase) -> None:
        preposition = self._state.preposition or ""
        noun.excluded = noun.excluded or preposition in EXCLUDING_PREPOSITIONS
        phrase = Phrase(preposition, [noun], self._state.previous)
        self._state.clause.phrases.append(phrase)
        self._state.open_list = phrase.nouns
        self._state.preposition = None

    def _join(self, noun: NounPhrase, joined: str) -> None:
        nouns = self._state.open_list or self._state.clause.objects
        if not nouns:
            nouns.append(noun)
            return
        before = nouns[-1]
        if joined == "," and _are_apposed(before, noun):
            self._appose(before, noun, nouns)
            return
        if joined == "or":
            self._state.clause.alternative = True
        if before.excluded and joined in {"or", "nor"}:
            noun.excluded = True
        nouns.append(noun)

    def _appose(self, before: NounPhrase, noun: NounPhrase, place: list[NounPhrase]) -> None:
        """Joins two noun phrases for the same thing: the one with the name is used in the clause."""
        self._state.clause.appositions.append((before, noun))
        if noun.names and not before.names:
            place[-1] = noun

    def _start_coordinate(self, noun: NounPhrase, joined: str, start: int) -> None:
        parent = (
            self._state.clause.parent
            if self._state.clause.link in {Link.COMPLEMENT, Link.SUBORDINATE} and joined == "and"
            else None
        )
        link = self._state.clause.link if parent is not None else Link.COORDINATE
        opener = self._state.clause.opener if parent is not None else joined
        self._state.new_clause(link, opener, parent, start)
        self._state.clause.subject.append(noun)
        self._state.open_list = self._state.clause.subject

    def _before_verb(self, place: int, noun: NounPhrase, joined: str | None) -> None:
        clause = self._state.clause
        if (
            clause.subject
            and joined is None
            and self._state.starts_clause(place)
            and clause.link is not Link.RELATIVE
        ):
            self._reduced_relative(noun, self._state.chunks[place].start)
            return
        if clause.subject and joined == ",":
            before = clause.subject[-1]
            if _are_apposed(before, noun):
                self._appose(before, noun, clause.subject)
                return
            if not self._list_goes_on(place):
                clause.subject = [noun]
                self._state.open_list = clause.subject
                return
        clause.subject.append(noun)
        self._state.open_list = clause.subject

    def _reduced_relative(self, noun: NounPhrase, start: int) -> None:
        """ "the editor I use": the second noun phrase opens a clause about the first; or a complement's subject."""
        antecedent = self._state.previous
        parent = self._state.clause
        if parent.verbs and parent.verbs[-1].lemma in COMPLEMENT_VERBS:
            self._state.complement(noun, start)
            return
        self._state.clause = self._state.open(Link.RELATIVE, "", parent, start)
        self._state.reset()
        self._state.clause.antecedent = antecedent
        self._state.clause.subject = [noun]
        self._state.open_list = self._state.clause.subject

    def _list_goes_on(self, place: int) -> bool:
        """Whether "A, B and C" leads to a verb: then all of them are the subject."""
        for chunk in self._state.chunks[place + 1 : place + 8]:
            if chunk.kind is Kind.CONJUNCTION:
                return True
            if chunk.kind in {Kind.VERB, Kind.PREPOSITION, Kind.STOP}:
                return False
        return False


def _are_apposed(first: NounPhrase, second: NounPhrase) -> bool:
    """Whether two noun phrases around a comma mean the same: one is a name, the other a role or a kind."""
    named, other = (first, second) if first.names else (second, first)
    if (
        not named.names
        or (other.names and not (other.head_follows or _describes(other)))
        or other.pronoun
    ):
        return False
    return _describes(other) and not (_describes(named) and first is named and not named.names)


def _describes(noun: NounPhrase) -> bool:
    described = bool(noun.head) and (
        bool(noun.possessor) or noun.determiner in {"a", "an", "the", "another"}
    )
    return described or noun.head in PERSON_ROLES
