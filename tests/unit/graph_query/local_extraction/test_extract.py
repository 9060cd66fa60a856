"""The local extractor finds the names in a passage and how each was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.names import name_key
from services.graph_query.core.tokens import MAX_SENTENCE, split_sentences, tokenize
from services.graph_query.local_extraction.extract import MentionKind, extract
from services.graph_query.local_extraction.gazetteer import Gazetteer


def mentions_of(text: str, *names: str, title: str = "") -> dict[str, MentionKind]:
    gazetteer = Gazetteer.of({name_key(name): (name,) for name in names})
    mentions = extract(title, tokenize(text), gazetteer).mentions
    return {key: mention.kind for key, mention in mentions.items()}


def test_sentences_end_at_punctuation_before_a_capital_and_not_after_abbreviations() -> None:
    text = (
        'Dr. Bell met J. R. Otto at St. Mary. "Why?" he asked. It was e.g. noon.\n\nNew paragraph'
    )
    assert split_sentences(text) == [
        "Dr. Bell met J. R. Otto at St. Mary.",
        '"Why?" he asked.',
        "It was e.g. noon.",
        "New paragraph",
    ]


@given(st.text(max_size=3_000))
def test_splitting_sentences_drops_only_whitespace(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(0 < len(sentence) <= MAX_SENTENCE for sentence in sentences)


def test_sequences_of_capitalized_words_are_phrases() -> None:
    assert mentions_of("He lived in New York with Hugh of Tours in May.") == {
        "new york": MentionKind.PHRASE,
        "hugh of tours": MentionKind.PHRASE,
    }


@pytest.mark.parametrize("text", ["Marozia left.", "He saw May.", "It was Bob.", "In The End"])
def test_words_capitalized_for_another_reason_are_not_phrases(text: str) -> None:
    assert "marozia" not in mentions_of(text)
    assert not {"may", "bob", "the"} & mentions_of(text).keys()


def test_the_longest_name_wins_and_names_of_two_words_inside_it_also_count() -> None:
    names = ("Mercury", "Mercury Records", "Mercury Records Group")
    assert mentions_of("He sold Mercury Records Group.", *names) == {
        "mercury records group": MentionKind.NAME,
        "mercury records": MentionKind.NAME,
    }


def test_a_known_name_inside_a_longer_phrase_is_found_with_the_phrase() -> None:
    assert mentions_of("He met Queen Marozia.", "Marozia") == {
        "marozia": MentionKind.NAME,
        "queen marozia": MentionKind.PHRASE,
    }


def test_a_name_in_lower_case_counts_if_it_is_long_or_hyphenated() -> None:
    assert mentions_of("the old harbour burnt", "The Old Harbour") == {
        "the old harbour": MentionKind.NAME
    }
    assert mentions_of("see payments-db now", "payments-db") == {"payments-db": MentionKind.NAME}
    assert mentions_of("in good company", "Good Company") == {}


def test_names_that_differ_by_symbols_are_distinguished_by_the_text() -> None:
    names = ("Ada Lang", "Ada Lang++")
    assert mentions_of("We use Ada Lang++ here.", *names) == {"ada lang++": MentionKind.NAME}
    assert mentions_of("We use Ada Lang here.", *names) == {"ada lang": MentionKind.NAME}


def test_names_do_not_extend_across_sentences() -> None:
    assert "anna bell" not in mentions_of("It was Anna. Bell rang.", "Anna Bell")


def test_the_title_is_the_subject_even_if_the_text_names_it() -> None:
    mentions = mentions_of("Lothair II was a king.", "Lothair II", title="Lothair II")
    assert mentions == {"lothair ii": MentionKind.ABOUT}


NAMES = st.sampled_from(["Mercury", "Mercury Records", "Anna Bell", "Théo Sun", "C++", "x y z"])


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True), st.lists(NAMES))
def test_an_updated_gazetteer_finds_the_same_names_as_a_new_one(
    first: list[str], changed_names: list[str], words: list[str]
) -> None:
    text = tokenize(" met ".join(words))
    updated = Gazetteer.of({name_key(n): (n,) for n in first})
    updated = updated.changed(
        {name_key(n): (n,) for n in changed_names},
        [name_key(n) for n in first if n not in changed_names],
    )
    fresh = Gazetteer.of({name_key(n): (n,) for n in changed_names})
    assert extract("", text, updated) == extract("", text, fresh)
