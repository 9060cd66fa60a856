"""Selects and scores the relationships that answer a question in plain English. Pure: no I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rapidfuzz import fuzz, process

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.matching import Name, match_names, similarity
from services.agent_orchestrator.entity_memory.names import folded_name
from services.agent_orchestrator.entity_memory.records import End, Relationship
from services.agent_orchestrator.entity_memory.roles import plain_role, same_roles

R = RelationshipType


def _words(alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives})\b")


_RELATIONSHIP_WORDS: Final = (
    (
        R.WORKS_WITH,
        _words(
            r"work(?:s|ing|ed)? (?:\w{1,40} )?with|colleagues?|team ?mates?|co-?workers?"
            r"|collaborat\w{1,40}|managers?|boss"
        ),
    ),
    (
        R.WORKS_ON,
        _words(
            r"work(?:s|ing|ed)? (?:\w{1,40} )?on|build(?:s|ing)?|maintain(?:s|ing)?|lead(?:s|ing)?|involved in"
        ),
    ),
    (
        R.PART_OF,
        _words(
            r"work(?:s|ing|ed)? (?:at|for)|employ\w{1,40}|belong\w{0,40}|members?|part of|join(?:ed)?"
        ),
    ),
    (
        R.PREFERS,
        _words(r"prefer\w{0,40}|favou?rites?|favou?r|like(?:s)? (?:best|better|most)|rather"),
    ),
    (
        R.DECIDED,
        _words(
            r"decid\w{1,40}|decisions?|cho(?:o|)se\w{0,40}|chosen|pick(?:ed)?|settled|agreed|went with"
        ),
    ),
    (R.DEPENDS_ON, _words(r"depend\w{0,40}|rel(?:y|ies|ied) on|requires?|needs?")),
    (R.KNOWS, _words(r"knows?|friends?|met|acquaint\w{1,40}")),
    (R.MENTIONED_IN, _words(r"mention\w{0,40}")),
    (R.LIVES_IN, _words(r"liv(?:e|es|ed|ing)|residen\w{0,10}|home ?town")),
    (R.USES, _words(r"us(?:e|es|ed|ing)|run(?:s|ning)? on|written in|work(?:s)? in")),
)
_TYPE_ORDER: Final = {type_: place for place, (type_, _) in enumerate(_RELATIONSHIP_WORDS)}
_TYPE_WORDS: Final = (
    (
        EntityType.PERSON,
        _words(r"who|whom|whose|people|persons?|colleagues?|friends?|team ?mates?|managers?"),
    ),
    (
        EntityType.TOOL,
        _words(
            r"tools?|software|languages?|databases?|frameworks?|librar(?:y|ies)|editors?|apps?|stack"
        ),
    ),
    (EntityType.PROJECT, _words(r"projects?|products?|systems?")),
    (EntityType.ORGANIZATION, _words(r"compan(?:y|ies)|organi[sz]ations?|employers?|clubs?|where")),
    (EntityType.PLACE, _words(r"places?|cit(?:y|ies)|towns?|countr(?:y|ies)|where")),
    (EntityType.CONCEPT, _words(r"concepts?|practices?|methods?|styles?|documents?")),
)
# What follows "my": the words of a role, as far as it goes on.
_OWN: Final = re.compile(r"\b(?:my|our) ((?:[^\W_][\w-]{0,40} ?){1,4})")
_OWN_PROJECT: Final = re.compile(r"\b(?:my|our) (?:\w{1,40} )?projects?\b")
_PAST: Final = _words(
    r"before|previously|formerly|former|previous|earlier|used to|back then|in the past|until (?:when|then)"
)
_FIRST_PERSON: Final = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b")
KNOWING: Final = (
    r"(?:known?|remember(?:ed)?|saved?|stored?|noted?|learn(?:ed|t)?|recall(?:ed)?|keep|kept)"
)
"""Verbs for what the memory has about its user."""
# They are no relationship of the user, unlike "know" in "Who do I know?": "What do you know about me?"
_ASKS_THE_MEMORY: Final = re.compile(
    rf"\byou(?: ve| have)?(?: (?:already|currently|still|now))? {KNOWING}\b"
    rf"|\b(?:have|ve) you {KNOWING}\b"
)
# Types that may answer instead of another one if no relationship has that type.
_NEAR: Final[Mapping[RelationshipType, frozenset[RelationshipType]]] = {
    R.USES: frozenset({R.DEPENDS_ON, R.PREFERS, R.DECIDED}),
    R.PREFERS: frozenset({R.DECIDED, R.USES}),
    R.DECIDED: frozenset({R.PREFERS}),
    R.DEPENDS_ON: frozenset({R.USES}),
    R.WORKS_WITH: frozenset({R.KNOWS}),
    R.KNOWS: frozenset({R.WORKS_WITH}),
    R.WORKS_ON: frozenset({R.PART_OF}),
    R.PART_OF: frozenset({R.WORKS_ON}),
}
_STOP_WORDS: Final = frozenset(
    [
        "a",
        "about",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "anything",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "for",
        "from",
        "get",
        "give",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "kind",
        "know",
        "list",
        "me",
        "mine",
        "much",
        "my",
        "now",
        "of",
        "on",
        "or",
        "outside",
        "our",
        "ours",
        "remember",
        "right",
        "she",
        "should",
        "show",
        "so",
        "some",
        "tell",
        "that",
        "the",
        "their",
        "them",
        "there",
        "these",
        "they",
        "thing",
        "things",
        "this",
        "those",
        "to",
        "up",
        "was",
        "we",
        "were",
        "what",
        "whats",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "he",
        "her",
        "his",
        "him",
        "us",
        "s",
        "t",
        "re",
        "ve",
        "currently",
        "usually",
        "again",
        "ever",
        "everything",
        "most",
    ]
)
_PARTS: Final = re.compile(r"[,;:]|\b(?:and|but|while|whereas)\b")
_MAX_WORDS: Final = 4
_MENTION_THRESHOLD: Final = 0.85
# Below these values a relationship is unrelated to the question's topic.
TOPIC_BY_WORDS: Final = 0.3
TOPIC_BY_MEANING: Final = 0.25
# Only breaks ties between relationships from one sentence.
_NEAR_BONUS: Final = 0.02


@dataclass(frozen=True, slots=True)
class RelationshipQuestion:
    """The parsed question. `named` are ids of entities that it names, `words` its other words, `topic` those of
    them that name neither a relationship nor a type.

    `is_name` is true if the question is only a name: it asks for that entity itself. `role` is what the user asks
    for as their own ("Who is my boss?"), `is_past` whether they ask for what has ended ("What did I use before?"), and
    `is_of_own_project` whether they ask for something of what they work on ("What does my project need?").
    """

    types: tuple[RelationshipType, ...]
    entity_types: tuple[EntityType, ...]
    named: frozenset[str]
    is_first_person: bool
    is_name: bool
    topic: frozenset[str]
    words: frozenset[str]
    role: str = ""
    is_past: bool = False
    is_of_own_project: bool = False

    @property
    def asks_for_all(self) -> bool:
        """Whether it asks for all that is known about the user: it names nothing that limits the answer."""
        limits = (self.types, self.entity_types, self.named, self.topic)
        return self.is_first_person and not any(limits)


class Scored(NamedTuple):
    """A relationship that answers, the entity that is the answer, and its score.

    `is_asked` says that it is of the role, the name, or the relation and topic that the question asks for.
    """

    relationship: Relationship
    answer: str
    score: float
    is_asked: bool = False


def read_question(
    text: str,
    names: Sequence[Name],
    relationship_type: RelationshipType | None,
    entity_type: EntityType | None,
) -> RelationshipQuestion:
    """Parses a question. Types given by the caller take precedence over its words."""
    folded = folded_name(text)
    is_short = len(folded.split()) <= _MAX_WORDS and not _asks(folded)
    if is_short and (by_name := match_names(text, names)):
        named_ids = frozenset(by_name)
        return RelationshipQuestion(
            types=(relationship_type,) if relationship_type else (),
            entity_types=(entity_type,) if entity_type else (),
            named=named_ids,
            is_first_person=False,
            is_name=True,
            topic=frozenset(),
            words=frozenset(),
        )
    named, rest = _named(_ASKS_THE_MEMORY.sub(" ", folded), names)
    types = tuple(t for t, pattern in _RELATIONSHIP_WORDS if pattern.search(rest))
    # "work with" is not "with" of another verb: of the forms of one verb, the first match wins.
    types = types[:2]
    entity_types = tuple(t for t, pattern in _TYPE_WORDS if pattern.search(rest))
    other = rest
    for _, pattern in (*_RELATIONSHIP_WORDS, *_TYPE_WORDS):
        other = pattern.sub(" ", other)
    topic = {
        word
        for word in other.split()
        if word not in _STOP_WORDS and not word.startswith(("work", "us"))
    }
    return RelationshipQuestion(
        types=(relationship_type,) if relationship_type else types,
        entity_types=(entity_type,) if entity_type else entity_types,
        named=named,
        is_first_person=bool(_FIRST_PERSON.search(folded)),
        is_name=False,
        topic=frozenset(_stem(word) for word in topic),
        words=frozenset(_stem(word) for word in rest.split() if word not in _STOP_WORDS),
        role=_role(folded),
        is_past=bool(_PAST.search(folded)),
        is_of_own_project=bool(_OWN_PROJECT.search(folded)),
    )


def rank(
    question: RelationshipQuestion,
    relationships: Iterable[Relationship],
    meaning: Mapping[str, float],
    *,
    strict: Collection[str] = (),
) -> list[Scored]:
    """Returns the relationships that answer, best first; if all are asked for, by type and latest first.

    `meaning` has similarities to the question by entity id.

    `strict` names the filters that the caller gave ("type", "entity_type"): relationships must match them.
    """
    scored = [
        found
        for one in relationships
        if (found := _score(question, one, meaning, strict)) is not None
    ]
    exact = [s for s in scored if not question.types or s.relationship.type in question.types]
    kept = exact or ([] if "type" in strict else scored)
    if of_role := [s for s in scored if has_role(question, s.relationship)]:
        # "my favorite editor" is not "my editor" where the user has both.
        favorites = [s for s in of_role if s.relationship.role.startswith("favorite ")]
        kept = (favorites if "favorite" in question.role else []) or of_role
    if question.asks_for_all:
        return sorted(kept, key=_by_type_and_latest)
    return sorted(kept, key=lambda s: (-s.score, s.relationship.id))


def about(question: RelationshipQuestion, own: Sequence[Relationship]) -> RelationshipQuestion:
    """Returns the question about what the user names by a role, or as their project: where their sister lives.

    `own` are the user's relationships. One that asks for who or what that is stays as it is.
    """
    meant = [
        one
        for one in own
        if one.source.is_user
        and (has_role(question, one) or (question.is_of_own_project and one.type is R.WORKS_ON))
    ]
    if not meant or not question.types or any(one.type in question.types for one in meant):
        return question
    named = frozenset(one.target.id for one in meant)
    return replace(question, named=named, is_first_person=False, role="", topic=frozenset())


def has_role(question: RelationshipQuestion, one: Relationship) -> bool:
    """Whether a relationship is of the role that a question asks for: the "editor" of "my favorite editor" too."""
    if not question.role or not one.role or not one.source.is_user:
        return False
    asked = f" {question.role} "
    return any(f" {word} " in asked for word in same_roles(one.role.removeprefix("favorite ")))


def _role(folded: str) -> str:
    """Returns the words after "my" in a question, in the spelling of roles."""
    found = _OWN.search(folded)
    return plain_role(found[1]) if found else ""


def _by_type_and_latest(one: Scored) -> tuple[int, float, str]:
    found = one.relationship
    return _TYPE_ORDER[found.type], -found.last_mention_time.timestamp(), found.id


def _score(
    question: RelationshipQuestion,
    one: Relationship,
    meaning: Mapping[str, float],
    strict: Collection[str],
) -> Scored | None:
    type_score = _type_score(question, one.type)
    if type_score == 0.0:
        return None
    ends = (one.source, one.target)
    answer = _answer(question, one)
    wanted = question.entity_types
    fits = not wanted or answer.type in wanted
    if not fits and "entity_type" in strict:
        return None
    named = sum(end.id in question.named for end in ends)
    by_words = _overlap(question.topic, one)
    by_meaning = max((meaning.get(end.id, 0.0) for end in ends if not end.is_user), default=0.0)
    if question.topic and not question.named:
        has_topic = by_words >= TOPIC_BY_WORDS or by_meaning >= TOPIC_BY_MEANING
        if not has_topic and meaning:
            return None
    user = any(end.is_user for end in ends) and question.is_first_person
    score = (
        0.3 * type_score
        + 0.1 * fits
        + 0.2 * min(named, 1)
        + 0.1 * user
        + 0.2 * max(by_words, by_meaning)
        + 0.1 * one.confidence
        + _NEAR_BONUS * _nearness(question.topic or question.words, one.context, answer.name)
    )
    on_topic = not question.topic or by_words >= TOPIC_BY_WORDS or named > 0
    is_asked = (
        question.asks_for_all
        or has_role(question, one)
        or (on_topic and (one.type in question.types or (named > 0 and not question.types)))
    )
    return Scored(one, answer.name, min(score, 1.0), is_asked)


def _type_score(question: RelationshipQuestion, type_: RelationshipType) -> float:
    if not question.types:
        return 0.5
    if type_ in question.types:
        return 1.0 if type_ == question.types[0] else 0.9
    return 0.4 if any(type_ in _NEAR.get(asked, ()) for asked in question.types) else 0.0


def _answer(question: RelationshipQuestion, one: Relationship) -> End:
    """Returns the end that the question does not name; for a bare name, the entity with that name."""
    if question.is_name:
        return one.source if one.source.id in question.named else one.target
    if one.source.is_user or (
        one.source.id in question.named and one.target.id not in question.named
    ):
        return one.target
    if one.target.is_user or one.target.id in question.named:
        return one.source
    return one.target


def _overlap(topic: frozenset[str], one: Relationship) -> float:
    """Returns the share of the topic's words among the relationship's words."""
    if not topic:
        return 0.0
    words = folded_name(f"{one.context} {one.source.name} {one.target.name}").split()
    return len(topic & {_stem(word) for word in words}) / len(topic)


def _nearness(words: frozenset[str], context: str, name: str) -> float:
    """Returns the share of the question's words in the name's part of the sentence: splits "A for X and B for Y"."""
    if not words:
        return 0.0
    answer = folded_name(name)
    parts = [f" {folded_name(part)} " for part in _PARTS.split(context)]
    said = " ".join(part for part in parts if f" {answer} " in part)
    return len(words & {_stem(word) for word in said.split()}) / len(words)


def _named(folded: str, names: Sequence[Name]) -> tuple[frozenset[str], str]:
    """Returns the entities that a question names, and the question without their names."""
    padded, rest = f" {folded} ", f" {folded} "
    named = set()
    for one in names:
        for name in {folded_name(n) for n in (one.name, *one.aliases)}:
            if name and f" {name} " in padded:
                named.add(one.id)
                rest = rest.replace(f" {name} ", " ")
    if named:
        return frozenset(named), rest.strip()
    words = folded.split()
    grams = {
        " ".join(words[start : start + size])
        for size in range(1, _MAX_WORDS)
        for start in range(len(words) - size + 1)
    } - _STOP_WORDS
    parts, spelled = list(grams), [folded_name(one.name) for one in names]
    cutoff = 100 * _MENTION_THRESHOLD
    scores = process.cdist(parts, spelled, scorer=fuzz.ratio, score_cutoff=cutoff)
    for part, place in zip(*scores.nonzero(), strict=True):
        if similarity(parts[part], spelled[place]) >= _MENTION_THRESHOLD:
            named.add(names[place].id)
            rest = rest.replace(f" {parts[part]} ", " ")
    return frozenset(named), rest.strip()


def _asks(folded: str) -> bool:
    """Whether the text contains words of a question in addition to a name."""
    return any(
        pattern.search(folded) for _, pattern in (*_RELATIONSHIP_WORDS, *_TYPE_WORDS)
    ) or bool(_FIRST_PERSON.search(folded))


def _stem(word: str) -> str:
    """Removes a word's most common endings: sufficient to compare a user's statements with their questions."""
    for ending in ("ing", "ers", "ies", "ed", "er", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004 - the rest must still be a word
            return word.removesuffix(ending)
    return word
