"""Assigns each call a request id, the caller's or a new one."""

from __future__ import annotations

import re
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from services.runtime.interceptors.stage import Call, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

# A request id appears in logs and answers: other characters could forge log lines.
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class RequestIdStage(Stage):
    """The first of all stages, so that every later one can name the call."""

    name: ClassVar[str] = "request_id"

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        given = call.metadata.get("x-request-id", "")
        call.request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        yield
