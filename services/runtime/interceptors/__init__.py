"""What happens around every call, in one named order for all call shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.runtime.interceptors.authentication import AuthenticationStage
from services.runtime.interceptors.call_outcome import LogStage, MetricsStage
from services.runtime.interceptors.failures import FailureStage
from services.runtime.interceptors.limit import LimitStage
from services.runtime.interceptors.pipeline import Pipeline
from services.runtime.interceptors.request_id import RequestIdStage
from services.runtime.interceptors.validation import ValidationStage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.runtime.admission import AdmissionQueue
    from services.runtime.identity import Authenticator


def build_pipeline(
    authenticator: Authenticator,
    *,
    max_calls: int,
    queues: Mapping[str, AdmissionQueue] | None = None,
) -> Pipeline:
    """The pipeline of every server: request id → log → metrics → limit → auth/space → validation → errors → queue.

    `max_calls` run at once; each further one is refused. Methods in `queues` (full name → slots) wait there instead.
    """
    queues = queues or {}
    return Pipeline(
        [
            RequestIdStage(),
            LogStage(),
            MetricsStage(),
            LimitStage(max_calls, queues),
            AuthenticationStage(authenticator),
            ValidationStage(),
            FailureStage(),
        ],
        queues=queues,
    )
