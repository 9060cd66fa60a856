"""Invalid timestamps are found anywhere in a message."""

from __future__ import annotations

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import history_pb2, ingest_pb2
from services.runtime.interceptors.timestamps import Timestamps
from services.runtime.times import to_datetime

SECONDS = st.integers(-(2**63), 2**63 - 1)
NANOS = st.integers(-(2**31), 2**31 - 1)


def test_invalid_timestamps_are_named_by_their_field_path() -> None:
    never = Timestamp(seconds=10**15)
    span = retrieval_pb2.TimeRange(start_time=never, end_time=Timestamp(nanos=-1))
    request = history_pb2.GetSnapshotRequest(
        as_of=retrieval_pb2.TimeSelector(range=span), known_time=Timestamp(seconds=1)
    )
    found = list(Timestamps().wrong(request))
    assert found == ["as_of.range.start_time", "as_of.range.end_time"]
    facts = [ingest_pb2.FactInput(), ingest_pb2.FactInput(valid_time=never)]
    stream = ingest_pb2.AddFactsRequest(facts=facts)
    assert list(Timestamps().wrong(stream)) == ["facts[1].valid_time"]


@given(seconds=SECONDS, nanos=NANOS)
def test_every_accepted_timestamp_can_be_converted_to_a_datetime(seconds: int, nanos: int) -> None:
    request = history_pb2.GetEntityHistoryRequest(
        since_time=Timestamp(seconds=seconds, nanos=nanos)
    )
    if list(Timestamps().wrong(request)):
        with pytest.raises((ValueError, OverflowError)):
            to_datetime(request.since_time)
    else:
        assert to_datetime(request.since_time).tzinfo is not None
