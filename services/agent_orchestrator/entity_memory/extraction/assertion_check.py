"""Whether a clause asserts something as true: negation, tense, modality, hearsay, questions and conditions."""

from dataclasses import dataclass
from enum import Enum, auto

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.extraction.aspect import (
    has_adverb,
    has_future_phrase,
    is_imperative,
    is_indispensable,
    is_of_the_past,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import VerbGroup
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import (
    DECIDING,
    ENDING,
    FACTIVE_COMPLEMENTS,
    KNOWING,
    PREFERRING,
    REPORTING,
    TRANSPARENT,
)
from services.agent_orchestrator.entity_memory.extraction.verbs import MODALS
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    FUTURE_ADVERBS,
    HEARSAY_ADVERBS,
    UNCERTAIN_ADVERBS,
    UNREAL_SUBORDINATORS,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

CONDITIONS = word_set(
    """
    unless in_case even_if assuming if supposing only_if provided_that if_only what_if
    """
)
_GOING_NOW = word_set(
    """
    stick use switch standardize migrate adopt settle move standardise go
    """
)


class Reality(Enum):
    FACT = auto()
    ENDED = auto()
    """Stated to hold no longer, or not at all: what was saved of it is taken back."""
    OPEN = auto()
    """Not stated as a fact: asked, wished, planned, reported, supposed, or past."""


@dataclass(frozen=True, slots=True)
class Judgement:
    reality: Reality
    factor: float = 1.0
    """Scales the confidence of what the clause states."""
    type: RelationshipType | None = None
    """The relationship that a governing verb states instead: "we decided to use X"."""


OPEN = Judgement(Reality.OPEN)
ENDED = Judgement(Reality.ENDED)


class SentenceJudge:
    """Judges the clauses of one sentence."""

    def __init__(self, clauses: list[Clause], question: bool) -> None:
        self._clauses = clauses
        self._question = question
        self._asked_from = self._first_question()

    def _first_question(self) -> int:
        for place, clause in enumerate(self._clauses):
            if self._is_tag(place):
                return self._tagged(place)
            if self._is_inverted(clause):
                return place
            if clause.link is Link.QUESTION and (
                self._question or not any(c.verbs for c in self._clauses[:place])
            ):
                return place
        if self._question:
            mains = [
                p
                for p, clause in enumerate(self._clauses)
                if clause.link in {Link.MAIN, Link.COORDINATE}
            ]
            return mains[-1] if mains else 0
        return len(self._clauses)

    def _is_tag(self, place: int) -> bool:
        """Whether a clause only asks to confirm the previous one: "…, doesn't it?"."""
        clause = self._clauses[place]
        if not self._question or place != len(self._clauses) - 1 or len(clause.verbs) != 1:
            return False
        auxiliary = clause.verbs[0].lemma in MODALS | {"be", "do", "have"}
        asks_back = len(clause.objects) == 1 and bool(clause.objects[0].pronoun)
        return place > 0 and auxiliary and asks_back and not clause.phrases

    def _tagged(self, tag: int) -> int:
        """Returns the independent clause that a tag question refers to: asking to confirm asserts nothing."""
        for place in range(tag - 1, -1, -1):
            if self._clauses[place].link in {Link.MAIN, Link.COORDINATE}:
                return place
        return 0

    @staticmethod
    def _is_inverted(clause: Clause) -> bool:
        if clause.subject or not clause.verbs or clause.link not in {Link.MAIN, Link.COORDINATE}:
            return False
        first = clause.verbs[0]
        return (
            first.lemma in MODALS | {"be", "do", "have"}
            and first.form == "third"
            and not first.auxiliaries
            and clause.start is not None
        )

    def asked(self, clause: Clause) -> bool:
        """Whether the clause is part of a question; a reason given for it is not."""
        place = _index(self._clauses, clause)
        if place < self._asked_from:
            return False
        reason = clause.link is Link.SUBORDINATE and clause.opener in {
            "because",
            "since",
            "now_that",
            "given_that",
        }
        return not reason

    def supposed(self, clause: Clause) -> bool:
        """Whether the clause, or one that it depends on, is a question, reported, hypothetical or a wish."""
        if self.asked(clause) or clause.link is Link.QUESTION or self._is_attributed(clause):
            return True
        if clause.link is Link.SUBORDINATE and clause.opener in UNREAL_SUBORDINATORS:
            return True
        if has_adverb(clause, HEARSAY_ADVERBS | UNCERTAIN_ADVERBS) or any(
            p.preposition == "according_to" for p in clause.phrases
        ):
            return True
        if clause.link is Link.COMPLEMENT and clause.parent is not None:
            return not self._complement_holds(clause.parent)
        if clause.link is Link.RELATIVE and clause.parent is not None:
            named = clause.antecedent is not None and bool(clause.antecedent.names)
            if self.supposed(clause.parent):
                return True
            return (
                not named
                and not _equates(clause.parent)
                and self._chain(clause.parent).reality is not Reality.FACT
            )
        if (
            clause.link is Link.SUBORDINATE
            and clause.parent is not None
            and clause.opener.startswith("gerund")
        ):
            return self.judge(clause.parent).reality is not Reality.FACT
        if (
            clause.link is Link.COORDINATE
            and clause.parent is not None
            and clause.opener == "participle"
        ):
            return self.judge(clause.parent).reality is not Reality.FACT
        return False

    def judge(self, clause: Clause) -> Judgement:
        if self.supposed(clause) or is_imperative(clause):
            return OPEN
        if self._is_resolved_on(clause):
            return Judgement(Reality.FACT, 1.0, RelationshipType.DECIDED)
        judgement = self._chain(clause)
        if judgement.reality is not Reality.FACT:
            return judgement
        factor = judgement.factor
        if (
            clause.link is Link.COMPLEMENT
            and clause.parent is not None
            and clause.parent.verb is not None
        ):
            factor = min(
                factor,
                0.85
                if clause.parent.verb.lemma in {"think", "believe", "guess", "suppose"}
                else 1.0,
            )
        if clause.verbs and self._is_conditional(clause):
            verb = clause.verbs[0]
            if verb.modal or verb.past or verb.progressive or judgement.type is not None:
                return OPEN
            factor = min(factor, 0.8)
        return Judgement(Reality.FACT, factor, judgement.type)

    @staticmethod
    def _is_resolved_on(clause: Clause) -> bool:
        """ "We agreed that we would use X"."""
        parent = clause.parent if clause.link is Link.COMPLEMENT else None
        if parent is None or parent.verb is None or parent.verb.lemma not in {"decide", "agree"}:
            return False
        return not any(verb.negated for verb in clause.verbs) and bool(clause.verbs)

    def _is_conditional(self, clause: Clause) -> bool:
        return any(
            each.opener in CONDITIONS and each.parent is clause and each.verbs
            for each in self._clauses
        )

    def _is_attributed(self, clause: Clause) -> bool:
        """Whether a comment after the clause names another source: "…, Mia says"."""
        place = _index(self._clauses, clause)
        for later in self._clauses[place + 1 : place + 3]:
            verb = later.verb
            if (
                verb is None
                or later.objects
                or later.link is not Link.COORDINATE
                or later.shared_subject
            ):
                continue
            comment = verb.lemma in REPORTING and not any(
                each.parent is later for each in self._clauses
            )
            own = any(noun.is_self for noun in later.subject) and verb.lemma in {
                "think",
                "believe",
                "guess",
                "suppose",
                "say",
            }
            if comment and later.subject and not own and verb.lemma not in {"write", "report"}:
                return True
        return False

    def _complement_holds(self, parent: Clause) -> bool:
        verb = parent.verb
        if verb is None or self.supposed(parent):
            return False
        negated = any(each.negated for each in parent.verbs)
        if len(parent.verbs) > 1 and parent.verbs[0].lemma not in TRANSPARENT | {"want", "like"}:
            return False
        if not parent.subject:
            return negated if verb.lemma == "forget" else verb.lemma in KNOWING and not negated
        own = any(noun.is_self for noun in parent.subject)
        if verb.passive or verb.lemma == "hear":
            return False
        if verb.lemma in KNOWING and not negated:
            return True
        if verb.lemma in {"decide", "agree"} and own and not negated:
            return True
        if verb.modal and verb.modal not in {"can", "must", "should", "would"}:
            return False
        return own and not negated and verb.lemma in FACTIVE_COMPLEMENTS

    def _chain(self, clause: Clause) -> Judgement:
        """Judges the clause by its verb groups only."""
        if not clause.verbs:
            return Judgement(Reality.FACT, 0.9)
        first = clause.verbs[0]
        main = clause.verbs[-1]
        if is_indispensable(clause):
            return Judgement(Reality.FACT)
        if any(verb.negated for verb in clause.verbs) or any(
            noun.negative for noun in clause.subject
        ):
            return ENDED if not first.modal and not main.perfect else OPEN
        if has_adverb(clause, {"anymore"}):
            return ENDED
        if "rather" in first.adverbs and first.modal == "would":
            return Judgement(Reality.FACT, 1.0, RelationshipType.PREFERS)
        governed = self._governed(clause)
        if governed is not None:
            return governed
        if is_of_the_past(clause):
            return OPEN
        return self._tense(clause, first, main)

    @staticmethod
    def _governed(clause: Clause) -> Judgement | None:
        relation: RelationshipType | None = None
        factor = 1.0
        for verb, following in zip(clause.verbs, clause.verbs[1:], strict=False):
            if verb.lemma in ENDING:
                return ENDED
            if verb.lemma == "use" and following.form == "to":
                return ENDED
            if verb.lemma in DECIDING and not verb.progressive and not verb.modal:
                relation = RelationshipType.DECIDED
            elif verb.lemma in PREFERRING and not verb.past:
                relation = RelationshipType.PREFERS
            elif (
                verb.lemma == "go"
                and following.form == "to"
                and following.lemma in {"go", "settle", "stick"}
            ):
                factor = 0.9
            elif (
                (verb.lemma == "be" and following.form == "to")
                or (
                    verb.lemma in {"like", "love"}
                    and (verb.modal or (following.form == "to" and verb.modal))
                )
                or (verb.lemma == "have" and verb.modal)
            ):
                return OPEN
            elif verb.lemma in {"like", "love", "enjoy"} and following.form == "ing":
                factor = 0.85
            elif verb.lemma == "work" and following.form == "ing":
                factor = 0.9
            elif (verb.lemma == "start" and verb.past is False and verb.form == "to") or (
                verb.lemma not in TRANSPARENT
                or (verb.lemma == "be" and "after_to" in following.adverbs)
            ):
                return OPEN
        if relation is not None:
            return Judgement(Reality.FACT, 1.0, relation)
        return Judgement(Reality.FACT, factor) if factor < 1.0 else None

    @staticmethod
    def _tense(clause: Clause, first: VerbGroup, main: VerbGroup) -> Judgement:
        future = has_adverb(clause, FUTURE_ADVERBS) or has_future_phrase(clause)
        if first.modal:
            settled = first.modal in {"will", "'ll"} and main.lemma in {"go", "stick", "settle"}
            preferring = first.modal in {"would", "will"} and main.lemma in {
                "prefer",
                "choose",
                "take",
            }
            if settled or (preferring and main.lemma == "prefer"):
                return Judgement(Reality.FACT, 0.95)
            return OPEN
        if (
            future
            and (first.progressive or first.form in {"base", "third"})
            and main.lemma not in {"go", "settle"}
        ):
            return OPEN
        if first.progressive and main.lemma in _GOING_NOW and len(clause.verbs) == 1:
            return Judgement(
                Reality.FACT, 0.85 if main.lemma in {"switch", "move", "migrate", "adopt"} else 1.0
            )
        if first.perfect and first.past:
            return OPEN
        return Judgement(Reality.FACT)


def _equates(clause: Clause) -> bool:
    return (
        clause.verb is not None and clause.verb.lemma == "be" and not clause.verb.negated
    ) or not clause.verbs


def _index(clauses: list[Clause], clause: Clause) -> int:
    return next((place for place, each in enumerate(clauses) if each is clause), 0)
