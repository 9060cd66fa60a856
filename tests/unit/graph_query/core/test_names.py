"""Names: identity keeps what differs, linking forgets how it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.names import clean_name, is_linkable, link_key, name_key, title_names


@pytest.mark.parametrize("same", ["Anna  Bell", " anna bell ", "ANNA\nBELL"])
def test_case_and_white_space_do_not_make_another_entity(same: str) -> None:
    assert name_key(same) == "anna bell"


def test_symbols_make_another_entity_and_share_the_linking_key() -> None:
    names = ["C", "C++", "C#"]
    assert len({name_key(name) for name in names}) == 3
    assert {link_key(name) for name in names} == {"c"}


def test_accents_are_forgotten_when_linking_only() -> None:
    assert link_key("Théodred") == link_key("Theodred")
    assert name_key("Théodred") != name_key("Theodred")


@pytest.mark.parametrize("name", ["May", "The", "1984", "Go", "", "Monday", "a " * 11])
def test_what_names_nothing_is_not_linked(name: str) -> None:
    assert not is_linkable(name)


def test_a_title_names_itself_and_itself_without_its_bracket() -> None:
    assert title_names("Inferno (1980 film)") == ("Inferno (1980 film)", "Inferno")
    assert title_names("") == ()


@given(st.text(max_size=50))
def test_keys_of_keys_are_the_same_keys(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)
    assert name_key(clean_name(name)) == name_key(name)
    assert link_key(name_key(name)) == link_key(name)
