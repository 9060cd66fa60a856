"""A sentence while its clauses are built: the open clause, and the preceding chunk."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    NounPhrase,
    VerbGroup,
)
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause, Link


class BuildState:
    """The clauses so far, the open one, and what the next chunk may join."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self.chunks = chunks
        self.clauses: list[Clause] = []
        self.clause = self.open(Link.MAIN, "", None, 0)
        self.open_list: list[NounPhrase] | None = None
        self.previous: NounPhrase | None = None
        """The noun phrase right before, unless something else came between."""
        self.joined_by: str | None = None
        """The comma or conjunction right before."""
        self.preposition: str | None = None
        self.excluding = False
        self.resumed_by: str | None = None
        """The conjunction before a prepositional phrase: "…, and for secrets we use X"."""

    def open(self, link: Link, opener: str, parent: Clause | None, start: int) -> Clause:
        clause = Clause(link, opener, parent, start=start, end=start)
        self.clauses.append(clause)
        return clause

    def new_clause(self, link: Link, opener: str, parent: Clause | None, start: int) -> None:
        clause = self.clause
        if (
            link is Link.MAIN
            and not clause.verbs
            and not clause.nouns()
            and clause.link is Link.MAIN
        ):
            return
        self.clause = self.open(link, opener, parent, start)
        self.reset()

    def reset(self) -> None:
        self.open_list = None
        self.previous = None
        self.joined_by = None
        self.preposition = None
        self.excluding = False
        self.resumed_by = None

    def pop(self) -> None:
        parent = self.clause.parent
        if parent is None:
            return
        self.clause = parent
        joined = self.joined_by
        self.reset()
        self.joined_by = joined
        if parent.phrases and parent.verbs:
            self.open_list = parent.phrases[-1].nouns
        elif parent.verbs:
            self.open_list = parent.objects or None
        else:
            self.open_list = parent.subject or None

    def complement(self, noun: NounPhrase, start: int) -> None:
        parent = self.clause
        self.clause = self.open(Link.COMPLEMENT, "", parent, start)
        self.reset()
        self.clause.subject = [noun]
        self.open_list = self.clause.subject

    def starts_clause(self, place: int, *, coordinated: bool = True) -> bool:
        """Whether the noun phrase at `place` is the subject of a finite verb that follows it."""
        at = place + 1
        while at < len(self.chunks) and self.chunks[at].kind in {Kind.ADVERB, Kind.NEGATION}:
            at += 1
        if at >= len(self.chunks):
            return False
        chunk = self.chunks[at]
        if chunk.kind is Kind.VERB and chunk.verb is not None:
            return chunk.verb.finite or (
                chunk.verb.form == "participle" and chunk.verb.lemma == "be"
            )
        if (
            coordinated
            and chunk.kind is Kind.CONJUNCTION
            and chunk.word in {"and", "&"}
            and at + 1 < len(self.chunks)
        ):
            following = self.chunks[at + 1]
            if following.kind is Kind.NOUN and self._verb_after(at + 1) is not None:
                verb = self._verb_after(at + 1)
                return verb is not None and (verb.form != "third" or "are" in verb.auxiliaries)
        return False

    def _verb_after(self, place: int) -> VerbGroup | None:
        at = place + 1
        while at < len(self.chunks) and self.chunks[at].kind is Kind.ADVERB:
            at += 1
        if at < len(self.chunks) and self.chunks[at].kind is Kind.VERB:
            verb = self.chunks[at].verb
            return verb if verb is not None and verb.finite else None
        return None
