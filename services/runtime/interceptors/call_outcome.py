"""Records how each call ended: one log line and one measurement, never its content."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar, NamedTuple

from opentelemetry import metrics

from services.runtime.errors import BraidError
from services.runtime.instruments import REQUESTS_BY_KEY, RPC_DURATION, Bounded, counter, histogram
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.status import code_of, reason_name
from services.runtime.telemetry import get_logger


class CallOutcome(NamedTuple):
    """The status code's name, Braid's reason if any, and the duration in seconds."""

    code: str
    reason: str
    seconds: float


@contextmanager
def record_outcome(record: Callable[[CallOutcome], None]) -> Iterator[None]:
    """Passes the block's outcome to `record` and re-raises its exception."""
    started = time.perf_counter()
    code, reason = "OK", ""
    try:
        yield
    except BraidError as error:
        code, reason = code_of(error).name, reason_name(error)
        raise
    except Exception:  # A defect: the innermost stage logs it.
        code = "INTERNAL"
        raise
    except BaseException:  # A canceled call, or a stream that its client no longer reads.
        code = "CANCELLED"
        raise
    finally:
        record(CallOutcome(code, reason, time.perf_counter() - started))


class LogStage(Stage):
    """Logs one line for each call: method, code, duration."""

    name: ClassVar[str] = "log"

    def __init__(self) -> None:
        self._log = get_logger("rpc")

    def around(self, call: Call) -> AbstractContextManager[None]:
        return record_outcome(lambda outcome: self._record(call, outcome))

    def _record(self, call: Call, outcome: CallOutcome) -> None:
        self._log.info(
            "call",
            method=call.method,
            code=outcome.code,
            reason=outcome.reason,
            took_ms=round(outcome.seconds * 1000, 2),
            request_id=call.request_id,
            space=call.identity.space if call.identity else "",
        )


class MetricsStage(Stage):
    """Records `rpc.server.duration`, in seconds, by method and code; free without a metrics reader."""

    name: ClassVar[str] = "metrics"

    def __init__(self, meter: metrics.Meter | None = None) -> None:
        self._duration = histogram(RPC_DURATION, meter)
        self._requests = counter(REQUESTS_BY_KEY, meter)
        self._keys = Bounded()

    def around(self, call: Call) -> AbstractContextManager[None]:
        return record_outcome(lambda outcome: self._record(call, outcome))

    def _record(self, call: Call, outcome: CallOutcome) -> None:
        self._duration.record(
            outcome.seconds, {"rpc.method": call.method, "rpc.code": outcome.code}
        )
        if call.identity is not None and call.identity.key_id:
            self._requests.add(1, {"key": self._keys.of(call.identity.key_id)})
