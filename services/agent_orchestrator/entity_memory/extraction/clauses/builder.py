"""Builds the clauses of one sentence in one pass over its chunks.

A clause knows what it depends on: the subordinator that opens it, the noun phrase that it
modifies, or the verb whose complement it is.
"""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import Chunk, Kind
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link
from services.agent_orchestrator.entity_memory.extraction.clauses.links import LinkReader
from services.agent_orchestrator.entity_memory.extraction.clauses.nouns import NounReader
from services.agent_orchestrator.entity_memory.extraction.clauses.state import BuildState
from services.agent_orchestrator.entity_memory.extraction.clauses.verbs import VerbReader
from services.agent_orchestrator.entity_memory.extraction.word_classes import EXCLUDING_PREPOSITIONS


class ClauseBuilder:
    """Builds the clauses of one sentence from its chunks."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self._state = BuildState(chunks)
        self._nouns = NounReader(self._state)
        self._verbs = VerbReader(self._state)
        self._links = LinkReader(self._state)

    def clauses(self) -> list[Clause]:
        for place, chunk in enumerate(self._state.chunks):
            self._state.clause.end = chunk.end
            if self._state.preposition is not None and chunk.kind not in {
                Kind.NOUN,
                Kind.RELATIVE,
                Kind.NEGATION,
            }:
                self._state.clause.stranded = self._state.preposition
                if (
                    chunk.kind is Kind.PREPOSITION
                    and self._state.preposition in EXCLUDING_PREPOSITIONS
                ):
                    self._state.excluding = True
                if chunk.kind is not Kind.VERB or chunk.verb is None or chunk.verb.form != "ing":
                    self._state.preposition = None
            match chunk.kind:
                case Kind.NOUN:
                    self._nouns.add(place, chunk)
                case Kind.VERB:
                    self._verbs.add(place, chunk)
                case Kind.PREPOSITION:
                    self._links.preposition(chunk)
                case Kind.COMMA:
                    self._links.comma(place)
                case Kind.CONJUNCTION:
                    self._links.conjunction(chunk)
                case Kind.STOP:
                    self._state.new_clause(Link.MAIN, "", None, chunk.end)
                case Kind.COLON:
                    self._links.colon(place, chunk)
                case Kind.RELATIVE:
                    self._links.relative(place, chunk)
                case Kind.QUESTION:
                    self._links.question_word(place, chunk)
                case Kind.SUBORDINATOR:
                    self._state.new_clause(
                        Link.SUBORDINATE, chunk.word, self._state.clause, chunk.start
                    )
                case Kind.NEGATION:
                    self._state.excluding = True
                case Kind.ADVERB:
                    self._state.clause.adverbs.append(chunk.word)
        if self._state.preposition is not None:
            self._state.clause.stranded = self._state.preposition
        return [clause for clause in self._state.clauses if clause.verbs or clause.nouns()]
