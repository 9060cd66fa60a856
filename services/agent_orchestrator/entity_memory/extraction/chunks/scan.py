"""A sentence while it is chunked: its tokens and names, the chunks so far, and the possible kinds of a word."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    NounPhrase,
)
from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames
from services.agent_orchestrator.entity_memory.extraction.names import NameFinder
from services.agent_orchestrator.entity_memory.extraction.tokens import Token
from services.agent_orchestrator.entity_memory.extraction.verbs import (
    AUXILIARIES,
    DO,
    FORMS,
    MODALS,
)
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ADVERBS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
)


class Scan:
    """The tokens of a sentence, and the chunks before the current position."""

    def __init__(self, tokens: list[Token], known: KnownNames) -> None:
        self.tokens = tokens
        self.names = NameFinder(known).find(tokens)
        self.inside_names = {
            place for name in self.names.values() for place in range(name.start, name.end)
        }
        self.chunks: list[Chunk] = []

    def add(self, kind: Kind, word: str, start: int, end: int) -> int:
        self.chunks.append(Chunk(kind, word, start, end))
        return end

    def lower(self, place: int) -> str:
        return self.tokens[place].lower if 0 <= place < len(self.tokens) else ""

    def kinds(self, place: int) -> frozenset[str]:
        form = FORMS.get(self.lower(place))
        return form.kinds if form is not None else frozenset()

    def is_base(self, place: int) -> bool:
        """Whether an infinitive starts here, possibly after adverbs."""
        for at in range(place, min(place + 3, len(self.tokens))):
            if at in self.inside_names and self.tokens[at].capital:
                return False
            if "base" in self.kinds(at):
                return True
            if self.lower(at) not in ADVERBS:
                return False
        return False

    def is_finite(self, place: int) -> bool:
        return place not in self.inside_names and (
            self.lower(place) in AUXILIARIES or bool(self.kinds(place) & {"third", "past", "base"})
        )

    def verb_over_name(self, place: int) -> bool | None:
        """Returns True if a lower-case name such as "go" or "express" is a verb here, by its position; else None."""
        token = self.tokens[place]
        if token.capital or place not in self.names or not self.kinds(place):
            return None
        return True if self.is_verb_position(place) else None

    def is_verb_position(self, place: int) -> bool:
        if place == 0:
            return True
        at = place - 1
        while at > 0 and (self.lower(at) in ADVERBS or self.lower(at) in {"not", "never"}):
            at -= 1
        word = self.lower(at)
        if self.lower(place) == "go" and word.endswith("s") and at not in self.inside_names:
            return self.lower(place + 1) in ADVERBS | PREPOSITIONS
        return word in SUBJECT_PRONOUNS | MODALS | DO | {"to", "who", "and", "that"} and not (
            word == "and" and at == place - 1
        )

    def subject_before(self) -> NounPhrase | None:
        """Returns the noun phrase directly before, skipping adverbs."""
        for chunk in reversed(self.chunks):
            if chunk.kind in {Kind.ADVERB, Kind.NEGATION}:
                continue
            return chunk.noun if chunk.kind is Kind.NOUN else None
        return None

    def has_coordinated_subject(self) -> bool:
        for chunk in reversed(self.chunks[-6:]):
            if chunk.kind is Kind.VERB:
                return False
            if chunk.kind is Kind.CONJUNCTION and chunk.word in {"and", "&", "or", "plus"}:
                return True
        return False
