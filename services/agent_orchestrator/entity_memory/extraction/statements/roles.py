"""Statements in noun phrases: "my colleague Ravi", "our database, PostgreSQL", "Sarah from Acme"."""

from collections.abc import Iterator
from dataclasses import replace

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import NounPhrase
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.references import References
from services.agent_orchestrator.entity_memory.extraction.statements.domain import Statement
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import (
    EXPLICIT,
    FRAMES,
    OBJECT,
    REPORTING,
)
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    BUILT_HEADS,
    EMPLOYER_HEADS,
    ENDED_ADJECTIVES,
    FUTURE_ADJECTIVES,
    PERSON_ROLES,
    PERSON_ROLES_AT_WORK,
    PERSON_ROLES_PRIVATE,
    TOOL_HEADS,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set
from services.agent_orchestrator.entity_memory.roles import is_single, spelled_role

_R = RelationshipType

_FAVOURITE = word_set(
    """
    fav favorites favorite go-to favourites preferred preference fave favourite
    """
)

_CHOICE = frozenset({"choice", "pick", "decision", "selection", "winner"})

_PROJECT_HEADS = frozenset({"project", "side_project", "side-project", "baby", "hobby", "startup"})

_HUMAN_ROLES = (PERSON_ROLES_AT_WORK | PERSON_ROLES_PRIVATE) - word_set(
    """
    assistant partner contractor consultant collaborator successor predecessor report friend buddy pal mate
    acquaintance designer tester peer coach
    """
)
"""Roles that people alone have: "my manager Ruby" is a person, whatever else is called Ruby."""
_NO_ROLE_WORDS = word_set(
    """
    my our new current actual latest own main primary usual old default daily everyday
    """
)
"""Words of a role's phrase that do not make it another role."""
_AT_VERBS = word_set(
    """
    work meet study start join teach intern see know
    """
)


def role_relation(noun: NounPhrase) -> RelationshipType | None:
    """Returns the relationship that a role states: "my colleague", "our designer", "a friend"."""
    if noun.modifiers() & (ENDED_ADJECTIVES - {"old"} | FUTURE_ADJECTIVES) or (
        "old" in noun.words and noun.head not in PERSON_ROLES_PRIVATE
    ):
        return None
    if noun.head in PERSON_ROLES_PRIVATE:
        return _R.KNOWS
    if noun.head in PERSON_ROLES_AT_WORK:
        return _R.WORKS_WITH
    return None


def _role(noun: NounPhrase) -> str:
    """Returns the role that a noun phrase of the user's names: "my new CI tool" is the "ci tool"."""
    if not noun.head or noun.head in _FAVOURITE:
        return ""
    named = {word for name in noun.names for word in name.text.lower().split()}
    written = {word.lower(): word for word in noun.text.split()}
    words = [one for one in noun.words if one not in _NO_ROLE_WORDS | named]
    return spelled_role(" ".join(written.get(one, one) for one in words))


def _reports(clause: Clause) -> bool:
    """Whether the clause reports another person's words; "swears by X" and "writes in X" do not."""
    verb = clause.verb
    if verb is None or verb.lemma not in REPORTING or any(n.is_self for n in clause.subject):
        return False
    markers = {frame.marker for frame in FRAMES.get(verb.lemma, ())} - {OBJECT}
    return not any(phrase.preposition in markers for phrase in clause.phrases)


