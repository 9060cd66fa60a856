"""Whether a verb starts at a word: many forms can also be nouns, and the preceding words decide."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    NounPhrase,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.scan import Scan
from services.agent_orchestrator.entity_memory.extraction.verbs import AUXILIARIES, NOUNS_TOO
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ADVERBS,
    DETERMINERS,
    FLOATING_QUANTIFIERS,
    NEGATORS,
    OTHER_POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    SELF_POSSESSIVES,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_POSSESSIVE_HOSTS_OF_IS = word_set(
    """
    what one this that it she here who there how he where
    """
)

_BARE_COMPLEMENT_VERBS = frozenset({"help", "let", "make", "see", "have", "go", "come"})


class VerbDetector:
    """Finds where verb groups start."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def starts_verb(self, place: int) -> bool:
        word = self._scan.lower(place)
        token = self._scan.tokens[place]
        if place in self._scan.inside_names:
            return self._scan.verb_over_name(place) is True
        if (
            token.capital
            and not token.first
            and not token.text.isupper()
            and word not in AUXILIARIES
        ):
            return False
        if word == "'s":
            return self.is_contracted_verb(place)
        if word == "'d":
            return True
        if word in {"may", "will", "might"} and token.capital and not token.first:
            return False
        if word in AUXILIARIES:
            return not (
                word in {"can", "will", "might"} and self._previous_word_is_determiner(place)
            )
        if word == "to":
            return self._scan.is_base(place + 1)
        if word in NEGATORS:
            return True
        if word in ADVERBS:
            return False
        kinds = self._scan.kinds(place)
        if not kinds:
            return self.is_unknown_verb(place)
        return self.is_verb_here(place, kinds)

    def _previous_word_is_determiner(self, place: int) -> bool:
        return (
            place > 0
            and self._scan.lower(place - 1) in DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES
        )

    def is_contracted_verb(self, place: int) -> bool:
        """Whether "'s" is "is" or "has", not a possessive."""
        if self._scan.lower(place - 1) in _POSSESSIVE_HOSTS_OF_IS:
            return True
        following = self._scan.lower(place + 1)
        if not following or following in {",", "."}:
            return False
        if following in DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES | PREPOSITIONS | {
            "not",
            "part_of",
            "been",
        }:
            return True
        if following in ADVERBS and following not in {"own", "daily", "weekly"}:
            return True
        kinds = self._scan.kinds(place + 1)
        return bool(kinds & {"ing", "participle"}) and following not in {
            "building",
            "meeting",
            "training",
        }

    def is_unknown_verb(self, place: int) -> bool:
        """Whether an unknown word is a verb: after a subject pronoun it is, if nothing else explains it."""
        token = self._scan.tokens[place]
        if token.capital or not token.text.isalpha():
            return False
        at = place - 1
        while at >= 0 and self._scan.lower(at) in ADVERBS:
            at -= 1
        if (
            at < 0
            or self._scan.lower(place)
            in DETERMINERS | PRONOUNS | SELF_POSSESSIVES | OTHER_POSSESSIVES
        ):
            return False
        before = self._scan.lower(at)
        if before in {"i", "we", "he", "she", "they"}:
            return True
        if (
            before in {"who", "which", "that"}
            and self._scan.chunks
            and self._scan.chunks[-1].kind is Kind.RELATIVE
        ):
            return _looks_finite(self._scan.lower(place))
        return at in self._scan.inside_names and before != "'s" and self._unknown_third(place)

    def _unknown_third(self, place: int) -> bool:
        word = self._scan.lower(place)
        following = self._scan.lower(place + 1)
        return (
            len(word) > 4
            and word.endswith("s")
            and not word.endswith(("ss", "us", "is"))
            and ((place + 1) in self._scan.names or following in DETERMINERS | SELF_POSSESSIVES)
        )

    def is_verb_here(self, place: int, kinds: frozenset[str]) -> bool:
        word = self._scan.lower(place)
        previous = self._scan.chunks[-1] if self._scan.chunks else None
        before = self._scan.lower(place - 1)
        opened = previous is not None and previous.kind in {Kind.RELATIVE, Kind.QUESTION}
        determined = before in DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES or before == "'s"
        if previous is not None and previous.kind is Kind.ADVERB and before in FLOATING_QUANTIFIERS:
            determined = False
        if determined and not opened:
            return False
        if previous is None:
            return not (
                word in NOUNS_TOO
                and self._scan.is_finite(place + 1)
                and self._scan.lower(place + 1) not in NOUNS_TOO
            )
        if previous.kind is Kind.PREPOSITION:
            return "ing" in kinds and not (
                word in NOUNS_TOO
                and (self._scan.is_finite(place + 1) or place + 1 == len(self._scan.tokens))
            )
        if previous.kind is Kind.VERB:
            return self._is_verb_after_verb(place, kinds, previous)
        subject = self._scan.subject_before()
        if subject is None:
            if previous.kind in {Kind.RELATIVE, Kind.QUESTION}:
                return bool(kinds & {"third", "past", "base"})
            if previous.kind in {
                Kind.COMMA,
                Kind.CONJUNCTION,
                Kind.ADVERB,
                Kind.STOP,
                Kind.SUBORDINATOR,
                Kind.NEGATION,
            }:
                return self._is_verb_after_boundary(place)
            return False
        return self._agrees(subject, word, kinds) and not (
            bool(subject.possessor or subject.determiner) and self._heads_a_name(place)
        )

    def _is_verb_after_verb(self, place: int, kinds: frozenset[str], previous: Chunk) -> bool:
        if "ing" in kinds:
            return True
        lemma = previous.verb.lemma if previous.verb is not None else ""
        return (
            "base" in kinds
            and lemma in _BARE_COMPLEMENT_VERBS
            and self._scan.lower(place) not in NOUNS_TOO
        )

    def _is_verb_after_boundary(self, place: int) -> bool:
        """Whether a verb directly after a comma or "and" shares the subject of the previous clause."""
        word = self._scan.lower(place)
        if word in NOUNS_TOO:
            following = self._scan.lower(place + 1)
            opens_object = (place + 1) in self._scan.names or following in (
                DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES | PREPOSITIONS
            )
            return opens_object and not self._scan.is_finite(place + 1)
        return True

    def _heads_a_name(self, place: int) -> bool:
        """Whether a noun that looks like a verb belongs to the name after it: "our ops lead Farid wants …"."""
        name = self._scan.names.get(place + 1)
        return (
            name is not None
            and self._scan.lower(place) in NOUNS_TOO
            and self._scan.is_finite(name.end)
            and self._scan.lower(name.end) not in NOUNS_TOO
        )

    def _agrees(self, subject: NounPhrase, word: str, kinds: frozenset[str]) -> bool:
        """Whether the form can follow the subject; nouns that look like verbs usually cannot."""
        if subject.pronoun in {"i", "we", "you", "they"}:
            return bool(kinds & {"base", "past"}) or "ing" in kinds or "participle" in kinds
        if kinds & {"past", "ing", "participle"} and "base" not in kinds:
            return True
        if "third" in kinds:
            plural_noun = not subject.names and subject.head.endswith("s") and not subject.pronoun
            return not (
                word in NOUNS_TOO
                and (
                    plural_noun
                    or not (
                        subject.names or subject.pronoun or subject.possessor or subject.determiner
                    )
                )
            )
        plural = subject.pronoun in PRONOUNS or (
            bool(subject.words) and subject.words[-1].endswith("s")
        )
        return (
            plural
            or self._scan.has_coordinated_subject()
            or subject.head in {"people", "folks", "team", "most"}
        )


def _looks_finite(word: str) -> bool:
    return word.endswith(("s", "ed")) and not word.endswith("ss")
