"""Finds the names in a sentence: capitals, inner capitals and digits, and well-known names in lower case."""

import re
from dataclasses import dataclass

from services.agent_orchestrator.entity_memory.extraction.known_names import KnownNames
from services.agent_orchestrator.entity_memory.extraction.tokens import Token
from services.agent_orchestrator.entity_memory.extraction.verbs import AUXILIARIES, FORMS, verb_form
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ADVERBS,
    COMMON_NOUNS,
    CONCEPT_CODES,
    CONJUNCTIONS,
    DETERMINERS,
    DOCUMENT_HEADS,
    MONTHS_AND_DAYS,
    NAMING,
    NOT_NAMES,
    ORGANIZATION_WORDS,
    OTHER_POSSESSIVES,
    PERSON_ROLES,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    SELF_GROUPS,
    SELF_POSSESSIVES,
    SUBORDINATORS,
    TITLES,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_FUNCTION_WORDS = (
    PRONOUNS
    | DETERMINERS
    | PREPOSITIONS
    | CONJUNCTIONS
    | SUBORDINATORS
    | QUESTION_WORDS
    | SELF_POSSESSIVES
    | OTHER_POSSESSIVES
    | AUXILIARIES
)
_INITIAL_STOP = _FUNCTION_WORDS | ADVERBS | COMMON_NOUNS | PERSON_ROLES
_INNER_CAPITAL = re.compile(
    r"^(?:[a-z]{1,60}[A-Z]|[A-Z][a-z0-9]{1,60}[A-Z]|[A-Za-z]{1,60}\d|[A-Z]{1,60}[a-z]{1,60}[A-Z])"
)
_DIGITS = re.compile(r"^\d[\w.]*$")
_OF_HEADS = word_set(
    """
    university bank institute ministry department school college museum church house city center centre court
    academy board council bureau office society association league band art head chamber
    """
)
MAX_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    start: int
    end: int
    """The tokens [start, end) of the sentence."""
    initial: bool = False
    """Its only sign is the capital of a sentence's first word."""
    lower: bool = False
    """Written in lower case and known from the gazetteer."""
    titled: bool = False
    """Preceded by a title of a person ("Dr")."""
    introduced: str = ""
    """The word before or after that gives its type away: "project"."""


