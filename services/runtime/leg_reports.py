"""How a leg of a search ended, as a message with the time that it took."""

from __future__ import annotations

import time
from typing import TypeAlias

from google.protobuf.duration_pb2 import Duration

from braid.common.v1 import legs_pb2

LegEnd: TypeAlias = "tuple[legs_pb2.LegStatus.ValueType, legs_pb2.LegReason.ValueType]"


def leg_report(
    leg: legs_pb2.Leg.ValueType,
    end: LegEnd,
    started: int,
    hit_count: int = 0,
    *,
    cached: bool = False,
) -> legs_pb2.LegReport:
    """Returns the report of a leg that has just ended; `started` is of `time.perf_counter_ns`."""
    elapsed = Duration()
    elapsed.FromNanoseconds(time.perf_counter_ns() - started)
    status, reason = end
    return legs_pb2.LegReport(
        leg=leg, status=status, reason=reason, elapsed=elapsed, hit_count=hit_count, cached=cached
    )


def found_or_not(hit_count: int) -> LegEnd:
    """Returns how a complete search ended."""
    status = legs_pb2.LEG_STATUS_OK if hit_count else legs_pb2.LEG_STATUS_NO_MATCH
    return status, legs_pb2.LEG_REASON_UNSPECIFIED
