"""The stages around every call, in one named order for all call shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.runtime.interceptors.authentication import AuthenticationStage
from services.runtime.interceptors.call_outcome import LogStage, MetricsStage
from services.runtime.interceptors.concurrency import ConcurrencyStage
from services.runtime.interceptors.failures import FailureStage
from services.runtime.interceptors.pipeline import DefaultDeadlines, Pipeline
from services.runtime.interceptors.request_id import RequestIdStage
from services.runtime.interceptors.tracing import TraceStage
from services.runtime.interceptors.validation import ValidationStage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.runtime.admission import AdmissionQueue
    from services.runtime.idempotency import KeyedCalls
    from services.runtime.identity import Authenticator
    from services.runtime.rate_limits import RateLimits


def build_pipeline(
    authenticator: Authenticator,
    *,
    limit: ConcurrencyStage,
    queues: Mapping[str, AdmissionQueue] | None = None,
    keyed: Mapping[str, KeyedCalls] | None = None,
    rates: RateLimits | None = None,
    deadlines: DefaultDeadlines | None = None,
) -> Pipeline:
    """Every server's stages in order: request id → trace → log → metrics → limit → auth → validation → errors → queue.

    `queues` are by the method's full name. See `Pipeline` for the rest.
    """
    return Pipeline(
        [
            RequestIdStage(),
            TraceStage(),
            LogStage(),
            MetricsStage(),
            limit,
            AuthenticationStage(authenticator),
            ValidationStage(),
            FailureStage(),
        ],
        queues=queues,
        keyed=keyed,
        rates=rates,
        deadlines=deadlines,
    )
