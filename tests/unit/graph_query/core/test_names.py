"""Name keys: the identity key keeps differences that the linking key ignores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.names import clean_name, is_linkable, link_key, name_key, title_names


@pytest.mark.parametrize("same", ["Anna  Bell", " anna bell ", "ANNA\nBELL"])
def test_case_and_whitespace_do_not_distinguish_entities(same: str) -> None:
    assert name_key(same) == "anna bell"


def test_symbols_distinguish_entities_but_not_linking_keys() -> None:
    names = ["C", "C++", "C#"]
    assert len({name_key(name) for name in names}) == 3
    assert {link_key(name) for name in names} == {"c"}


def test_accents_are_ignored_only_for_linking() -> None:
    assert link_key("Théodred") == link_key("Theodred")
    assert name_key("Théodred") != name_key("Theodred")


@pytest.mark.parametrize("name", ["May", "The", "1984", "Go", "", "Monday", "a " * 11])
def test_common_words_numbers_and_overlong_names_are_not_linked(name: str) -> None:
    assert not is_linkable(name)


def test_a_title_is_a_name_with_and_without_its_parenthesis() -> None:
    assert title_names("Inferno (1980 film)") == ("Inferno (1980 film)", "Inferno")
    assert title_names("") == ()


@given(st.text(max_size=50))
def test_keys_are_idempotent(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)
    assert name_key(clean_name(name)) == name_key(name)
    assert link_key(name_key(name)) == link_key(name)
