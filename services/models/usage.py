"""The usage of one model's calls: spans, durations, tokens, and their cost for each space."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from services.runtime.context import current_call_or_none
from services.runtime.instruments import (
    MODEL_COST,
    MODEL_DURATION,
    MODEL_TOKENS,
    Bounded,
    counter,
    histogram,
)
from services.runtime.tracing import separate_span, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.metrics import Meter

    ModelKind = Literal["embedding", "language", "rerank"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0


class ModelUsage:
    """Records the calls of one model. Texts, prompts and answers are never part of it."""

    def __init__(
        self,
        kind: ModelKind,
        model: str,
        prices: Prices | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._kind = kind
        self._model = model
        self._prices = prices or Prices()
        self._spaces = Bounded()
        self._duration = histogram(MODEL_DURATION, meter)
        self._tokens = counter(MODEL_TOKENS, meter)
        self._cost = counter(MODEL_COST, meter)

    @contextmanager
    def call(self) -> Iterator[None]:
        """Encloses one call, including its retries."""
        with self._timed(), span(f"{self._kind} {self._model}", {"model": self._model}):
            yield

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Encloses a call whose answer is streamed, perhaps in another task."""
        with self._timed(), separate_span(f"{self._kind} {self._model}", {"model": self._model}):
            yield

    def count(self, input_tokens: int, output_tokens: int = 0) -> None:
        """Adds the tokens counted by the provider to the current call's space."""
        if not input_tokens and not output_tokens:
            return
        call = current_call_or_none()
        space = self._spaces.of(call.space if call is not None else "")
        known = {"space": space, "model": self._model}
        self._tokens.add(input_tokens, {**known, "direction": "input"})
        if output_tokens:
            self._tokens.add(output_tokens, {**known, "direction": "output"})
        cost = input_tokens * self._prices.input + output_tokens * self._prices.output
        if cost:
            self._cost.add(cost / _MILLION, known)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        started = time.perf_counter()
        outcome = "ok"
        try:
            yield
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            self._duration.record(
                time.perf_counter() - started,
                {"kind": self._kind, "model": self._model, "outcome": outcome},
            )
