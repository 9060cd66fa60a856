"""Tense and aspect of a clause: current, finished, ordered or future."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import NounPhrase
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link
from services.agent_orchestrator.entity_memory.extraction.verbs import DO
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ENDED_ADJECTIVES,
    ENDED_ADVERBS,
    FUTURE_ADJECTIVES,
    PERIODS,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_PLACES_OF_THE_PAST = word_set(
    """
    job company role team position life school employer gig project startup place workplace days
    """
)
_LASTING = frozenset({"since", "for", "over", "during"})
_EVENTS = word_set(
    """
    meet found co-found cofound join start choose pick select decide settle agree switch move migrate adopt
    """
)
_NEEDY = word_set(
    """live do work imagine run function operate start survive be boot exist manage get go build code program
    write develop design plan ship deploy release debug test think cope
    """
)


def lasts(clause: Clause) -> bool:
    """Whether a perfect tense extends to the present: "have used X for years", "have been using X"."""
    verb = clause.verbs[0]
    if ("been" in verb.auxiliaries and verb.form == "ing") or verb.lemma == "be":
        return True
    if has_adverb(
        clause, {"always", "lately", "recently", "still", "long", "since", "mostly", "exclusively"}
    ):
        return True
    return any(phrase.preposition in _LASTING for phrase in clause.phrases) or bool(
        clause.verbs[1:]
    )


def is_simple_past(clause: Clause) -> bool:
    """Whether the clause is only about the past, so that only an event in it is still true."""
    first = clause.verbs[0]
    if (first.lemma == "start" and len(clause.verbs) > 1) or (
        first.lemma in {"end", "get", "begin", "come"} and len(clause.verbs) > 1
    ):
        return False
    return first.past and not first.perfect


def is_indispensable(clause: Clause) -> bool:
    """ "cannot live without X"."""
    verb = clause.verb
    if verb is None or not any(each.negated for each in clause.verbs):
        return False
    without = clause.stranded == "without" or any(
        phrase.preposition == "without" for phrase in clause.phrases
    )
    return without and verb.lemma in _NEEDY


def is_imperative(clause: Clause) -> bool:
    if clause.subject or not clause.verbs or clause.link not in {Link.MAIN, Link.COORDINATE}:
        return False
    first = clause.verbs[0]
    bare = not first.auxiliaries or first.auxiliaries[0] in DO
    return (bare and first.form == "base") or (
        first.lemma in {"be", "do", "have", "let"} and first.form != "ing" and not first.perfect
    )


def is_of_the_past(clause: Clause) -> bool:
    verb = clause.verbs[0]
    if has_adverb(clause, ENDED_ADVERBS - {"ago"}) and verb.lemma not in {"meet", "found", "join"}:
        return not (verb.perfect and not verb.past and "once" not in clause.adverbs)
    for phrase in clause.phrases:
        for noun in phrase.nouns:
            words = noun.modifiers()
            if words & ENDED_ADJECTIVES and noun.head in _PLACES_OF_THE_PAST:
                return True
        if phrase.preposition in {"until", "till", "formerly_in"} and verb.lemma not in _EVENTS:
            return True
    return False


def has_future_phrase(clause: Clause) -> bool:
    nouns: list[NounPhrase] = [
        *clause.objects,
        *(noun for phrase in clause.phrases for noun in phrase.nouns),
    ]
    return any(noun.modifiers() & FUTURE_ADJECTIVES and noun.head in PERIODS for noun in nouns)


def has_adverb(clause: Clause, words: set[str] | frozenset[str]) -> bool:
    return any(word in words for word in clause.adverbs) or any(
        word in words for verb in clause.verbs for word in verb.adverbs
    )
