"""Relevance scales of models without a known one: measured in each space, by questions about other subjects."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from statistics import median

from services.models.embedding.relevance import KNOWN, UNCALIBRATED, Relevance, calibrated
from services.models.embedding.vectors import Matrix
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

MIN_ITEMS = 200
"""Texts that a space needs: in fewer, what chance finds says little, and the model's default holds."""
_SECONDS = 10.0
_RETRY_SECONDS = 60.0
_MAX_SPACES = 10_000
# The number of concurrent measurements; low, as searches take precedence.
_MAX_RUNNING = 4

PROBES = (
    "How long should an egg boil until the yolk is firm?",
    "Who composed the opera Carmen?",
    "Which planet has the most moons?",
    "What causes the tides of the sea?",
    "How do bees make honey?",
    "When was the printing press invented?",
    "What is the offside rule in football?",
    "How do I change the strings of a guitar?",
    "Which vitamins are in an orange?",
    "Why is the sky blue at noon and red in the evening?",
    "How are pearls formed in oysters?",
    "What is the highest mountain of South America?",
    "How does a steam engine work?",
    "Which kings ruled France in the seventeenth century?",
    "How often should a cactus be watered?",
    "What does a sommelier do?",
    "How do I remove red wine from a carpet?",
    "What is the difference between a sonnet and a haiku?",
    "Which muscles does rowing train?",
    "How do penguins keep warm?",
    "What is compound interest?",
    "How is porcelain fired?",
    "Which language family does Finnish belong to?",
    "How do I fold a paper crane?",
)
"""General questions; of a space that knows some of these subjects, the median question still asks of another."""


@dataclass(frozen=True, slots=True)
class _Entry:
    scale: Relevance
    items: int
    until: float


class Calibrations:
    """The relevance scale of each model in each space, measured in the background."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}

    def of(
        self,
        space: str,
        model: str,
        items: int,
        embed: Callable[[Sequence[str]], Awaitable[Matrix]] | None,
        best: Callable[[Matrix], Awaitable[float]],
    ) -> Relevance:
        """Returns the model's scale in a space of `items` items; starts measuring it if it is unknown or outdated.

        `embed` makes vectors of that model (None if unavailable), `best` returns the best cosine in the space for one.
        Returns UNCALIBRATED until the scale is measured.
        """
        if model in KNOWN:
            return KNOWN[model]
        if items < MIN_ITEMS or embed is None:
            return UNCALIBRATED
        key, now = (space, model), asyncio.get_running_loop().time()
        entry = self._entries.get(key)
        stale = entry is None or now > entry.until or items >= 2 * entry.items
        if stale and key not in self._running and len(self._running) < _MAX_RUNNING:
            # Not part of the call: without the caller's deadline, as later calls need the result too.
            task = asyncio.create_task(self._measure(key, items, embed, best), context=Context())
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return UNCALIBRATED if entry is None else entry.scale

    async def wait_until_measured(self) -> None:
        """Waits for running measurements."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _measure(
        self,
        key: tuple[str, str],
        items: int,
        embed: Callable[[Sequence[str]], Awaitable[Matrix]],
        best: Callable[[Matrix], Awaitable[float]],
    ) -> None:
        scale = await _measured(embed, best)
        known = self._entries.get(key)
        now = asyncio.get_running_loop().time()
        until = now + _RETRY_SECONDS if scale is None else float("inf")
        former = UNCALIBRATED if known is None else known.scale
        self._entries[key] = _Entry(scale or former, items, until)
        self._entries.move_to_end(key)
        if len(self._entries) > _MAX_SPACES:
            self._entries.popitem(last=False)


async def _measured(
    embed: Callable[[Sequence[str]], Awaitable[Matrix]],
    best: Callable[[Matrix], Awaitable[float]],
) -> Relevance | None:
    """Measures a scale; None if the model or the store does not answer in time."""
    try:
        async with asyncio.timeout(_SECONDS):
            rows = await embed(PROBES)
            return calibrated(median([await best(row) for row in rows]))
    except (BraidError, TimeoutError) as error:
        get_logger("models").warning("relevance not calibrated", cause=type(error).__name__)
        return None
