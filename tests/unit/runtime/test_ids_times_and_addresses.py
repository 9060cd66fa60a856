"""Page tokens, ids, times, queries, addresses and folders."""

from __future__ import annotations

import base64
import json
import uuid
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.addresses import has_password
from services.runtime.errors import InvalidFieldError
from services.runtime.ids import chunk_id, content_sha256, derived_uuid, document_hash, is_space
from services.runtime.listen import ListenError, check_listen
from services.runtime.paging import decode_token, encode_token
from services.runtime.times import to_datetime, to_timestamp
from services.runtime.user_folders import cache_folder, state_folder

scalars = st.one_of(st.text(max_size=20), st.integers(-(2**53), 2**53), st.none(), st.booleans())


@given(query=st.tuples(scalars, scalars), position=st.lists(scalars, min_size=1, max_size=3))
def test_a_token_restores_its_position(query: tuple[str, int], position: list[str]) -> None:
    token = encode_token(query, list(position))
    assert decode_token(token, query, length=len(position)) == position


def test_a_token_of_another_query_is_refused() -> None:
    token = encode_token(("Person",), ["Mira"])
    with pytest.raises(InvalidFieldError, match="belongs to another query"):
        decode_token(token, ("Team",), length=1)


@given(st.text(max_size=60))
def test_any_text_as_a_token_is_a_field_error(token: str) -> None:
    with pytest.raises(InvalidFieldError) as failure:
        decode_token(token, ("Person",), length=1, field="cursor")
    assert failure.value.fields[0].field == "cursor"


@pytest.mark.parametrize("body", [[], {}, "x", 1, None, [1], ["a", "b", "c"], ["a", {"b": 1}]])
def test_well_formed_json_that_is_not_a_token_is_refused(body: object) -> None:
    token = base64.urlsafe_b64encode(json.dumps(body).encode()).decode()
    with pytest.raises(InvalidFieldError):
        decode_token(token, ("Person",), length=1)


def test_a_position_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidFieldError):
        decode_token(encode_token(("q",), ["a", "b"]), ("q",), length=1)


@given(st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_two_lists_share_a_uuid_only_if_they_are_equal(a: list[str], b: list[str]) -> None:
    assert (derived_uuid(*a) == derived_uuid(*b)) == (a == b)


@given(parts=st.lists(st.text(), max_size=4))
def test_a_derived_uuid_is_the_uuid5_of_its_parts_as_json(parts: list[str]) -> None:
    namespace = uuid.UUID("6d7a2c1e-5b0f-5c43-9e0a-0b6f5f1d4a11")
    serialized = json.dumps(parts, ensure_ascii=False)
    assert derived_uuid(*parts) == str(uuid.uuid5(namespace, serialized))


def test_a_chunk_id_depends_on_space_document_content_and_occurrence() -> None:
    base = ("s", "d", content_sha256("text"), 0)
    others = [
        ("t", *base[1:]),
        ("s", "e", *base[2:]),
        ("s", "d", content_sha256("other"), 0),
        (*base[:3], 1),
    ]
    assert len({chunk_id(*base), *(chunk_id(*other) for other in others)}) == 5


def test_a_document_hash_does_not_depend_on_the_order_of_its_metadata() -> None:
    def hashed(metadata: dict[str, int]) -> str:
        return document_hash(title="t", source="s", metadata=metadata, valid_time=None, text="x")

    assert hashed({"a": 1, "b": 2}) == hashed({"b": 2, "a": 1})
    assert hashed({"a": 1}) != hashed({"a": 2})


@pytest.mark.parametrize(
    ("space", "valid"),
    [("a-b_C9", True), ("", False), ("a\n", False), ("é", False), ("x" * 65, False)],
)
def test_a_space_id_is_matched_in_full(space: str, *, valid: bool) -> None:
    assert is_space(space) is valid


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001
def test_an_instant_survives_conversion_to_a_timestamp(naive: datetime) -> None:
    instant = naive.replace(tzinfo=timezone(timedelta(hours=-7)))
    if datetime(1, 1, 3, tzinfo=UTC) < instant < datetime(9999, 12, 29, tzinfo=UTC):
        assert to_datetime(to_timestamp(instant)) == instant


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        to_timestamp(datetime(2024, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize("listen", ["127.0.0.1:1", "[::1]:1", "localhost:1", "unix:/run/x"])
def test_loopback_addresses_need_no_authentication(listen: str) -> None:
    check_listen(listen, authenticated=False)


@pytest.mark.parametrize("listen", ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example:1", ":1"])
def test_addresses_beyond_loopback_need_authentication(listen: str) -> None:
    with pytest.raises(ListenError):
        check_listen(listen, authenticated=False)
    check_listen(listen, authenticated=True)


def test_a_lone_surrogate_in_a_token_is_refused() -> None:
    whole = base64.urlsafe_b64decode(encode_token(("q",), ["x"]) + "==")
    half = base64.urlsafe_b64encode(whole.replace(b'"x"', b'"\\ud800"')).decode()
    with pytest.raises(InvalidFieldError):
        decode_token(half, ("q",), length=1)


@pytest.mark.parametrize(
    "end", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_the_first_and_last_instants_are_moved_by_a_microsecond(end: datetime) -> None:
    """PostgreSQL's driver treats the limits themselves as infinity."""
    assert abs(to_datetime(to_timestamp(end)) - end) == timedelta(microseconds=1)


@pytest.mark.parametrize("listen", ["127.0.0.1:65536", "127.0.0.1:", "127.0.0.1:http", "localhost"])
def test_an_invalid_or_missing_port_is_refused(listen: str) -> None:
    with pytest.raises(ListenError):
        check_listen(listen, authenticated=True)


@pytest.mark.parametrize(
    ("address", "has_one"),
    [
        ("https://me:secret@example.org/a", True),
        ("https://me:@example.org", True),
        ("https://me@example.org", False),
        ("https://example.org/a?b=c:d@e", False),
        ("/srv/notes", False),
        ("http://[broken", False),
    ],
)
def test_an_address_with_a_password_is_recognized(address: str, has_one: bool) -> None:
    assert has_password(address) is has_one


def test_a_users_folders_are_those_of_the_xdg_base_directories() -> None:
    home = {"HOME": "/home/mira"}
    assert cache_folder(home) == Path("/home/mira/.cache/braid")
    assert state_folder(home) == Path("/home/mira/.local/state/braid")
    assert cache_folder(home | {"XDG_CACHE_HOME": "/var/cache"}) == Path("/var/cache/braid")
    assert state_folder({"XDG_STATE_HOME": "/state"}) == Path("/state/braid")


def test_a_relative_folder_is_ignored_and_without_a_home_there_is_none() -> None:
    assert cache_folder({"HOME": "/home/mira", "XDG_CACHE_HOME": "cache"}) == Path(
        "/home/mira/.cache/braid"
    )
    assert cache_folder({"XDG_CACHE_HOME": "cache"}) is None
    assert state_folder({"HOME": "home"}) is None
