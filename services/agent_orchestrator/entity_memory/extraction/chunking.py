"""The chunker: one pass over the tokens of a sentence that decides what is noun phrase and what is verb group.

It is one pass over one state, read together: hence its length.
"""

from dataclasses import replace

from services.agent_orchestrator.entity_memory.extraction.chunks import (
    Chunk,
    Kind,
    NounPhrase,
    VerbGroup,
)
from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames
from services.agent_orchestrator.entity_memory.extraction.names import NameFinder
from services.agent_orchestrator.entity_memory.extraction.own_text import PLACEHOLDER
from services.agent_orchestrator.entity_memory.extraction.tokens import Token
from services.agent_orchestrator.entity_memory.extraction.verbs import (
    AUXILIARIES,
    BE,
    DO,
    FORMS,
    HAVE,
    MODALS,
    NOUNS_TOO,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set
from services.agent_orchestrator.entity_memory.extraction.words import (
    ADVERBS,
    CLAUSE_OR_PREPOSITION,
    CONJUNCTIONS,
    DETERMINERS,
    EXCLUDING_PREPOSITIONS,
    LIST_PREPOSITIONS,
    NEGATIVE_DETERMINERS,
    NEGATORS,
    OTHER_POSSESSIVES,
    PERSON_ROLES,
    PREPOSITIONS,
    PRONOUNS,
    SELF_POSSESSIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
)

_MULTIWORD_PREPOSITIONS = EXCLUDING_PREPOSITIONS | word_set(
    """
    next_to opposite_me on_top_of in_favour_of due_to out_of part_of member_of in_charge_of according_to
    sick_of friends_with formerly_in better_than more_than up_to as_of
    """
)
_POSSESSIVE_HOSTS_OF_IS = word_set(
    """
    what one this that it she here who there how he where
    """
)
_NAMING = frozenset({"called", "named", "codenamed", "code-named", "dubbed", "nicknamed"})
_BARE_COMPLEMENT_VERBS = frozenset({"help", "let", "make", "see", "have", "go", "come"})
_ADJECTIVE_LIKE = word_set(
    """
    happy glad sure proud certain afraid sad able free ready willing keen eager likely
    """
)


class Chunker:
    """Chunks one sentence."""

    def __init__(self, tokens: list[Token], known: KnownNames) -> None:
        self._tokens = tokens
        self._known = known
        self._names = NameFinder(known).find(tokens)
        self._inside_names = {
            place for name in self._names.values() for place in range(name.start, name.end)
        }
        self._chunks: list[Chunk] = []

    def chunks(self) -> list[Chunk]:
        place = 0
        while place < len(self._tokens):
            place = self._next(place)
        return self._chunks

    def _next(self, place: int) -> int:
        token = self._tokens[place]
        word = token.lower
        if place in self._inside_names and self._verb_over_name(place) is None:
            return self._noun_phrase(place)
        if word in _NAMING and self._chunks and self._names_the_noun_before(place):
            return self._names[place + 1].end
        kind = self._function_kind(place)
        if kind is not None:
            return self._add(kind, word, place, place + 1)
        if self._starts_verb(place):
            return self._verb_group(place)
        if word in ADVERBS and not (word in DETERMINERS and not token.first):
            return self._add(Kind.ADVERB, word, place, place + 1)
        if token.is_word or token.text == PLACEHOLDER:
            return self._noun_phrase(place)
        return place + 1

    def _names_the_noun_before(self, place: int) -> bool:
        """ "a side project called Nimbus": the name joins the noun phrase."""
        noun = self._chunks[-1].noun
        name = self._names.get(place + 1)
        if noun is None or name is None or noun.names or noun.pronoun:
            return False
        noun.names.append(name)
        noun.words = (*noun.words, name.text.lower())
        self._chunks[-1].end = name.end
        return True

    def _add(self, kind: Kind, word: str, start: int, end: int) -> int:
        self._chunks.append(Chunk(kind, word, start, end))
        return end

    def _function_kind(self, place: int) -> Kind | None:
        token = self._tokens[place]
        word = token.lower
        if word in {",", "(", ")", "[", "]", "—", "–", "-", "--"}:
            return Kind.COMMA
        if word in {";", "…"} or (word[0] in ".!?" and not token.is_word):
            return Kind.STOP
        if word == ":":
            return Kind.COLON
        if word in {"neither", "nor"}:
            return Kind.NEGATION
        if word in LIST_PREPOSITIONS or word in CONJUNCTIONS:
            return Kind.CONJUNCTION
        if word == "like" and not self._verb_position(place):
            return Kind.PREPOSITION
        if word in {"who", "whom", "which", "whose", "where"}:
            return (
                Kind.QUESTION
                if place == 0 or not self._chunks or self._previous_is_opening()
                else Kind.RELATIVE
            )
        if word == "that":
            return self._that(place)
        if word in {"what", "how", "why", "whatever", "whichever", "whoever", "wherever"}:
            return Kind.QUESTION
        if word in CLAUSE_OR_PREPOSITION:
            return self._clause_or_preposition(place)
        if word in SUBORDINATORS:
            return Kind.SUBORDINATOR
        if word in _MULTIWORD_PREPOSITIONS:
            return Kind.PREPOSITION
        if word == "to" and self._is_base(place + 1):
            return None
        if word in PREPOSITIONS and word != "like":
            return Kind.PREPOSITION
        if word in NEGATORS and not self._negates_verb(place):
            return Kind.NEGATION
        return None

    def _previous_is_opening(self) -> bool:
        previous = self._chunks[-1]
        return previous.kind in {
            Kind.CONJUNCTION,
            Kind.STOP,
            Kind.ADVERB,
            Kind.VERB,
            Kind.COLON,
        } or (previous.kind is Kind.PREPOSITION and len(self._chunks) == 1)

    def _that(self, place: int) -> Kind | None:
        """ "that" opens a clause when a verb or a subject with its verb follows; else it points."""
        if place == 0 or not self._chunks:
            return None
        previous = self._chunks[-1]
        following = self._lower(place + 1)
        if previous.kind is Kind.PREPOSITION:
            return None
        if (
            following in SUBJECT_PRONOUNS
            or (place + 1) in self._names
            or following in SELF_POSSESSIVES
        ):
            return Kind.RELATIVE
        if previous.kind is Kind.NOUN and (
            self._is_finite(place + 1) or following in ADVERBS or following in AUXILIARIES
        ):
            return Kind.RELATIVE
        if previous.kind is Kind.VERB and following in DETERMINERS | OTHER_POSSESSIVES:
            return Kind.RELATIVE
        return None

    def _clause_or_preposition(self, place: int) -> Kind | None:
        word = self._tokens[place].lower
        if word == "so":
            return Kind.SUBORDINATOR if self._clause_follows(place + 1) and self._chunks else None
        if word == "once":
            return Kind.SUBORDINATOR if self._clause_follows(place + 1) else None
        if word in {"when", "while"}:
            return Kind.SUBORDINATOR
        if self._clause_follows(place + 1):
            return Kind.SUBORDINATOR
        return Kind.PREPOSITION

    def _clause_follows(self, place: int) -> bool:
        """Whether a subject and a finite verb come before the next comma."""
        if self._lower(place) in SUBJECT_PRONOUNS:
            return True
        for at in range(place, min(place + 7, len(self._tokens))):
            word = self._lower(at)
            if word in {",", ";", ":", "and", "or"}:
                return False
            if (
                at > place
                and at not in self._inside_names
                and (word in AUXILIARIES or "third" in self._kinds(at))
            ):
                return word not in NOUNS_TOO
            if (
                at > place
                and at not in self._inside_names
                and "past" in self._kinds(at)
                and at - 1 in self._inside_names
            ):
                return True
        return False

    # Verbs

    def _lower(self, place: int) -> str:
        return self._tokens[place].lower if 0 <= place < len(self._tokens) else ""

    def _kinds(self, place: int) -> frozenset[str]:
        form = FORMS.get(self._lower(place))
        return form.kinds if form is not None else frozenset()

    def _is_base(self, place: int) -> bool:
        """Whether an infinitive starts here, adverbs before it allowed."""
        for at in range(place, min(place + 3, len(self._tokens))):
            if at in self._inside_names and self._tokens[at].capital:
                return False
            if "base" in self._kinds(at):
                return True
            if self._lower(at) not in ADVERBS:
                return False
        return False

    def _is_finite(self, place: int) -> bool:
        return place not in self._inside_names and (
            self._lower(place) in AUXILIARIES
            or bool(self._kinds(place) & {"third", "past", "base"})
        )

    def _verb_over_name(self, place: int) -> bool | None:
        """A lower-case "go", "express" in the position of a verb is one."""
        token = self._tokens[place]
        if token.capital or place not in self._names or not self._kinds(place):
            return None
        return True if self._verb_position(place) else None

    def _verb_position(self, place: int) -> bool:
        if place == 0:
            return True
        at = place - 1
        while at > 0 and (self._lower(at) in ADVERBS or self._lower(at) in {"not", "never"}):
            at -= 1
        word = self._lower(at)
        return word in SUBJECT_PRONOUNS | MODALS | DO | {"to", "who", "and", "that"} and not (
            word == "and" and at == place - 1
        )

    def _negates_verb(self, place: int) -> bool:
        """Whether "not", "never" here belongs to the verb group that follows."""
        for at in range(place + 1, min(place + 4, len(self._tokens))):
            if at in self._inside_names:
                return False
            word = self._lower(at)
            if self._kinds(at) or word in AUXILIARIES:
                return "ing" not in self._kinds(at) or bool(
                    self._chunks and self._chunks[-1].kind is Kind.NOUN
                )
            if word not in ADVERBS and word != "to":
                return False
        return False

    def _starts_verb(self, place: int) -> bool:
        word = self._lower(place)
        token = self._tokens[place]
        if place in self._inside_names:
            return self._verb_over_name(place) is True
        if (
            token.capital
            and not token.first
            and not token.text.isupper()
            and word not in AUXILIARIES
        ):
            return False
        if word == "'s":
            return self._is_contracted_verb(place)
        if word == "'d":
            return True
        if word in {"may", "will", "might"} and token.capital and not token.first:
            return False
        if word in AUXILIARIES:
            return not (
                word in {"can", "will", "might"} and self._previous_word_is_determiner(place)
            )
        if word == "to":
            return self._is_base(place + 1)
        if word in NEGATORS:
            return True
        if word in ADVERBS:
            return False
        kinds = self._kinds(place)
        if not kinds:
            return self._is_unknown_verb(place)
        return self._is_verb_here(place, kinds)

    def _previous_word_is_determiner(self, place: int) -> bool:
        return (
            place > 0
            and self._lower(place - 1) in DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES
        )

    def _is_contracted_verb(self, place: int) -> bool:
        """ "'s": is or has, not a possessive."""
        if self._lower(place - 1) in _POSSESSIVE_HOSTS_OF_IS:
            return True
        following = self._lower(place + 1)
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
        kinds = self._kinds(place + 1)
        return bool(kinds & {"ing", "participle"}) and following not in {
            "building",
            "meeting",
            "training",
        }

    def _is_unknown_verb(self, place: int) -> bool:
        """After a subject pronoun a word that nothing else explains is a verb."""
        token = self._tokens[place]
        if token.capital or not token.text.isalpha():
            return False
        at = place - 1
        while at >= 0 and self._lower(at) in ADVERBS:
            at -= 1
        if (
            at < 0
            or self._lower(place) in DETERMINERS | PRONOUNS | SELF_POSSESSIVES | OTHER_POSSESSIVES
        ):
            return False
        before = self._lower(at)
        if before in {"i", "we", "he", "she", "they"}:
            return True
        if (
            before in {"who", "which", "that"}
            and self._chunks
            and self._chunks[-1].kind is Kind.RELATIVE
        ):
            return word_looks_finite(self._lower(place))
        return at in self._inside_names and before != "'s" and self._unknown_third(place)

    def _unknown_third(self, place: int) -> bool:
        word = self._lower(place)
        following = self._lower(place + 1)
        return (
            len(word) > 4
            and word.endswith("s")
            and not word.endswith(("ss", "us", "is"))
            and ((place + 1) in self._names or following in DETERMINERS | SELF_POSSESSIVES)
        )

    def _is_verb_here(self, place: int, kinds: frozenset[str]) -> bool:
        word = self._lower(place)
        previous = self._chunks[-1] if self._chunks else None
        before = self._lower(place - 1)
        opened = previous is not None and previous.kind in {Kind.RELATIVE, Kind.QUESTION}
        determined = before in DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES or before == "'s"
        if determined and not opened:
            return False
        if previous is None:
            return not (
                word in NOUNS_TOO
                and self._is_finite(place + 1)
                and self._lower(place + 1) not in NOUNS_TOO
            )
        if previous.kind is Kind.PREPOSITION:
            return "ing" in kinds and not (
                word in NOUNS_TOO and (self._is_finite(place + 1) or place + 1 == len(self._tokens))
            )
        if previous.kind is Kind.VERB:
            return self._is_verb_after_verb(place, kinds, previous)
        subject = self._subject_before()
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
        return self._agrees(subject, word, kinds)

    def _is_verb_after_verb(self, place: int, kinds: frozenset[str], previous: Chunk) -> bool:
        if "ing" in kinds:
            return True
        lemma = previous.verb.lemma if previous.verb is not None else ""
        return (
            "base" in kinds
            and lemma in _BARE_COMPLEMENT_VERBS
            and self._lower(place) not in NOUNS_TOO
        )

    def _is_verb_after_boundary(self, place: int) -> bool:
        """A verb right after a comma or "and" shares the subject of the clause before."""
        word = self._lower(place)
        if word in NOUNS_TOO:
            following = self._lower(place + 1)
            opens_object = (
                place + 1
            ) in self._names or following in DETERMINERS | SELF_POSSESSIVES | PREPOSITIONS
            return opens_object and not self._is_finite(place + 1)
        return True

    def _subject_before(self) -> NounPhrase | None:
        """The noun phrase right before, adverbs skipped."""
        for chunk in reversed(self._chunks):
            if chunk.kind in {Kind.ADVERB, Kind.NEGATION}:
                continue
            return chunk.noun if chunk.kind is Kind.NOUN else None
        return None

    def _agrees(self, subject: NounPhrase, word: str, kinds: frozenset[str]) -> bool:
        """Whether the form can follow the subject; nouns that look like verbs mostly cannot."""
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
            or self._coordinated_subject()
            or subject.head in {"people", "folks", "team", "most"}
        )

    def _coordinated_subject(self) -> bool:
        for chunk in reversed(self._chunks[-6:]):
            if chunk.kind is Kind.VERB:
                return False
            if chunk.kind is Kind.CONJUNCTION and chunk.word in {"and", "&", "or", "plus"}:
                return True
        return False

    def _verb_group(self, place: int) -> int:
        """Reads auxiliaries, negation, adverbs and the main verb from `place`."""
        start = place
        auxiliaries: list[str] = []
        adverbs: list[str] = []
        negated = False
        infinitive = False
        modal = ""
        while place < len(self._tokens):
            word = self._lower(place)
            if word == "to" and not auxiliaries and place == start:
                infinitive = True
            elif word in {"not", "no_longer"} | NEGATORS:
                negated = True
            elif (word in ADVERBS and place > start and place not in self._inside_names) or (
                word == "rather" and modal == "would"
            ):
                adverbs.append(word)
            elif word in AUXILIARIES | {"'s", "'d"}:
                auxiliaries.append(self._expanded(place))
                if word in MODALS or word == "'d":
                    modal = auxiliaries[-1] if auxiliaries[-1] in MODALS else modal
            else:
                break
            place += 1
        main = self._main_verb(place, auxiliaries, infinitive)
        if main is None:
            if not auxiliaries:
                return self._lonely(start, place, negated)
            lemma = _lemma(auxiliaries[-1])
            form = "participle" if auxiliaries[-1] == "been" else "third"
            rest = auxiliaries[:-1]
            end = place
            while end > start + 1 and self._lower(end - 1) in ADVERBS:
                end -= 1
                if adverbs:
                    adverbs.pop()
            word = auxiliaries[-1]
        else:
            verb = FORMS.get(self._lower(place))
            lemma = verb.lemma if verb is not None else self._lower(place)
            form = self._main_form(place, auxiliaries, infinitive)
            rest = auxiliaries
            end = place + 1
            word = self._lower(place)
        group = VerbGroup(lemma, form, tuple(rest), negated, modal, adverbs=tuple(adverbs))
        _set_aspect(group, word, has_main=main is not None)
        self._chunks.append(Chunk(Kind.VERB, word, start, end, verb=group))
        return end

    def _lonely(self, start: int, place: int, negated: bool) -> int:
        kind = Kind.NEGATION if negated else Kind.ADVERB
        end = max(place, start + 1)
        word = self._lower(start)
        if word == "to":
            return self._add(Kind.PREPOSITION, word, start, start + 1)
        return self._add(kind, word, start, end)

    def _expanded(self, place: int) -> str:
        """ "'d" and "'s" as the auxiliaries that they stand for."""
        word = self._lower(place)
        at = place + 1
        while at < len(self._tokens) and (
            self._lower(at) in ADVERBS or self._lower(at) in NEGATORS
        ):
            at += 1
        kinds = self._kinds(at)
        if word == "'d":
            past = ("participle" in kinds and "base" not in kinds) or self._lower(at) == "been"
            return "had" if past else "would"
        if word == "'s":
            return "has" if self._lower(at) in {"been", "got", "had"} else "is"
        return {"'m": "am", "'re": "are", "'ve": "have"}.get(word, word)

    def _main_verb(self, place: int, auxiliaries: list[str], infinitive: bool) -> int | None:
        if place >= len(self._tokens) or (
            place in self._inside_names and self._tokens[place].capital
        ):
            return None
        word = self._lower(place)
        kinds = self._kinds(place)
        if word in AUXILIARIES:
            return None
        if not auxiliaries:
            if infinitive:
                return place if "base" in kinds else None
            return place if kinds or self._is_unknown_verb(place) else None
        last = auxiliaries[-1]
        before = self._lower(place - 1)
        if before in DETERMINERS or before in SELF_POSSESSIVES:
            return None
        if last in MODALS or last in DO:
            return place if "base" in kinds else None
        if _lemma(last) == "have":
            return place if "participle" in kinds and place not in self._inside_names else None
        if _lemma(last) == "be":
            return (
                place
                if kinds & {"ing", "participle"} and word not in {"set", "read"} | _ADJECTIVE_LIKE
                else None
            )
        return None

    def _main_form(self, place: int, auxiliaries: list[str], infinitive: bool) -> str:
        kinds = self._kinds(place)
        if infinitive:
            return "to"
        if not auxiliaries:
            return next(
                (kind for kind in ("third", "past", "base", "ing", "participle") if kind in kinds),
                "base",
            )
        last = auxiliaries[-1]
        if last in MODALS or last in DO:
            return "base"
        if _lemma(last) == "have":
            return "participle"
        return "ing" if "ing" in kinds else "participle"

    # Noun phrases

    def _noun_phrase(self, place: int) -> int:
        start = place
        noun = NounPhrase()
        token = self._tokens[place]
        if (
            token.lower in PRONOUNS
            and place not in self._inside_names
            and not self._determines(place)
        ):
            noun.pronoun = token.lower
            noun.words = (token.lower,)
            noun.negative = token.lower in NEGATIVE_DETERMINERS
            self._chunks.append(Chunk(Kind.NOUN, token.lower, start, place + 1, noun=noun))
            return place + 1
        words: list[str] = []
        while place < len(self._tokens):
            name = self._names.get(place)
            adjacent = name is not None and name.start > start and _is_followed_by(noun, place)
            if name is not None and not adjacent and not self._verb_over_name(place):
                if noun.names and not words_since(noun, words):
                    break
                noun.names.append(name)
                words.append(name.text.lower())
                noun.head_follows = False
                place = name.end
                continue
            if place > start and not self._continues_noun(place, noun, words):
                break
            place = self._noun_word(place, noun, words)
        noun.words = tuple(words)
        noun.text = " ".join(token.text for token in self._tokens[start:place])
        self._chunks.append(Chunk(Kind.NOUN, words[-1] if words else "", start, place, noun=noun))
        return place

    def _determines(self, place: int) -> bool:
        """Whether a word that is also a pronoun stands before its noun: "that tool", "both editors", "her team"."""
        word = self._lower(place)
        if word in SUBJECT_PRONOUNS | {"me", "us", "him", "them", "mine", "ours"} or word.endswith(
            ("self", "selves", "body", "one")
        ):
            return False
        if word not in DETERMINERS | {"her"}:
            return False
        following = self._lower(place + 1)
        if not following or not self._tokens[place + 1].is_word:
            return False
        if (place + 1) in self._names:
            return word != "that" or not self._is_finite(place + 2)
        if (
            following
            in AUXILIARIES | PREPOSITIONS | PRONOUNS | CONJUNCTIONS | ADVERBS | SUBORDINATORS
        ):
            return following in {"one", "ones"} or (word == "her" and following == "own")
        kinds = self._kinds(place + 1)
        return (
            not kinds
            or following in NOUNS_TOO
            or bool(kinds & {"ing", "participle"} and word != "that")
        )

    def _continues_noun(self, place: int, noun: NounPhrase, words: list[str]) -> bool:
        token = self._tokens[place]
        word = token.lower
        if word == "'s":
            return not self._is_contracted_verb(place)
        if not token.is_word and token.text != PLACEHOLDER:
            return False
        if place in self._inside_names:
            return False
        if word in DETERMINERS | SELF_POSSESSIVES | OTHER_POSSESSIVES or word in PRONOUNS:
            complete = bool(words)
            return (
                (not complete and word not in SUBJECT_PRONOUNS)
                or word in {"one", "ones", "own"}
                or (
                    len(words) == 1
                    and words[0] in {"all", "both", "half"}
                    and word in SELF_POSSESSIVES | {"the", "these", "those"}
                )
            )
        if (
            self._function_kind(place) is not None
            or word in AUXILIARIES
            or word in NEGATORS
            or word == "to"
        ):
            return False
        if word in ADVERBS:
            return not words and not noun.names and word != "not"
        kinds = self._kinds(place)
        if not kinds:
            return True
        if not noun.names and not noun.head:
            return True
        self._chunks.append(Chunk(Kind.NOUN, "", place, place, noun=_snapshot(noun, words)))
        try:
            return not self._is_verb_here(place, kinds)
        finally:
            self._chunks.pop()

    def _noun_word(self, place: int, noun: NounPhrase, words: list[str]) -> int:
        word = self._lower(place)
        if word in SELF_POSSESSIVES:
            noun.possessor = "self"
        elif word in OTHER_POSSESSIVES:
            noun.possessor = "other"
        elif word == "'s":
            if noun.names:
                noun.possessor_name = noun.names.pop()
                noun.possessor = "other"
            elif noun.possessor != "self" or noun.head in PERSON_ROLES:
                noun.possessor = "other"
            noun.head = ""
        elif word in DETERMINERS and not noun.head:
            noun.determiner = noun.determiner or word
        elif word in NEGATIVE_DETERMINERS:
            noun.negative = True
        else:
            noun.head = singular(word)
            noun.head_follows = bool(noun.names)
        if word in NEGATIVE_DETERMINERS:
            noun.negative = True
        words.append(word)
        return place + 1


