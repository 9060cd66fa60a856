"""How a leg of a search ended, where the gateway timed it."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from google.protobuf.duration_pb2 import Duration

from braid.common.v1 import legs_pb2
from gateway.rest.mapping.json_encoding import Json
from gateway.rest.mapping.message_json import to_json
from gateway.rest.mapping.message_schema import Shape

LegShape: TypeAlias = Annotated[Json, Shape(legs_pb2.LegReport)]


def single_leg(
    leg: legs_pb2.Leg.ValueType,
    status: legs_pb2.LegStatus.ValueType,
    reason: legs_pb2.LegReason.ValueType,
    took_ms: float,
    *,
    cached: bool = False,
) -> Json:
    """Returns how the only leg of a search ended. `took_ms` in milliseconds."""
    elapsed = Duration()
    elapsed.FromMicroseconds(round(took_ms * 1000))
    report = legs_pb2.LegReport(
        leg=leg, status=status, reason=reason, elapsed=elapsed, cached=cached
    )
    return to_json(report)
