"""The local extractor: which names a passage has, and how they were found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.names import name_key
from services.graph_query.core.tokens import MAX_SENTENCE, split_sentences, tokenize
from services.graph_query.local_extraction.extract import MentionKind, extract
from services.graph_query.local_extraction.gazetteer import Gazetteer


def found(text: str, *names: str, title: str = "") -> dict[str, MentionKind]:
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
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(0 < len(sentence) <= MAX_SENTENCE for sentence in sentences)


def test_capitalised_runs_are_phrases() -> None:
    assert found("He lived in New York with Hugh of Tours in May.") == {
        "new york": MentionKind.PHRASE,
        "hugh of tours": MentionKind.PHRASE,
    }


@pytest.mark.parametrize("text", ["Marozia left.", "He saw May.", "It was Bob.", "In The End"])
def test_what_is_capitalised_for_another_reason_is_no_phrase(text: str) -> None:
    assert "marozia" not in found(text)
    assert not {"may", "bob", "the"} & found(text).keys()


def test_the_longest_name_wins_and_names_of_two_words_inside_it_count_too() -> None:
    names = ("Mercury", "Mercury Records", "Mercury Records Group")
    assert found("He sold Mercury Records Group.", *names) == {
        "mercury records group": MentionKind.NAME,
        "mercury records": MentionKind.NAME,
    }


def test_a_known_name_inside_a_longer_run_is_found_with_the_run() -> None:
    assert found("He met Queen Marozia.", "Marozia") == {
        "marozia": MentionKind.NAME,
        "queen marozia": MentionKind.PHRASE,
    }


def test_a_name_in_small_letters_counts_when_it_is_long_or_joined() -> None:
    assert found("the old harbour burnt", "The Old Harbour") == {
        "the old harbour": MentionKind.NAME
    }
    assert found("see payments-db now", "payments-db") == {"payments-db": MentionKind.NAME}
    assert found("in good company", "Good Company") == {}


def test_names_that_differ_by_symbols_are_told_apart_by_the_text() -> None:
    names = ("Ada Lang", "Ada Lang++")
    assert found("We use Ada Lang++ here.", *names) == {"ada lang++": MentionKind.NAME}
    assert found("We use Ada Lang here.", *names) == {"ada lang": MentionKind.NAME}


def test_names_do_not_reach_across_sentences() -> None:
    assert "anna bell" not in found("It was Anna. Bell rang.", "Anna Bell")


def test_a_title_is_what_the_passage_is_about_even_when_its_text_names_it() -> None:
    mentions = found("Lothair II was a king.", "Lothair II", title="Lothair II")
    assert mentions == {"lothair ii": MentionKind.ABOUT}


NAMES = st.sampled_from(["Mercury", "Mercury Records", "Anna Bell", "Théo Sun", "C++", "x y z"])


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True), st.lists(NAMES))
def test_a_gazetteer_changed_step_by_step_finds_what_a_new_one_finds(
    first: list[str], then: list[str], words: list[str]
) -> None:
    text = tokenize(" met ".join(words))
    grown = Gazetteer.of({name_key(n): (n,) for n in first})
    grown = grown.changed(
        {name_key(n): (n,) for n in then}, [name_key(n) for n in first if n not in then]
    )
    fresh = Gazetteer.of({name_key(n): (n,) for n in then})
    assert extract("", text, grown) == extract("", text, fresh)