def word_looks_finite(word: str) -> bool:
    return word.endswith(("s", "ed")) and not word.endswith("ss")


def _set_aspect(group: VerbGroup, word: str, *, has_main: bool) -> None:
    """Voice, aspect and tense by the auxiliaries; "have got" has, "is called" is."""
    rest = group.auxiliaries
    last = _lemma(rest[-1]) if rest else ""
    group.passive = group.form == "participle" and last == "be"
    group.progressive = group.form == "ing" and last == "be"
    been = group.lemma == "be" and group.form == "participle" and bool(rest)
    group.perfect = been or (has_main and any(_lemma(each) == "have" for each in rest))
    group.past = any(each in {"was", "were", "did", "had"} for each in rest) or (
        not rest and (group.form == "past" or word in {"was", "were", "had", "did"})
    )
    if word == "got" and last == "have":
        group.lemma, group.form, group.perfect = "have", "base", False
    if word in _NAMING and group.passive:
        group.lemma, group.form, group.passive = "be", "third", False


def _is_followed_by(noun: NounPhrase, place: int) -> bool:
    """Two names in a row with nothing between are two phrases."""
    return bool(noun.names) and noun.names[-1].end == place


def words_since(noun: NounPhrase, words: list[str]) -> bool:
    """Whether a common noun stands between the last name and here."""
    return bool(words) and words[-1] != noun.names[-1].text.lower()


def singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "ops")) and len(word) > 3:
        return word[:-1]
    return word


def _snapshot(noun: NounPhrase, words: list[str]) -> NounPhrase:
    return replace(noun, words=tuple(words))


def _lemma(word: str) -> str:
    if word in BE or word == "is":
        return "be"
    if word in HAVE:
        return "have"
    if word in DO:
        return "do"
    return word
