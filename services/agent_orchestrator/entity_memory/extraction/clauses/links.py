"""Words that connect clauses: prepositions, commas, conjunctions, colons, relative and question words."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    NounPhrase,
    VerbGroup,
)
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link, Phrase
from services.agent_orchestrator.entity_memory.extraction.clauses.state import BuildState
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import COMPLEMENT_VERBS


class LinkReader:
    """Reads the function words between the clauses of one sentence."""

    def __init__(self, state: BuildState) -> None:
        self._state = state

    def preposition(self, chunk: Chunk) -> None:
        if (
            self._state.joined_by == ","
            and self._state.clause.link is Link.RELATIVE
            and self._state.clause.verbs
        ):
            self._state.pop()
        self._state.preposition = chunk.word
        if self._state.joined_by is not None and self._state.joined_by != ",":
            self._state.resumed_by = self._state.joined_by
        self._state.joined_by = None

    def comma(self, place: int) -> None:
        self._state.joined_by = ","
        self._state.excluding = False
        clause = self._state.clause
        if not clause.verbs and not clause.nouns():
            clause.adverbs = [word for word in clause.adverbs if word != "anymore"]
        following = self._state.chunks[place + 1] if place + 1 < len(self._state.chunks) else None
        if (
            following is not None
            and following.kind is Kind.NOUN
            and clause.link is Link.RELATIVE
            and clause.verbs
        ):
            if not self._state.starts_clause(place + 1):
                self._state.pop()
            return
        if (
            clause.link is Link.RELATIVE
            and clause.verbs
            and following is not None
            and following.kind in {Kind.VERB, Kind.ADVERB, Kind.CONJUNCTION}
        ):
            self._state.pop()
            return
        if clause.link is Link.SUBORDINATE and clause.verbs and following is not None:
            if clause.opener.startswith("gerund"):
                if clause.parent is not None and not clause.parent.verbs:
                    self._state.pop()
            elif following.kind in {
                Kind.NOUN,
                Kind.ADVERB,
                Kind.VERB,
                Kind.PREPOSITION,
            } and self._is_fronted(clause):
                self._leave_fronted(clause)

    def _is_fronted(self, clause: Clause) -> bool:
        return clause.parent is not None and not clause.parent.verbs

    def _leave_fronted(self, clause: Clause) -> None:
        if clause.parent is not None:
            self._state.clause = clause.parent
            self._state.reset()

    def conjunction(self, chunk: Chunk) -> None:
        word = (
            "and"
            if chunk.word
            in {
                "&",
                "plus",
                "/",
                "as_well_as",
                "along_with",
                "such_as",
                "including",
                "e.g",
                "namely",
            }
            else chunk.word
        )
        if (
            chunk.word in {"such_as", "including", "namely", "e.g"}
            and self._state.previous is not None
            and self._state.open_list is None
        ):
            self._state.open_list = self._state.clause.objects
        if chunk.word == "but":
            self._state.excluding = False
        clause = self._state.clause
        if (
            clause.link is Link.RELATIVE
            and clause.verbs
            and clause.parent is not None
            and self._state.joined_by == ","
        ):
            self._state.pop()
        self._state.joined_by = word
        self._state.preposition = None

    def colon(self, place: int, chunk: Chunk) -> None:
        """ "my stack: A, B" says that the stack is A and B; after a clause the list explains its object."""
        clause = self._state.clause
        following = self._state.chunks[place + 1] if place + 1 < len(self._state.chunks) else None
        ours = not clause.verbs and clause.subject and clause.subject[-1].possessor == "self"
        listed = following is not None and following.kind is Kind.NOUN
        if ours and listed and not self._state.starts_clause(place + 1):
            clause.verbs.append(VerbGroup("be", "third"))
            self._state.open_list = None
            return
        if (
            clause.verbs
            and following is not None
            and following.kind is Kind.NOUN
            and not self._state.starts_clause(place + 1)
        ):
            self._state.joined_by = "and"
            if self._state.open_list is None:
                self._state.open_list = clause.objects
            return
        self._state.new_clause(Link.MAIN, "", None, chunk.end)

    def relative(self, place: int, chunk: Chunk) -> None:
        clause = self._state.clause
        complement = (
            clause.verbs and clause.verbs[-1].lemma in COMPLEMENT_VERBS and chunk.word == "that"
        )
        antecedent = self._state.previous
        joined = self._state.joined_by
        if antecedent is None and joined is not None and self._state.open_list:
            antecedent = self._state.open_list[-1]
        link = Link.COMPLEMENT if complement or antecedent is None else Link.RELATIVE
        preposition = self._state.preposition
        if (
            joined in {"and", "or", "but"}
            and clause.link is Link.COMPLEMENT
            and clause.verbs
            and chunk.word == "that"
        ):
            self._state.clause = self._state.open(
                Link.COMPLEMENT, "that", clause.parent, chunk.start
            )
            self._state.reset()
            return
        self._state.clause = self._state.open(link, chunk.word, clause, chunk.start)
        self._state.reset()
        if link is Link.RELATIVE:
            self._state.clause.antecedent = antecedent
            following = self._next_significant(place)
            if chunk.word == "where":
                return
            if (
                following is not None
                and self._state.chunks[following].kind is Kind.VERB
                and antecedent is not None
                and preposition is None
            ):
                self._state.clause.subject = [antecedent]
            elif preposition is not None and antecedent is not None:
                self._state.clause.phrases.append(Phrase(preposition, [antecedent]))

    def _next_significant(self, place: int) -> int | None:
        for at in range(place + 1, len(self._state.chunks)):
            if self._state.chunks[at].kind not in {Kind.ADVERB, Kind.NEGATION}:
                return at
        return None

    def question_word(self, place: int, chunk: Chunk) -> None:
        """ "what I use" is a noun phrase of its own; other question words open a question."""
        following = self._next_significant(place)
        clause = self._state.clause
        free = (
            chunk.word == "what"
            and following is not None
            and self._state.chunks[following].kind is Kind.NOUN
            and self._state.starts_clause(following)
        )
        if free:
            noun = NounPhrase(words=("what",), head="what")
            equated = bool(clause.verbs) and clause.verbs[-1].lemma == "be"
            if equated or not clause.verbs:
                if equated:
                    clause.objects.append(noun)
                else:
                    clause.subject = [noun]
                self._state.clause = self._state.open(Link.RELATIVE, "what", clause, chunk.start)
                self._state.reset()
                self._state.clause.antecedent = noun
                return
        self._state.clause = self._state.open(Link.QUESTION, chunk.word, clause, chunk.start)
        self._state.reset()
