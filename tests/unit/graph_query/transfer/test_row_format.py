"""Rows of the graph as JSON: what the store has is what it gets back, and nothing else is taken for a row."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import neo4j.time
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.transfer.row_format import row_as_json, row_from_json
from services.runtime.errors import InvalidFieldError

VALUES = st.one_of(
    st.text(max_size=20),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.text(max_size=5), max_size=3),
    st.datetimes(timezones=st.just(UTC)).map(neo4j.time.DateTime.from_native),
)
NAMES = st.sampled_from(["uuid", "name", "$time", "created_at", "größe"])
FLOATS = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=4)


@given(st.dictionaries(NAMES, VALUES, max_size=4), FLOATS)
def test_a_node_is_read_as_it_was_written(properties: dict[str, Any], vector: list[float]) -> None:
    written = row_as_json(
        {"labels": ["Entity"], "properties": properties | {"name_embedding": vector}}
    )
    assert "\n" not in written
    read = row_from_json(written)
    assert (read["labels"], read["properties"]) == (["Entity"], properties)
    assert read["vectors"] == {"name_embedding": vector}


def test_claims_and_sentences_are_read_as_they_were_written() -> None:
    when = neo4j.time.DateTime.from_native(datetime(2024, 5, 6, tzinfo=UTC))
    row = {
        "source": "a",
        "target": "b",
        "properties": {"valid_at": when, "gone": None},
        "claims": [{"given": [1.5, 2.0], "at": when}],
        "sentence": {"uuid": "s", "at": when},
    }
    read = row_from_json(row_as_json(row))
    assert read == row | {"properties": {"valid_at": when}, "vectors": {}}


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[]",
        "3",
        "{}",
        '{"properties": 1}',
        '{"properties": {"a": {"b": 1}}}',
        '{"properties": {"a": {"$time": "yesterday"}}}',
        '{"properties": {"embedding": {"$float32": "%"}}}',
        '{"properties": {"embedding": {"$float32": "AAA="}}}',
        '{"properties": {}, "claims": [1]}',
        "[" * 100_000,
    ],
)
def test_what_no_version_has_exported_is_refused(text: str) -> None:
    with pytest.raises(InvalidFieldError) as refused:
        row_from_json(text)
    assert [one.field for one in refused.value.fields] == ["rows"]
    assert json.dumps(text) not in str(refused.value)
