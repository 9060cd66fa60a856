"""One line a call: method, code, time. Never its content."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from services.runtime.interceptors.ending import Ending, told
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class LogStage(Stage):
    """Logs how each call ended."""

    name: ClassVar[str] = "log"

    def __init__(self) -> None:
        self._log = get_logger("rpc")

    def around(self, call: Call) -> AbstractContextManager[None]:
        return told(lambda ending: self._tell(call, ending))

    def _tell(self, call: Call, ending: Ending) -> None:
        self._log.info(
            "call",
            method=call.method,
            code=ending.code,
            reason=ending.reason,
            took_ms=round(ending.seconds * 1000, 2),
            request_id=call.request_id,
            space=call.identity.space if call.identity else "",
        )
