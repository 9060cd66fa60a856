"""Which known names occur in a text, and where."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.names import link_key, name_key
from services.graph_query.entities.domain import NamedEntity
from services.graph_query.entities.linking import Text

NAMES = ("Anna Bell", "Bell", "Payments Service", "C++", "C#", "may", "Nats Streaming Core")


def linked_names(text: str, *names: str) -> list[tuple[str, str]]:
    """Returns the names with the words in which they were found."""
    known: dict[str, list[NamedEntity]] = {}
    for name in names:
        known.setdefault(link_key(name), []).append(NamedEntity(name_key(name), name))
    content = Text.of(unicodedata.normalize("NFC", text))
    return [
        (position.uuid, position.text)
        for position in content.places(known)
        if position.text in text
    ]


def test_the_longest_name_wins() -> None:
    assert linked_names("Did Anna Bell call?", *NAMES) == [("Anna Bell", "Anna Bell")]


def test_names_of_two_words_match_in_lower_case_but_single_words_do_not() -> None:
    assert linked_names("the payments service of bell", *NAMES) == [
        ("Payments Service", "payments service")
    ]
    assert linked_names("Bell and May came", *NAMES) == [("Bell", "Bell")]


def test_symbols_distinguish_names_with_the_same_words() -> None:
    assert linked_names("It is C# or C++.", *NAMES) == [("C#", "C"), ("C++", "C")]


def test_a_name_does_not_extend_across_sentences() -> None:
    assert linked_names("She met Anna. Bell rang.", "Anna Bell") == []


@given(st.text(max_size=300))
def test_the_positions_of_names_match_the_text(text: str) -> None:
    content = unicodedata.normalize("NFC", text)
    parsed = Text.of(content)
    known = {key: [NamedEntity(key, "one")] for key in parsed.candidates()}
    for position in parsed.places(known):
        assert content[position.start : position.end] == position.text
