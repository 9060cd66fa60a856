"""Page tokens encode positions in listings."""

from __future__ import annotations

import pytest

from services.graph_query.core.domain import FIRST
from services.graph_query.servicers.page_cursor import position
from services.runtime.errors import InvalidFieldError
from services.runtime.paging import encode_token

QUERY = ("entities", "space")


def test_a_token_decodes_to_its_position_and_an_empty_one_to_the_first() -> None:
    assert position(encode_token(QUERY, ["name", "uuid"]), QUERY) == ("name", "uuid")
    assert position("", QUERY) == FIRST


@pytest.mark.parametrize("place", [[1, "uuid"], ["name", None], ["name", 2.5], [True, "uuid"]])
def test_a_position_with_values_other_than_texts_is_rejected(
    place: list[str | int | float | bool | None],
) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        position(encode_token(QUERY, place), QUERY)
    assert refused.value.fields[0].field == "page_token"
