"""Counts and times calls by method and code, through OpenTelemetry; free where no reader is set up."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from opentelemetry import metrics

from services.runtime.errors import BraidError
from services.runtime.exporting import DURATION_BUCKETS
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.status import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator


class MetricsStage(Stage):
    """Records `rpc.server.duration`, in seconds."""

    name: ClassVar[str] = "metrics"

    def __init__(self, meter: metrics.Meter | None = None) -> None:
        meter = meter or metrics.get_meter("braid")
        self._duration = meter.create_histogram(
            "rpc.server.duration", unit="s", explicit_bucket_boundaries_advisory=DURATION_BUCKETS
        )

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        started = time.perf_counter()
        code = "OK"
        try:
            yield
        except BraidError as error:
            code = code_of(error).name
            raise
        except Exception:
            code = "INTERNAL"
            raise
        except BaseException:
            code = "CANCELLED"
            raise
        finally:
            took = time.perf_counter() - started
            self._duration.record(took, {"rpc.method": call.method, "rpc.code": code})
