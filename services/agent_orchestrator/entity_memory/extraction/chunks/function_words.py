"""Function words: the role of a comma, a conjunction, a preposition or "that" at its position."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import Kind
from services.agent_orchestrator.entity_memory.extraction.chunks.scan import Scan
from services.agent_orchestrator.entity_memory.extraction.verbs import AUXILIARIES, NOUNS_TOO
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ADVERBS,
    CLAUSE_OR_PREPOSITION,
    CONJUNCTIONS,
    DETERMINERS,
    EXCLUDING_PREPOSITIONS,
    LIST_PREPOSITIONS,
    NEGATORS,
    OTHER_POSSESSIVES,
    PREPOSITIONS,
    SELF_POSSESSIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_MULTIWORD_PREPOSITIONS = EXCLUDING_PREPOSITIONS | word_set(
    """
    next_to opposite_me on_top_of in_favour_of due_to out_of part_of member_of in_charge_of according_to
    sick_of friends_with formerly_in better_than more_than up_to as_of
    """
)


class FunctionWords:
    """Determines the kind of a function word from the words around it."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def kind(self, place: int) -> Kind | None:
        token = self._scan.tokens[place]
        word = token.lower
        if word in {",", "(", ")", "[", "]", "—", "–", "-", "--"}:
            return Kind.COMMA
        if word in {";", "…"} or (word[0] in ".!?" and not token.is_word):
            return Kind.STOP
        if word == ":":
            return Kind.COLON
        if word in {"neither", "nor"}:
            return Kind.NEGATION
        if word in LIST_PREPOSITIONS or word in CONJUNCTIONS:
            return Kind.CONJUNCTION
        if word == "like" and not self._scan.is_verb_position(place):
            return Kind.PREPOSITION
        if word in {"who", "whom", "which", "whose", "where"}:
            return (
                Kind.QUESTION
                if place == 0 or not self._scan.chunks or self._previous_is_opening()
                else Kind.RELATIVE
            )
        if word == "that":
            return self._that(place)
        if word in {"what", "how", "why", "whatever", "whichever", "whoever", "wherever"}:
            return Kind.QUESTION
        if word in CLAUSE_OR_PREPOSITION:
            return self._clause_or_preposition(place)
        if word in SUBORDINATORS:
            return Kind.SUBORDINATOR
        if word in _MULTIWORD_PREPOSITIONS:
            return Kind.PREPOSITION
        if word == "to" and self._scan.is_base(place + 1):
            return None
        if word in PREPOSITIONS and word != "like":
            return Kind.PREPOSITION
        if word in NEGATORS and not self._negates_verb(place):
            return Kind.NEGATION
        return None

    def _previous_is_opening(self) -> bool:
        previous = self._scan.chunks[-1]
        return previous.kind in {
            Kind.CONJUNCTION,
            Kind.STOP,
            Kind.ADVERB,
            Kind.VERB,
            Kind.COLON,
        } or (previous.kind is Kind.PREPOSITION and len(self._scan.chunks) == 1)

    def _that(self, place: int) -> Kind | None:
        """ "that" opens a clause when a verb or a subject with its verb follows; otherwise it is a demonstrative."""
        if place == 0 or not self._scan.chunks:
            return None
        previous = self._scan.chunks[-1]
        following = self._scan.lower(place + 1)
        if previous.kind is Kind.PREPOSITION:
            return None
        if (
            following in SUBJECT_PRONOUNS
            or (place + 1) in self._scan.names
            or following in SELF_POSSESSIVES
        ):
            return Kind.RELATIVE
        if previous.kind is Kind.NOUN and (
            self._scan.is_finite(place + 1) or following in ADVERBS or following in AUXILIARIES
        ):
            return Kind.RELATIVE
        if previous.kind is Kind.VERB and following in DETERMINERS | OTHER_POSSESSIVES:
            return Kind.RELATIVE
        return None

    def _clause_or_preposition(self, place: int) -> Kind | None:
        word = self._scan.tokens[place].lower
        if word == "so":
            return (
                Kind.SUBORDINATOR if self._clause_follows(place + 1) and self._scan.chunks else None
            )
        if word == "once":
            return Kind.SUBORDINATOR if self._clause_follows(place + 1) else None
        if word in {"when", "while"}:
            return Kind.SUBORDINATOR
        if self._clause_follows(place + 1):
            return Kind.SUBORDINATOR
        return Kind.PREPOSITION

    def _clause_follows(self, place: int) -> bool:
        """Whether a subject and a finite verb come before the next comma."""
        if self._scan.lower(place) in SUBJECT_PRONOUNS:
            return True
        for at in range(place, min(place + 7, len(self._scan.tokens))):
            word = self._scan.lower(at)
            if word in {",", ";", ":", "and", "or"}:
                return False
            if (
                at > place
                and at not in self._scan.inside_names
                and (word in AUXILIARIES or "third" in self._scan.kinds(at))
            ):
                return word not in NOUNS_TOO
            if (
                at > place
                and at not in self._scan.inside_names
                and "past" in self._scan.kinds(at)
                and at - 1 in self._scan.inside_names
            ):
                return True
        return False

    def _negates_verb(self, place: int) -> bool:
        """Whether "not" or "never" here belongs to the verb group that follows."""
        for at in range(place + 1, min(place + 4, len(self._scan.tokens))):
            if at in self._scan.inside_names:
                return False
            word = self._scan.lower(at)
            if self._scan.kinds(at) or word in AUXILIARIES:
                return "ing" not in self._scan.kinds(at) or bool(
                    self._scan.chunks and self._scan.chunks[-1].kind is Kind.NOUN
                )
            if word not in ADVERBS and word != "to":
                return False
        return False
