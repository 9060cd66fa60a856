"""Pages of rows: bounded in rows and bytes, each row in exactly one, and tokens that only a page can have given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime import space_rows
from services.runtime.errors import InvalidFieldError
from services.runtime.paging import encode_token
from services.runtime.space_rows import (
    FoundRows,
    Place,
    fitting,
    page_of,
    place_of,
    rows_to_read,
    token_of,
)

QUERY = ("rows", "space")


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(1, 8), st.integers(1, 500))
def test_each_row_is_in_one_page_whatever_its_size(
    sizes: list[int], rows_at_once: int, page_bytes: int
) -> None:
    rows = [("x" * size, str(number)) for number, size in enumerate(sizes)]
    read: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space_rows, "ROWS_AT_ONCE", rows_at_once)
        patch.setattr(space_rows, "FULL_PAGE_BYTES", page_bytes)
        after: str | None = "-1"
        while after is not None:
            first = int(after) + 1
            page = fitting(rows[first : first + rows_to_read()])
            assert len(page.rows) <= rows_at_once
            assert len(page.rows) <= 1 or sum(map(len, page.rows)) <= page_bytes
            read += page.rows
            after = page.after
    assert read == [row for row, _ in rows]


def test_a_page_is_followed_by_the_rest_of_its_kind_and_then_by_the_next_kind() -> None:
    kinds = ["a", "b"]
    assert page_of(Place(), kinds, FoundRows(["{}"], "[1]"), 7) == ("a", ["{}"], 7, (0, "[1]"))
    assert page_of(Place(0, "[1]"), kinds, FoundRows([]), 7).next == Place(1)
    assert page_of(Place(1), kinds, FoundRows([]), 7).next is None


def test_a_token_is_that_of_its_place_and_its_export() -> None:
    for place in (Place(), Place(3), Place(1, '["a", 2, 0.5]')):
        assert place_of(token_of(place, QUERY), QUERY) == place
    assert (token_of(None, QUERY), place_of("", QUERY)) == ("", Place())
    with pytest.raises(InvalidFieldError):
        place_of(token_of(Place(1), QUERY), ("rows", "other"))


@pytest.mark.parametrize(
    ("step", "after"),
    [
        (-1, None),
        ("1", None),
        (True, None),
        (1.5, None),
        (0, 3),
        (0, "no JSON"),
        (0, "[]"),
        (0, '{"a": 1}'),
    ],
)
def test_a_forged_token_is_refused(step: object, after: object) -> None:
    forged = encode_token(QUERY, [step, after])  # type: ignore[list-item]
    with pytest.raises(InvalidFieldError) as refused:
        place_of(forged, QUERY)
    assert [one.field for one in refused.value.fields] == ["page_token"]