class NameFinder:
    """Finds names in the tokens of one sentence."""

    def __init__(self, known: KnownNames) -> None:
        self._known = known

    def find(self, tokens: list[Token]) -> dict[int, Name]:
        """Returns the names by the index of their first token; titles and "project" are not part of a name."""
        words = [token.text for token in tokens]
        letters = [token for token in tokens if token.text.isalpha() and len(token.text) > 1]
        shouting = len(letters) > 3 and all(token.text.isupper() for token in letters)
        names: dict[int, Name] = {}
        place = 0
        while place < len(tokens):
            name = None
            if tokens[place].is_word or tokens[place].text == ".NET":
                name = (
                    self._shouted(tokens, words, place)
                    if shouting
                    else self._name_at(tokens, words, place)
                )
            if name is None or len(name.text) > MAX_NAME_LENGTH:
                place += 1
                continue
            names[place] = name
            place = name.end
        return names

    def _shouted(self, tokens: list[Token], words: list[str], place: int) -> Name | None:
        width = self._known.match(words, place)
        if width and not self._known.types_of(" ".join(words[place : place + width])) <= {"place"}:
            if tokens[place].lower in self._known.never_lower | self._known.ordinary and width == 1:
                return None
            return Name(" ".join(words[place : place + width]), place, place + width)
        return None

    def _is_stressed(self, word: str) -> bool:
        """Whether a word in capitals is a verb, in a text that is not shouted as a whole: "I LOVE it"."""
        is_verb = len(word) > 2 and word.isupper() and verb_form(word.lower()) is not None
        return is_verb and not self._known.types_of(word)

    def _name_at(self, tokens: list[Token], words: list[str], place: int) -> Name | None:
        token = tokens[place]
        if self._is_stressed(token.text):
            return None
        titled = token.capital and token.lower in TITLES and place + 1 < len(tokens)
        if token.lower in {"project", *TITLES} and token.capital and place + 1 < len(tokens):
            following = place + 2 if words[place + 1] == "." else place + 1
            inner = self._name_at(tokens, words, following) if following < len(tokens) else None
            if inner is not None and not inner.lower:
                introduced = "" if titled else "project"
                return Name(inner.text, place, inner.end, False, False, titled, introduced)
        width = self._known.match(words, place)
        if (
            width
            and not token.capital
            and not any(word[0].isupper() for word in words[place : place + width])
        ):
            return self._known_in_lower_case(words, place, width)
        if self._is_lower_project(tokens, place):
            return Name(tokens[place + 1].text, place, place + 2, introduced="project")
        named = (
            place > 0
            and tokens[place - 1].lower in NAMING
            and token.lower not in _FUNCTION_WORDS | ADVERBS
        )
        if not named and not self._is_name_like(tokens, place, width):
            return None
        end = self._run_end(tokens, words, place, width)
        initial = (
            token.first and end == place + 1 and not width and not _INNER_CAPITAL.match(token.text)
        )
        while end > place + 1 and tokens[end - 1].lower in {"project", "programme", "program"}:
            end -= 1
            return Name(" ".join(words[place:end]), place, end + 1, False, False, False, "project")
        return Name(_joined(words[place:end]), place, end, initial)

    def _is_lower_project(self, tokens: list[Token], place: int) -> bool:
        """ "i work on project orion": no determiner before, no common noun after."""
        if tokens[place].lower != "project" or place + 1 >= len(tokens) or place == 0:
            return False
        word = tokens[place + 1].lower
        common = word in _INITIAL_STOP | DOCUMENT_HEADS | SELF_GROUPS or word.endswith(
            ("ing", "ment", "tion", "s", "er", "or")
        )
        return (
            tokens[place - 1].lower in PREPOSITIONS | CONJUNCTIONS
            and tokens[place + 1].text.isalpha()
            and word not in FORMS
            and not common
        )

    def _known_in_lower_case(self, words: list[str], place: int, width: int) -> Name | None:
        text = " ".join(words[place : place + width])
        lower = text.lower()
        types = self._known.types_of(text)
        if (
            not types - {"place"}
            or lower in self._known.never_lower
            or lower in MONTHS_AND_DAYS
            or lower in _FUNCTION_WORDS
        ):
            return None
        if types == {"person"}:
            return Name(text, place, place + 1, lower=True) if width == 1 else None
        if types == {"organization"} and lower in self._known.ordinary:
            return None
        return Name(text, place, place + width, lower=True)

    def _is_name_like(self, tokens: list[Token], place: int, width: int) -> bool:
        token = tokens[place]
        if token.lower in NOT_NAMES or not token.is_word:
            return bool(width > 1 and token.capital)
        if token.lower in MONTHS_AND_DAYS and width <= 1:
            return False
        if _INNER_CAPITAL.match(token.text) and len(token.text) > 1 and not token.text[0].isdigit():
            return True
        if not token.capital:
            return False
        if not token.first:
            return token.lower not in _FUNCTION_WORDS or bool(width)
        return self._is_initial_name(tokens, place, width)

    def _is_initial_name(self, tokens: list[Token], place: int, width: int) -> bool:
        """Whether the capitalized first word of a sentence is a name."""
        token = tokens[place]
        if "-" in token.text and token.text.split("-")[-1].islower() and not width:
            return False
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if width > 1:
            return True
        followed_by_name = (
            following is not None
            and following.capital
            and following.lower not in NOT_NAMES | MONTHS_AND_DAYS
        )
        if token.lower in _INITIAL_STOP and not (
            width and token.lower not in _FUNCTION_WORDS | COMMON_NOUNS
        ):
            return False
        verb = FORMS.get(token.lower)
        if followed_by_name and following is not None and following.lower != "i" and verb is None:
            return True
        if verb is not None and not self._known.is_first_name(token.text):
            finite = following is not None and (
                following.lower in AUXILIARIES or "third" in _kinds(following.lower)
            )
            return bool(width) and finite
        if width and token.lower in self._known.ordinary | self._known.never_lower:
            return following is not None and (
                following.lower in AUXILIARIES | {"and", ",", "'s", "or"}
                or bool(_kinds(following.lower) & {"third", "past"})
            )
        return (token.lower not in SELF_GROUPS and not _is_plain_plural(token.lower)) or bool(width)

    def _run_end(self, tokens: list[Token], words: list[str], place: int, width: int) -> int:
        """Returns the end of the run of capitalized words, digits and linking words that starts at `place`."""
        end = place + max(width, 1)
        if tokens[place].lower in _OF_HEADS and end < len(tokens) and tokens[end].lower == "of":
            after = end + 1
            if after < len(tokens) and tokens[after].lower == "the":
                after += 1
            if after < len(tokens) and tokens[after].capital:
                return self._run_end(tokens, words, after, self._known.match(words, after))
        while end < len(tokens):
            token = tokens[end]
            if token.capital and token.is_word and self._continues(tokens, words, place, end):
                end += max(
                    1, self._known.match(words, end) if not self._known.match(words, place) else 1
                )
                continue
            if _DIGITS.match(token.text) and self._takes_number(tokens, words, place, end):
                end += 1
                continue
            if (
                token.text == "&"
                and end + 1 < len(tokens)
                and tokens[end + 1].capital
                and not width
            ):
                end += 2
                continue
            break
        return end

    def _continues(self, tokens: list[Token], words: list[str], place: int, end: int) -> bool:
        token = tokens[end]
        if token.lower in {"i", "i'm"} or token.lower in MONTHS_AND_DAYS or token.lower in TITLES:
            return False
        so_far = " ".join(words[place:end])
        tool_so_far = "tool" in self._known.types_of(so_far) and not self._known.is_first_name(
            words[place]
        )
        if (
            tool_so_far
            and self._known.match(words, end)
            and not self._known.is_first_name(token.text)
        ):
            return False
        if tool_so_far and self._known.is_first_name(token.text):
            return False
        return token.lower not in _FUNCTION_WORDS and (
            token.lower not in NOT_NAMES or token.text.isupper()
        )

    def _takes_number(self, tokens: list[Token], words: list[str], place: int, end: int) -> bool:
        if words[place].upper() in CONCEPT_CODES:
            return True
        if len(tokens[end].text) == 4 and tokens[end].text[:2] in {"19", "20"}:
            return False
        following = tokens[end + 1].lower if end + 1 < len(tokens) else ""
        return following not in {
            "years",
            "year",
            "months",
            "days",
            "times",
            "percent",
            "people",
            "hours",
            "weeks",
            "minutes",
        }


def _kinds(word: str) -> frozenset[str]:
    verb = FORMS.get(word)
    return verb.kinds if verb is not None else frozenset()


def _is_plain_plural(word: str) -> bool:
    return word.endswith("s") and word[:-1] in (
        COMMON_NOUNS | PERSON_ROLES | SELF_GROUPS | ORGANIZATION_WORDS
    )


def _joined(words: list[str]) -> str:
    return " ".join(words)
