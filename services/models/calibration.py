"""Scales of relevance for models that nothing is known of: measured in each space, by questions on other subjects."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median

from services.models.relevance import KNOWN, UNCALIBRATED, Relevance, calibrated
from services.models.vectors import Matrix
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

MIN_ITEMS = 200
"""Texts that a space needs: in fewer, what chance finds says little, and the model's default holds."""
_SECONDS = 0.5
_RETRY_SECONDS = 60.0
_MAX_SPACES = 10_000

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
    """Scales of models as spaces have them."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()

    async def of(
        self,
        space: str,
        model: str,
        items: int,
        embed: Callable[[Sequence[str]], Awaitable[Matrix]] | None,
        best: Callable[[Matrix], Awaitable[float]],
    ) -> Relevance:
        """The model's scale in a space of so many items.

        `embed` makes vectors of that model (None: not to be had), `best` finds the best cosine in the space for one.
        UNCALIBRATED where it cannot be measured now.
        """
        if model in KNOWN:
            return KNOWN[model]
        if items < MIN_ITEMS or embed is None:
            return UNCALIBRATED
        now = asyncio.get_running_loop().time()
        entry = self._entries.get((space, model))
        if entry is None or now > entry.until or items >= 2 * entry.items:
            scale = await _measured(embed, best)
            until = now + _RETRY_SECONDS if scale is None else float("inf")
            entry = _Entry(scale or UNCALIBRATED, items, until)
            self._remember((space, model), entry)
        return entry.scale

    def _remember(self, key: tuple[str, str], entry: _Entry) -> None:
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) > _MAX_SPACES:
            self._entries.popitem(last=False)


async def _measured(
    embed: Callable[[Sequence[str]], Awaitable[Matrix]],
    best: Callable[[Matrix], Awaitable[float]],
) -> Relevance | None:
    """None when model or store do not answer in time."""
    try:
        async with asyncio.timeout(_SECONDS):
            rows = await embed(PROBES)
            return calibrated(median([await best(row) for row in rows]))
    except (BraidError, TimeoutError) as error:
        get_logger("models").warning("relevance not calibrated", cause=type(error).__name__)
        return None
