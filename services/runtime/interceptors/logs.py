"""One line a call: method, code, time. Never its content."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from services.runtime.errors import BraidError
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.status import code_of, reason_name
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.runtime.identity import Identity


class LogStage(Stage):
    """Logs how each call ended."""

    name: ClassVar[str] = "log"

    def __init__(self) -> None:
        self._log = get_logger("rpc")

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        started = time.perf_counter()
        code, reason = "OK", ""
        try:
            yield
        except BraidError as error:
            code, reason = code_of(error).name, reason_name(error)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            code = "CANCELLED"
            raise
        except Exception:
            code = "INTERNAL"
            raise
        finally:
            took = (time.perf_counter() - started) * 1000
            self._log.info(
                "call",
                method=call.method,
                code=code,
                reason=reason,
                took_ms=round(took, 2),
                request_id=call.request_id,
                space=_space(call.identity),
            )


def _space(identity: Identity | None) -> str:
    return identity.space if identity else ""
