"""The chunker: finds the noun phrases and verb groups in a sentence in one pass over its tokens."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import Chunk, Kind
from services.agent_orchestrator.entity_memory.extraction.chunks.function_words import FunctionWords
from services.agent_orchestrator.entity_memory.extraction.chunks.noun_phrases import NounPhrases
from services.agent_orchestrator.entity_memory.extraction.chunks.scan import Scan
from services.agent_orchestrator.entity_memory.extraction.chunks.verb_detection import VerbDetector
from services.agent_orchestrator.entity_memory.extraction.chunks.verb_groups import (
    VerbGroups,
)
from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames
from services.agent_orchestrator.entity_memory.extraction.own_text import PLACEHOLDER
from services.agent_orchestrator.entity_memory.extraction.tokens import Token
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ADVERBS,
    DETERMINERS,
    FLOATING_QUANTIFIERS,
    NAMING,
    SUBJECT_PRONOUNS,
)


class Chunker:
    """Chunks one sentence."""

    def __init__(self, tokens: list[Token], known: KnownNames) -> None:
        self._scan = Scan(tokens, known)
        self._function_words = FunctionWords(self._scan)
        self._detector = VerbDetector(self._scan)
        self._verb_groups = VerbGroups(self._scan, self._detector)
        self._noun_phrases = NounPhrases(self._scan, self._function_words, self._detector)

    def chunks(self) -> list[Chunk]:
        place = 0
        while place < len(self._scan.tokens):
            place = self._next(place)
        return self._scan.chunks

    def _next(self, place: int) -> int:
        token = self._scan.tokens[place]
        word = token.lower
        if place in self._scan.inside_names and self._scan.verb_over_name(place) is None:
            return self._noun_phrases.read(place)
        if word in NAMING and self._scan.chunks and self._names_the_noun_before(place):
            return self._scan.names[place + 1].end
        kind = self._function_words.kind(place)
        if kind is not None:
            return self._scan.add(kind, word, place, place + 1)
        if self._detector.starts_verb(place):
            return self._verb_groups.read(place)
        if (word in ADVERBS and not (word in DETERMINERS and not token.first)) or (
            word in FLOATING_QUANTIFIERS and self._floats(place)
        ):
            return self._scan.add(Kind.ADVERB, word, place, place + 1)
        if token.is_word or token.text == PLACEHOLDER:
            return self._noun_phrases.read(place)
        return place + 1

    def _floats(self, place: int) -> bool:
        """Whether "both" belongs to the subject before it: "Ana and I both use Vim", "we all work on Nimbus"."""
        previous = self._scan.chunks[-1] if self._scan.chunks else None
        noun = previous.noun if previous is not None else None
        return (
            noun is not None
            and (noun.pronoun in SUBJECT_PRONOUNS or self._scan.has_coordinated_subject())
            and bool(self._scan.kinds(place + 1) & {"base", "past"})
            and place + 1 not in self._scan.inside_names
        )

    def _names_the_noun_before(self, place: int) -> bool:
        """ "a side project called Nimbus": the name joins the noun phrase."""
        noun = self._scan.chunks[-1].noun
        name = self._scan.names.get(place + 1)
        if noun is None or name is None or noun.names or noun.pronoun:
            return False
        noun.names.append(name)
        noun.words = (*noun.words, name.text.lower())
        self._scan.chunks[-1].end = name.end
        return True