class Roles:
    """Reads roles inside noun phrases and in apposition."""

    def __init__(self, references: References, types: EntityTypes) -> None:
        self._references = references
        self._types = types

    def read(self, clause: Clause) -> Iterator[Statement]:
        self._note_projects(clause)
        if _reports(clause):
            return
        for noun in clause.nouns():
            yield from self._role_before_name(noun, clause)
        if clause.verb is not None and clause.verb.lemma == "have":
            yield from self._had(clause)
        for nouns in (clause.subject, clause.objects, *(phrase.nouns for phrase in clause.phrases)):
            yield from self._shared_roles(nouns, clause)
        for first, second in clause.appositions:
            named, described = (
                (first, second)
                if first.names and not (first.head and first.possessor and not second.possessor)
                else (second, first)
            )
            referents = self._references.resolve(named, clause)
            yield from self.described(referents, described)
            introduced = any(noun.is_self for noun in clause.subject) and named in clause.objects
            yield from self.affiliation_of_role(
                clause, described, [USER] if introduced else referents
            )
        for phrase in clause.phrases:
            if (
                phrase.preposition in {"from", "at", "of"}
                and phrase.after is not None
                and phrase.after.names
            ):
                yield from self._affiliation(phrase.after, phrase.nouns, phrase.preposition, clause)

    def _note_projects(self, clause: Clause) -> None:
        """ "Kestrel, our scheduling service": an unknown name for one of our systems is a project."""
        for noun in clause.nouns():
            if noun.names and not noun.head_follows:
                self._note_project(noun, noun)
        for pair in clause.appositions:
            for named, described in (pair, pair[::-1]):
                if named.names and not described.names:
                    self._note_project(named, described)
        if clause.verb is not None and clause.verb.lemma == "be":
            for first in clause.subject:
                for second in clause.objects:
                    if bool(first.names) != bool(second.names):
                        named, described = (first, second) if first.names else (second, first)
                        self._note_project(named, described)

    def _note_project(self, named: NounPhrase, described: NounPhrase) -> None:
        if (
            described.possessor == "self"
            and described.possessor_name is None
            and described.head in BUILT_HEADS
        ):
            name = named.names[-1].text
            if not self._types.known.types_of(name):
                self._types.remember(name, EntityType.PROJECT)

    def _had(self, clause: Clause) -> Iterator[Statement]:
        """ "I have a colleague called Viktor"."""
        if not any(noun.is_self for noun in clause.subject) or clause.verbs[0].negated:
            return
        for noun in clause.objects:
            relation = role_relation(noun)
            if relation is None or noun.head_follows or noun.possessor:
                continue
            for referent in self._references.resolve(noun, clause):
                if self._types.accepts("person", referent):
                    self._types.remember(referent.name, EntityType.PERSON)
                    yield Statement(USER, relation, referent, EXPLICIT)

    def _shared_roles(self, nouns: list[NounPhrase], clause: Clause) -> Iterator[Statement]:
        """ "my colleagues Ahmed and Sofia": the role applies to each name of the list."""
        role: NounPhrase | None = None
        for noun in nouns:
            if role is not None and noun.names and not noun.head and not noun.possessor:
                yield from self.described(self._references.resolve(noun, clause), role)
            elif noun.names and not noun.head_follows and noun.head + "s" in noun.words:
                role = noun
            else:
                role = None

    def _role_before_name(self, noun: NounPhrase, clause: Clause) -> Iterator[Statement]:
        """ "my manager Helen Brandt", "our CI tool Jenkins"."""
        if not noun.names or noun.head_follows or not noun.head or noun.excluded:
            return
        if noun.head in _PROJECT_HEADS:
            return
        yield from self.described(self._references.resolve(noun, clause), noun)

    def described(
        self, named: list[Referent], noun: NounPhrase, confidence: float = 0.92
    ) -> Iterator[Statement]:
        """Yields what a noun phrase such as "my colleague" or "our database" states about the thing it describes."""
        named = [referent for referent in named if not referent.is_self]
        relation = role_relation(noun)
        role = _role(noun) if noun.possessor_name is None else ""
        single = len(named) == 1 and (
            is_single(role) or (confidence == EXPLICIT and noun.text.lower().startswith("my "))
        )
        if relation is not None and noun.possessor:
            source = self._owner(noun)
            if source is None:
                return
            for referent in named:
                if noun.head in _HUMAN_ROLES and not referent.lower:
                    self._types.remember(referent.name, EntityType.PERSON)
                if self._types.accepts("person", referent):
                    only = is_single(role) and single
                    yield Statement(
                        source, relation, referent, confidence, role=role, exclusive=only
                    )
            return
        if noun.possessor != "self" or noun.possessor_name is not None:
            return
        words = noun.modifiers()
        if words & (ENDED_ADJECTIVES | FUTURE_ADJECTIVES):
            return
        for statement in self._of_thing(named, noun, words, confidence):
            # A user has several projects, and makes many choices.
            if statement.type in {_R.WORKS_ON, _R.DECIDED}:
                yield statement
            else:
                yield replace(statement, role=role, exclusive=single)

    def _of_thing(
        self,
        named: list[Referent],
        noun: NounPhrase,
        words: frozenset[str],
        confidence: float,
    ) -> Iterator[Statement]:
        """Yields what "my editor", "our database" or "my choice" is."""
        for referent in named:
            if words & _FAVOURITE or noun.head in _FAVOURITE:
                if self._types.accepts("thing", referent):
                    yield Statement(USER, _R.PREFERS, referent, confidence)
            elif noun.head in _CHOICE:
                if self._types.accepts("thing", referent):
                    yield Statement(USER, _R.DECIDED, referent, confidence)
            elif noun.head in EMPLOYER_HEADS:
                if self._types.accepts("organization", referent):
                    yield Statement(USER, _R.PART_OF, referent, confidence)
            elif noun.head in _PROJECT_HEADS:
                if self._types.accepts("project", referent):
                    yield Statement(USER, _R.WORKS_ON, referent, confidence)
            elif noun.head in _PROJECT_HEADS:
                continue
            elif noun.head in TOOL_HEADS and self._types.is_tool(referent):
                yield Statement(USER, _R.USES, referent, confidence)

    def _owner(self, noun: NounPhrase) -> Referent | None:
        if noun.possessor_name is not None:
            owner = Referent(noun.possessor_name.text, initial=noun.possessor_name.initial)
            return owner if self._types.accepts("person", owner) else None
        return USER if noun.possessor == "self" else None

    def _affiliation(
        self, person: NounPhrase, organizations: list[NounPhrase], preposition: str, clause: Clause
    ) -> Iterator[Statement]:
        """ "Sarah from Acme"."""
        for member in self._references.resolve(person, clause):
            if not self._types.accepts("person", member):
                continue
            for noun in organizations:
                for organization in self._references.resolve(noun, clause):
                    known = self._types.is_organization(organization)
                    if organization.is_self or (preposition != "from" and not known):
                        continue
                    if (
                        preposition == "at"
                        and person not in clause.subject
                        and clause.verb is not None
                        and clause.verb.lemma in _AT_VERBS
                    ):
                        continue
                    if self._types.accepts("organization", organization):
                        yield Statement(member, _R.PART_OF, organization, 0.92)

    def affiliation_of_role(
        self, clause: Clause, noun: NounPhrase, named: list[Referent]
    ) -> Iterator[Statement]:
        """ "Our counterpart at Acme is Miguel"."""
        if noun.head not in PERSON_ROLES or noun.modifiers() & (
            ENDED_ADJECTIVES | FUTURE_ADJECTIVES
        ):
            return
        for phrase in clause.phrases:
            if phrase.preposition not in {"at", "from"} or phrase.after is not noun:
                continue
            for each in phrase.nouns:
                for organization in self._references.resolve(each, clause):
                    if organization.is_self or not self._types.accepts(
                        "organization", organization
                    ):
                        continue
                    for person in named:
                        if self._types.accepts("person", person):
                            yield Statement(person, _R.PART_OF, organization, 0.9)
