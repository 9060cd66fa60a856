"""A completion's text ends at the first stop sequence or after the tokens asked for, however it is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gateway.rest.openai.text_limit import TextLimit

letters = st.text("abc", max_size=12)
stops_of_letters = st.lists(st.text("abc", min_size=1, max_size=3), max_size=4)


def sent(limit: TextLimit, pieces: list[str]) -> str:
    return "".join(limit.take(piece) for piece in pieces) + limit.rest()


@given(text=letters, stops=stops_of_letters, pieces=st.lists(st.integers(0, 12), max_size=4))
def test_text_ends_before_the_first_stop_sequence(
    text: str, stops: list[str], pieces: list[int]
) -> None:
    cuts = sorted({0, len(text), *(min(cut, len(text)) for cut in pieces)})
    parts = [text[start:end] for start, end in pairwise(cuts)]
    whole, streamed = TextLimit(stops=stops), TextLimit(stops=stops)
    text_until_stop = min((text.partition(stop)[0] for stop in stops), key=len, default=text)
    assert sent(whole, [text]) == text_until_stop
    # A stop sequence that is complete earlier ends a stream before one that begins earlier.
    assert sent(streamed, parts).startswith(text_until_stop)
    found = any(stop in text for stop in stops)
    assert bool(whole.finish_reason) == bool(streamed.finish_reason) == found


def test_nothing_follows_the_requested_number_of_tokens() -> None:
    limit = TextLimit(2)
    assert sent(limit, ["12345", "6789", "0"]) == "12345678"
    assert limit.finish_reason == "length"


def test_a_text_within_its_limits_is_whole() -> None:
    limit = TextLimit(2, ["!!"])
    assert sent(limit, ["1234", "!"]) == "1234!"
    assert limit.finish_reason == ""
