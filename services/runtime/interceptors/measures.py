"""Counts and times calls by method and code, through OpenTelemetry; free where no reader is set up."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from opentelemetry import metrics

from services.runtime.exporting import DURATION_BUCKETS
from services.runtime.interceptors.ending import Ending, told
from services.runtime.interceptors.stage import Call, Stage

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class MetricsStage(Stage):
    """Records `rpc.server.duration`, in seconds."""

    name: ClassVar[str] = "metrics"

    def __init__(self, meter: metrics.Meter | None = None) -> None:
        meter = meter or metrics.get_meter("braid")
        self._duration = meter.create_histogram(
            "rpc.server.duration", unit="s", explicit_bucket_boundaries_advisory=DURATION_BUCKETS
        )

    def around(self, call: Call) -> AbstractContextManager[None]:
        return told(lambda ending: self._tell(call, ending))

    def _tell(self, call: Call, ending: Ending) -> None:
        self._duration.record(ending.seconds, {"rpc.method": call.method, "rpc.code": ending.code})
