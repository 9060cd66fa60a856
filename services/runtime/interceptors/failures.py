"""The innermost stage: logs any exception of a handler other than `BraidError` in full and hides it from the caller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

import grpc

from services.runtime.errors import BraidError, DeadlineError, InternalError
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.status import error_from_rpc
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterator


class FailureStage(Stage):
    """Translates failures of other services to their typed errors, and defects to a fixed sentence."""

    name: ClassVar[str] = "errors"

    def __init__(self) -> None:
        self._log = get_logger("errors")

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        try:
            yield
        except (BraidError, grpc.aio.AbortError):
            raise
        except grpc.aio.AioRpcError as error:
            raise error_from_rpc(error) from None
        except TimeoutError:
            raise DeadlineError from None
        except Exception as error:
            self._log.exception("defect", method=call.method, request_id=call.request_id)
            raise InternalError from error
