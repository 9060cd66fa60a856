"""Builds clauses from chunks: subject, chain of verb groups, objects and prepositional phrases.

A clause knows what it depends on: the subordinator that opens it, the noun phrase that it
modifies, or the verb whose complement it is.
It is one pass over one state, read together: hence its length.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from services.agent_orchestrator.entity_memory.extraction.chunks import (
    Chunk,
    Kind,
    NounPhrase,
    VerbGroup,
)
from services.agent_orchestrator.entity_memory.extraction.frames import COMPLEMENT_VERBS
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set
from services.agent_orchestrator.entity_memory.extraction.words import (
    EXCLUDING_PREPOSITIONS,
    PERSON_ROLES,
)

_OBJECT_CONTROL = word_set(
    """
    want ask tell force allow expect help get persuade convince advise urge encourage order like love beg
    remind teach recommend propose decide go plan be try have decide agree plan
    """
)
_FRONTED = word_set(
    """
    at as by on with for to in
    """
)


class Link(StrEnum):
    MAIN = "main"
    COORDINATE = "coordinate"
    SUBORDINATE = "subordinate"
    RELATIVE = "relative"
    COMPLEMENT = "complement"
    QUESTION = "question"


@dataclass(slots=True)
class Phrase:
    """A preposition with the noun phrases that it governs."""

    preposition: str
    nouns: list[NounPhrase] = field(default_factory=list)
    after: NounPhrase | None = None
    """The noun phrase that it directly follows ("Sarah from Acme")."""


@dataclass(slots=True)
class Clause:
    link: Link
    opener: str = ""
    parent: "Clause | None" = None
    subject: list[NounPhrase] = field(default_factory=list)
    verbs: list[VerbGroup] = field(default_factory=list)
    objects: list[NounPhrase] = field(default_factory=list)
    phrases: list[Phrase] = field(default_factory=list)
    adverbs: list[str] = field(default_factory=list)
    antecedent: NounPhrase | None = None
    """Of a relative clause: the noun phrase that it modifies."""
    appositions: list[tuple[NounPhrase, NounPhrase]] = field(default_factory=list)
    shared_subject: bool = False
    stranded: str = ""
    """A preposition left without noun phrase: "the database we settled on"."""
    alternative: bool = False
    """Whether its objects are joined by "or"."""
    start: int = 0
    end: int = 0

    @property
    def verb(self) -> VerbGroup | None:
        return self.verbs[-1] if self.verbs else None

    def nouns(self) -> list[NounPhrase]:
        phrases = [noun for phrase in self.phrases for noun in phrase.nouns]
        return [*self.subject, *self.objects, *phrases]


_CHAINING = frozenset({"about", "of", "into"})
"""Prepositions before a gerund that continue the chain of verbs: "thinking about using X"."""
_CHAINING_PAIRS = frozenset(
    tuple(pair.split("_"))
    for pair in word_set(
        """
        work_on focus_on plan_on insist_on give_on switch_to look_to use_to commit_to look_at go_to get_to
        move_to keep_from refrain_from
        """
    )
)


class ClauseBuilder:
    """Builds the clauses of one sentence from its chunks."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self._chunks = chunks
        self._clauses: list[Clause] = []
        self._clause = self._open(Link.MAIN, "", None, 0)
        self._list: list[NounPhrase] | None = None
        self._previous: NounPhrase | None = None
        """The noun phrase right before, unless something else came between."""
        self._joined_by: str | None = None
        """The comma or conjunction right before."""
        self._preposition: str | None = None
        self._excluding = False
        self._resumed_by: str | None = None
        """The conjunction before a prepositional phrase: "…, and for secrets we use X"."""

    def clauses(self) -> list[Clause]:
        for place, chunk in enumerate(self._chunks):
            self._clause.end = chunk.end
            if self._preposition is not None and chunk.kind not in {
                Kind.NOUN,
                Kind.RELATIVE,
                Kind.NEGATION,
            }:
                self._clause.stranded = self._preposition
                if chunk.kind is Kind.PREPOSITION and self._preposition in EXCLUDING_PREPOSITIONS:
                    self._excluding = True
                if chunk.kind is not Kind.VERB or chunk.verb is None or chunk.verb.form != "ing":
                    self._preposition = None
            match chunk.kind:
                case Kind.NOUN:
                    self._noun(place, chunk)
                case Kind.VERB:
                    self._verb(place, chunk)
                case Kind.PREPOSITION:
                    self._begin_phrase(chunk)
                case Kind.COMMA:
                    self._comma(place)
                case Kind.CONJUNCTION:
                    self._conjunction(chunk)
                case Kind.STOP:
                    self._new_clause(Link.MAIN, "", None, chunk.end)
                case Kind.COLON:
                    self._colon(place, chunk)
                case Kind.RELATIVE:
                    self._relative(place, chunk)
                case Kind.QUESTION:
                    self._question_word(place, chunk)
                case Kind.SUBORDINATOR:
                    self._new_clause(Link.SUBORDINATE, chunk.word, self._clause, chunk.start)
                case Kind.NEGATION:
                    self._excluding = True
                case Kind.ADVERB:
                    self._clause.adverbs.append(chunk.word)
        if self._preposition is not None:
            self._clause.stranded = self._preposition
        return [clause for clause in self._clauses if clause.verbs or clause.nouns()]

    def _open(self, link: Link, opener: str, parent: Clause | None, start: int) -> Clause:
        clause = Clause(link, opener, parent, start=start, end=start)
        self._clauses.append(clause)
        return clause

    def _new_clause(self, link: Link, opener: str, parent: Clause | None, start: int) -> None:
        clause = self._clause
        if (
            link is Link.MAIN
            and not clause.verbs
            and not clause.nouns()
            and clause.link is Link.MAIN
        ):
            return
        self._clause = self._open(link, opener, parent, start)
        self._reset()

    def _reset(self) -> None:
        self._list = None
        self._previous = None
        self._joined_by = None
        self._preposition = None
        self._excluding = False
        self._resumed_by = None

    # Noun phrases

    def _noun(self, place: int, chunk: Chunk) -> None:
        noun = chunk.noun or NounPhrase()
        noun.excluded = noun.excluded or self._excluding or noun.negative
        joined, self._joined_by = self._joined_by, None
        if self._preposition is not None:
            self._complete_phrase(noun)
        elif self._is_fronted_complete() and self._starts_clause(place):
            self._clause = self._clause.parent or self._clause
            self._reset()
            self._before_verb(place, noun, None)
        elif self._is_purpose_alone() and self._starts_clause(place):
            self._new_clause(Link.MAIN, "", None, chunk.start)
            self._before_verb(place, noun, None)
        elif self._resumed_by is not None and self._clause.verbs and self._starts_clause(place):
            self._start_coordinate(noun, self._resumed_by, chunk.start)
        elif joined == "but" and self._is_negated_with_object() and not self._starts_clause(place):
            self._contrast(noun, chunk.start)
        elif joined is not None and self._list is not None and not self._starts_clause(place):
            self._join(noun, joined)
        elif joined is not None and self._clause.verbs and self._starts_clause(place):
            self._start_coordinate(noun, joined, chunk.start)
        elif not self._clause.verbs:
            self._before_verb(place, noun, joined)
        elif self._previous is not None and self._starts_clause(place, coordinated=False):
            self._reduced_relative(noun, chunk.start)
        elif self._clause.verbs and self._starts_clause(place, coordinated=False):
            self._complement(noun, chunk.start)
        else:
            self._clause.objects.append(noun)
            self._list = self._clause.objects
        self._previous = noun
        if not (joined and joined != ","):
            self._excluding = False

    def _is_fronted_complete(self) -> bool:
        """ "For monitoring we use X", "When I code I use X": the main clause starts without a comma."""
        clause = self._clause
        fronted = clause.link is Link.SUBORDINATE and clause.verbs and clause.parent is not None
        if not fronted or clause.parent is None or clause.parent.verbs:
            return False
        return clause.verbs[-1].lemma not in COMPLEMENT_VERBS

    def _is_purpose_alone(self) -> bool:
        """ "To deploy we use X": an infinitive opens the sentence."""
        clause = self._clause
        return (
            bool(clause.verbs)
            and not clause.subject
            and all(verb.form == "to" for verb in clause.verbs)
        )

    def _is_negated_with_object(self) -> bool:
        clause = self._clause
        return bool(clause.objects) and any(verb.negated for verb in clause.verbs)

    def _contrast(self, noun: NounPhrase, start: int) -> None:
        """ "We don't use B but A": what follows "but" is affirmed."""
        before = self._clause
        self._clause = self._open(Link.COORDINATE, "but", before.parent, start)
        self._reset()
        self._clause.subject = list(before.subject)
        self._clause.shared_subject = True
        self._clause.verbs = [replace(verb, negated=False) for verb in before.verbs]
        self._clause.objects.append(noun)
        self._list = self._clause.objects

    def _complete_phrase(self, noun: NounPhrase) -> None:
        preposition = self._preposition or ""
        noun.excluded = noun.excluded or preposition in EXCLUDING_PREPOSITIONS
        phrase = Phrase(preposition, [noun], self._previous)
        self._clause.phrases.append(phrase)
        self._list = phrase.nouns
        self._preposition = None

    def _join(self, noun: NounPhrase, joined: str) -> None:
        nouns = self._list or self._clause.objects
        if not nouns:
            nouns.append(noun)
            return
        before = nouns[-1]
        if joined == "," and _are_apposed(before, noun):
            self._appose(before, noun, nouns)
            return
        if joined == "or":
            self._clause.alternative = True
        if before.excluded and joined in {"or", "nor"}:
            noun.excluded = True
        nouns.append(noun)

    def _appose(self, before: NounPhrase, noun: NounPhrase, place: list[NounPhrase]) -> None:
        """Two noun phrases for the same: the one with the name takes part in the clause."""
        self._clause.appositions.append((before, noun))
        if noun.names and not before.names:
            place[-1] = noun

    def _start_coordinate(self, noun: NounPhrase, joined: str, start: int) -> None:
        parent = (
            self._clause.parent
            if self._clause.link in {Link.COMPLEMENT, Link.SUBORDINATE} and joined == "and"
            else None
        )
        link = self._clause.link if parent is not None else Link.COORDINATE
        opener = self._clause.opener if parent is not None else joined
        self._new_clause(link, opener, parent, start)
        self._clause.subject.append(noun)
        self._list = self._clause.subject

    def _before_verb(self, place: int, noun: NounPhrase, joined: str | None) -> None:
        clause = self._clause
        if (
            clause.subject
            and joined is None
            and self._starts_clause(place)
            and clause.link is not Link.RELATIVE
        ):
            self._reduced_relative(noun, self._chunks[place].start)
            return
        if clause.subject and joined == ",":
            before = clause.subject[-1]
            if _are_apposed(before, noun):
                self._appose(before, noun, clause.subject)
                return
            if not self._list_goes_on(place):
                clause.subject = [noun]
                self._list = clause.subject
                return
        clause.subject.append(noun)
        self._list = clause.subject

    def _reduced_relative(self, noun: NounPhrase, start: int) -> None:
        """ "the editor I use": the second noun phrase opens a clause about the first; or a complement's subject."""
        antecedent = self._previous
        parent = self._clause
        if parent.verbs and parent.verbs[-1].lemma in COMPLEMENT_VERBS:
            self._complement(noun, start)
            return
        self._clause = self._open(Link.RELATIVE, "", parent, start)
        self._reset()
        self._clause.antecedent = antecedent
        self._clause.subject = [noun]
        self._list = self._clause.subject

    def _complement(self, noun: NounPhrase, start: int) -> None:
        parent = self._clause
        self._clause = self._open(Link.COMPLEMENT, "", parent, start)
        self._reset()
        self._clause.subject = [noun]
        self._list = self._clause.subject

    def _starts_clause(self, place: int, *, coordinated: bool = True) -> bool:
        """Whether the noun phrase at `place` is the subject of a finite verb that follows it."""
        at = place + 1
        while at < len(self._chunks) and self._chunks[at].kind in {Kind.ADVERB, Kind.NEGATION}:
            at += 1
        if at >= len(self._chunks):
            return False
        chunk = self._chunks[at]
        if chunk.kind is Kind.VERB and chunk.verb is not None:
            return chunk.verb.finite or (
                chunk.verb.form == "participle" and chunk.verb.lemma == "be"
            )
        if (
            coordinated
            and chunk.kind is Kind.CONJUNCTION
            and chunk.word in {"and", "&"}
            and at + 1 < len(self._chunks)
        ):
            following = self._chunks[at + 1]
            if following.kind is Kind.NOUN and self._verb_after(at + 1) is not None:
                verb = self._verb_after(at + 1)
                return verb is not None and (verb.form != "third" or "are" in verb.auxiliaries)
        return False

    def _verb_after(self, place: int) -> VerbGroup | None:
        at = place + 1
        while at < len(self._chunks) and self._chunks[at].kind is Kind.ADVERB:
            at += 1
        if at < len(self._chunks) and self._chunks[at].kind is Kind.VERB:
            verb = self._chunks[at].verb
            return verb if verb is not None and verb.finite else None
        return None

    def _list_goes_on(self, place: int) -> bool:
        """Whether "A, B and C" continues to a verb: then all of them are the subject."""
        for chunk in self._chunks[place + 1 : place + 8]:
            if chunk.kind is Kind.CONJUNCTION:
                return True
            if chunk.kind in {Kind.VERB, Kind.PREPOSITION, Kind.STOP}:
                return False
        return False

    # Verbs

    def _verb(self, place: int, chunk: Chunk) -> None:
        verb = chunk.verb or VerbGroup(chunk.word, "base")
        joined, self._joined_by = self._joined_by, None
        if self._excluding and not self._clause.objects and not joined:
            verb.negated = True
        if self._preposition is not None and verb.form == "ing" and not verb.auxiliaries:
            self._gerund(verb)
        elif self._resumed_by is not None and self._clause.verbs and verb.finite:
            self._coordinate_verb(verb, self._resumed_by, chunk.start)
        elif verb.form == "to" and self._clause.verbs and joined is None:
            self._infinitive(verb, chunk.start)
        elif not verb.finite and self._clause.verbs and joined is None and verb.form == "ing":
            self._participle(verb, chunk.start)
        elif not verb.finite and self._clause.verbs and joined is None:
            self._reduced_passive(verb, chunk.start)
        elif self._clause.verbs and joined is not None:
            self._coordinate_verb(verb, joined, chunk.start)
        elif self._clause.verbs and verb.finite:
            self._back_to_parent(verb, chunk.start)
        elif (
            not self._clause.verbs
            and not verb.finite
            and verb.form == "participle"
            and self._clause.subject
            and self._finite_follows(place)
        ) or (
            not self._clause.verbs
            and verb.form == "ing"
            and self._clause.subject
            and not verb.finite
            and self._finite_follows(place)
        ):
            self._reduced_passive(verb, chunk.start)
        else:
            self._clause.verbs.append(verb)
        self._list = None
        self._previous = None
        self._preposition = None
        self._excluding = False

    def _infinitive(self, verb: VerbGroup, start: int) -> None:
        """An infinitive continues the chain of verbs; after an object it is a purpose ("use X to build Y")."""
        clause = self._clause
        if not (clause.objects or clause.phrases) or clause.verbs[-1].lemma in _OBJECT_CONTROL:
            clause.verbs.append(verb)
            return
        self._clause = self._open(Link.SUBORDINATE, "gerund_to", clause, start)
        self._reset()
        self._clause.subject = list(clause.subject)
        self._clause.shared_subject = True
        self._clause.verbs.append(verb)

    def _finite_follows(self, place: int) -> bool:
        for chunk in self._chunks[place + 1 : place + 8]:
            if chunk.kind is Kind.VERB and chunk.verb is not None and chunk.verb.finite:
                return True
            if chunk.kind in {Kind.COMMA, Kind.STOP, Kind.CONJUNCTION}:
                return False
        return False

    def _gerund(self, verb: VerbGroup) -> None:
        """A verb after a preposition: "for building X", "thinking about using X"."""
        preposition = self._preposition or ""
        parent = self._clause
        negated = preposition in EXCLUDING_PREPOSITIONS
        if (
            not negated
            and parent.verbs
            and not parent.objects
            and (
                preposition in _CHAINING or (parent.verbs[-1].lemma, preposition) in _CHAINING_PAIRS
            )
        ):
            verb.adverbs = (*verb.adverbs, f"after_{preposition}")
            parent.verbs.append(verb)
            return
        self._clause = self._open(Link.SUBORDINATE, f"gerund_{preposition}", parent, parent.end)
        self._reset()
        verb.negated = verb.negated or negated
        self._clause.subject = list(parent.subject)
        self._clause.shared_subject = True
        self._clause.verbs.append(verb)

    def _participle(self, verb: VerbGroup, start: int) -> None:
        """ "-ing" after a verb continues its chain; after an object it is a clause with the same subject."""
        clause = self._clause
        if not clause.objects and not clause.phrases:
            clause.verbs.append(verb)
            return
        if self._previous is not None and self._previous.names and not clause.subject:
            clause.verbs.append(verb)
            return
        self._clause = self._open(Link.COORDINATE, "participle", clause, start)
        self._reset()
        self._clause.subject = list(clause.subject)
        self._clause.shared_subject = True
        self._clause.verbs.append(verb)

    def _reduced_passive(self, verb: VerbGroup, start: int) -> None:
        """ "a service written in Go": a participle that modifies the noun phrase before it."""
        antecedent = self._previous
        parent = self._clause
        self._clause = self._open(Link.RELATIVE, "", parent, start)
        self._reset()
        if antecedent is not None:
            self._clause.antecedent = antecedent
            self._clause.subject = [antecedent]
        verb.passive = verb.form == "participle"
        self._clause.verbs.append(verb)

    def _coordinate_verb(self, verb: VerbGroup, joined: str, start: int) -> None:
        """ "I use X and love Y": the new clause has the subject of the one before."""
        before = self._clause
        link = before.link if before.link is not Link.MAIN else Link.COORDINATE
        clause = self._open(
            link, before.opener if link is before.link else joined, before.parent, start
        )
        clause.antecedent = before.antecedent
        clause.subject = list(before.subject)
        clause.shared_subject = True
        first = before.verbs[0]
        if first.passive and verb.form == "past" and not verb.auxiliaries:
            verb.form, verb.passive, verb.past = "participle", True, False
        if not verb.finite or (verb.form == "participle"):
            verb.auxiliaries = verb.auxiliaries or first.auxiliaries
            verb.passive = (first.passive and verb.form == "participle") or verb.passive
        if verb.form in {"base", "to", "ing"} and not verb.auxiliaries and first.modal:
            verb.modal, verb.auxiliaries = first.modal, first.auxiliaries
            verb.negated = verb.negated or (first.negated and joined in {"or", "nor"})
        elif first.negated and joined in {"or", "nor"}:
            verb.negated = True
        if (
            len(before.verbs) > 1
            and verb.form in {"base", "ing"}
            and before.verbs[-1].form in {"to", "ing"}
            and not verb.finite
        ) or (
            len(before.verbs) > 1
            and before.verbs[-1].form == "to"
            and verb.form == "base"
            and first.form != "base"
        ):
            clause.verbs = [*before.verbs[:-1]]
        self._clause = clause
        self._reset()
        clause.verbs.append(verb)

    def _back_to_parent(self, verb: VerbGroup, start: int) -> None:
        """A second finite verb ends a relative clause and belongs to what it modifies."""
        clause = self._clause
        while clause.link in {Link.RELATIVE, Link.SUBORDINATE} and clause.parent is not None:
            clause = clause.parent
            if not clause.verbs:
                self._clause = clause
                clause.verbs.append(verb)
                return
        if self._previous is not None and self._previous in self._clause.objects:
            subject = self._clause.objects.pop()
            self._complement(subject, start)
            self._clause.verbs.append(verb)
            return
        antecedents = [noun for noun in self._clause.objects if not noun.excluded]
        self._clause = self._open(Link.COORDINATE, "", None, start)
        self._reset()
        self._clause.subject = antecedents[-1:]
        self._clause.verbs.append(verb)

    # Function words

    def _begin_phrase(self, chunk: Chunk) -> None:
        if self._joined_by == "," and self._clause.link is Link.RELATIVE and self._clause.verbs:
            self._pop()
        self._preposition = chunk.word
        if self._joined_by is not None and self._joined_by != ",":
            self._resumed_by = self._joined_by
        self._joined_by = None

    def _comma(self, place: int) -> None:
        self._joined_by = ","
        self._excluding = False
        clause = self._clause
        if not clause.verbs and not clause.nouns():
            clause.adverbs = [word for word in clause.adverbs if word != "anymore"]
        following = self._chunks[place + 1] if place + 1 < len(self._chunks) else None
        if (
            following is not None
            and following.kind is Kind.NOUN
            and clause.link is Link.RELATIVE
            and clause.verbs
        ):
            if not self._starts_clause(place + 1):
                self._pop()
            return
        if (
            clause.link is Link.RELATIVE
            and clause.verbs
            and following is not None
            and following.kind in {Kind.VERB, Kind.ADVERB, Kind.CONJUNCTION}
        ):
            self._pop()
            return
        if clause.link is Link.SUBORDINATE and clause.verbs and following is not None:
            if clause.opener.startswith("gerund"):
                if clause.parent is not None and not clause.parent.verbs:
                    self._pop()
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
            self._clause = clause.parent
            self._reset()

    def _pop(self) -> None:
        parent = self._clause.parent
        if parent is None:
            return
        self._clause = parent
        joined = self._joined_by
        self._reset()
        self._joined_by = joined
        if parent.phrases and parent.verbs:
            self._list = parent.phrases[-1].nouns
        elif parent.verbs:
            self._list = parent.objects or None
        else:
            self._list = parent.subject or None

    def _conjunction(self, chunk: Chunk) -> None:
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
            and self._previous is not None
            and self._list is None
        ):
            self._list = self._clause.objects
        if chunk.word == "but":
            self._excluding = False
        clause = self._clause
        if (
            clause.link is Link.RELATIVE
            and clause.verbs
            and clause.parent is not None
            and self._joined_by == ","
        ):
            self._pop()
        self._joined_by = word
        self._preposition = None

    def _colon(self, place: int, chunk: Chunk) -> None:
        """ "my stack: A, B" says that the stack is A and B; after a clause the list explains its object."""
        clause = self._clause
        following = self._chunks[place + 1] if place + 1 < len(self._chunks) else None
        ours = not clause.verbs and clause.subject and clause.subject[-1].possessor == "self"
        listed = following is not None and following.kind is Kind.NOUN
        if ours and listed and not self._starts_clause(place + 1):
            clause.verbs.append(VerbGroup("be", "third"))
            self._list = None
            return
        if (
            clause.verbs
            and following is not None
            and following.kind is Kind.NOUN
            and not self._starts_clause(place + 1)
        ):
            self._joined_by = "and"
            if self._list is None:
                self._list = clause.objects
            return
        self._new_clause(Link.MAIN, "", None, chunk.end)

    def _relative(self, place: int, chunk: Chunk) -> None:
        clause = self._clause
        complement = (
            clause.verbs and clause.verbs[-1].lemma in COMPLEMENT_VERBS and chunk.word == "that"
        )
        antecedent = self._previous
        joined = self._joined_by
        if antecedent is None and joined is not None and self._list:
            antecedent = self._list[-1]
        link = Link.COMPLEMENT if complement or antecedent is None else Link.RELATIVE
        preposition = self._preposition
        if (
            joined in {"and", "or", "but"}
            and clause.link is Link.COMPLEMENT
            and clause.verbs
            and chunk.word == "that"
        ):
            self._clause = self._open(Link.COMPLEMENT, "that", clause.parent, chunk.start)
            self._reset()
            return
        self._clause = self._open(link, chunk.word, clause, chunk.start)
        self._reset()
        if link is Link.RELATIVE:
            self._clause.antecedent = antecedent
            following = self._next_significant(place)
            if chunk.word == "where":
                return
            if (
                following is not None
                and self._chunks[following].kind is Kind.VERB
                and antecedent is not None
                and preposition is None
            ):
                self._clause.subject = [antecedent]
            elif preposition is not None and antecedent is not None:
                self._clause.phrases.append(Phrase(preposition, [antecedent]))

    def _next_significant(self, place: int) -> int | None:
        for at in range(place + 1, len(self._chunks)):
            if self._chunks[at].kind not in {Kind.ADVERB, Kind.NEGATION}:
                return at
        return None

    def _question_word(self, place: int, chunk: Chunk) -> None:
        """ "what I use" is a noun phrase of its own; other question words open a question."""
        following = self._next_significant(place)
        clause = self._clause
        free = (
            chunk.word == "what"
            and following is not None
            and self._chunks[following].kind is Kind.NOUN
            and self._starts_clause(following)
        )
        if free:
            noun = NounPhrase(words=("what",), head="what")
            equated = bool(clause.verbs) and clause.verbs[-1].lemma == "be"
            if equated or not clause.verbs:
                if equated:
                    clause.objects.append(noun)
                else:
                    clause.subject = [noun]
                self._clause = self._open(Link.RELATIVE, "what", clause, chunk.start)
                self._reset()
                self._clause.antecedent = noun
                return
        self._clause = self._open(Link.QUESTION, chunk.word, clause, chunk.start)
        self._reset()


def _are_apposed(first: NounPhrase, second: NounPhrase) -> bool:
    """Whether two noun phrases around a comma name the same: one a name, the other a role or a kind."""
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
