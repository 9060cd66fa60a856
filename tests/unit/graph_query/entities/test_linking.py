"""Which known names stand in a text, and where."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.names import link_key, name_key
from services.graph_query.entities.domain import NamedEntity
from services.graph_query.entities.linking import Text

NAMES = ("Anna Bell", "Bell", "Payments Service", "C++", "C#", "may", "Nats Streaming Core")


def linked(text: str, *names: str) -> list[tuple[str, str]]:
    """Names with the words that they are found in."""
    known: dict[str, list[NamedEntity]] = {}
    for name in names:
        known.setdefault(link_key(name), []).append(NamedEntity(name_key(name), name))
    content = Text.of(unicodedata.normalize("NFC", text))
    return [(place.uuid, place.text) for place in content.places(known) if place.text in text]


def test_the_longest_name_wins() -> None:
    assert linked("Did Anna Bell call?", *NAMES) == [("Anna Bell", "Anna Bell")]


def test_a_name_of_two_words_may_be_written_small_and_one_of_one_word_not() -> None:
    assert linked("the payments service of bell", *NAMES) == [
        ("Payments Service", "payments service")
    ]
    assert linked("Bell and May came", *NAMES) == [("Bell", "Bell")]


def test_symbols_tell_names_apart_that_share_their_words() -> None:
    assert linked("It is C# or C++.", *NAMES) == [("C#", "C"), ("C++", "C")]


def test_no_name_reaches_over_the_end_of_a_sentence() -> None:
    assert linked("She met Anna. Bell rang.", "Anna Bell") == []


@given(st.text(max_size=300))
def test_any_text_is_cut_into_places_that_are_there(text: str) -> None:
    content = unicodedata.normalize("NFC", text)
    cut = Text.of(content)
    known = {key: [NamedEntity(key, "one")] for key in cut.candidates()}
    for place in cut.places(known):
        assert content[place.start : place.end] == place.text
