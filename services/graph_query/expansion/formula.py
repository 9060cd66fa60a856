"""Expands a ranked list along relations by a fixed formula. Pure computation on what the store has read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from services.graph_query.expansion.domain import WEIGHTS, Edge, Neighborhood

DECAY = 0.8
DEFAULT_FACTOR = 0.6


@dataclass(frozen=True, slots=True)
class Ranking:
    """Parameters of the ranking. `factor` is the share of its score that a seed passes on."""

    limit: int
    factor: float = DEFAULT_FACTOR
    adaptive: bool = False
    keep: bool = False

    def share(self, score: float) -> float:
        """Returns the score that a seed passes on; an adaptive factor is 1.5 `factor` at score 0, 0.5 `factor` at 1."""
        factor = self.factor * (1.5 - score) if self.adaptive else self.factor
        return min(factor, 1.0) * score


class Walk(NamedTuple):
    """A walk from a seed, and its contribution at its end, before the decay by depth."""

    value: float
    steps: tuple[Edge, ...]

    @property
    def contribution(self) -> float:
        """Returns the contribution to the chunk at the walk's end."""
        return self.value * DECAY ** len(self.steps)


_NO_WALK = Walk(0.0, ())


@dataclass(frozen=True, slots=True)
class Item:
    """A chunk in an expanded list; `initial` is None for a chunk added by a relation."""

    chunk: str
    score: float
    initial: float | None
    path: tuple[Edge, ...] = ()
    penalty: float = 0.0
    penalty_path: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of an expansion."""

    initial: int
    expanded: int
    new: int
    kept: int
    followed: int
    incident: int

    @property
    def dropped(self) -> int:
        """Returns the number of seeds that are not in the answer."""
        return self.initial - self.kept

    @property
    def rate(self) -> float:
        """Returns the number of new results per seed."""
        return self.new / self.initial if self.initial else 0.0

    @property
    def utilisation(self) -> float:
        """Returns the share of the seeds' relations that was followed."""
        return self.followed / self.incident if self.incident else 0.0


@dataclass(frozen=True, slots=True)
class Expanded:
    """An expanded list. `context` has the related chunks if the list's ranking was kept."""

    items: Sequence[Item]
    context: Sequence[Item]
    stats: Stats


def expand(seeds: Mapping[str, float], around: Neighborhood, ranking: Ranking) -> Expanded:
    """Expands the list along relations and ranks it again."""
    gained, lost = _contributions(seeds, around.levels, ranking)
    brought = [
        _item(chunk, seeds.get(chunk), gained.get(chunk), lost.get(chunk))
        for chunk in seeds.keys() | gained.keys()
    ]
    brought.sort(key=lambda item: (-item.score, item.chunk))
    if ranking.keep:
        items = [Item(chunk, score, score) for chunk, score in seeds.items()]
        context = [item for item in brought if item.initial is None][: ranking.limit]
    else:
        items, context = brought[: ranking.limit], []
    kept = sum(item.initial is not None for item in items)
    stats = Stats(
        initial=len(seeds),
        expanded=len(brought),
        new=len(items) - kept,
        kept=kept,
        followed=len(around.levels[0]),
        incident=around.incident,
    )
    return Expanded(items, context, stats)


def _item(chunk: str, initial: float | None, gain: Walk | None, loss: Walk | None) -> Item:
    """Scores a chunk: its best positive score, minus the strongest contradiction's contribution."""
    own = initial if initial is not None else 0.0
    best = gain if gain is not None and gain.contribution > own else None
    score = best.contribution if best else own
    against = loss or _NO_WALK
    penalty = min(abs(against.contribution), score)
    return Item(
        chunk=chunk,
        score=score - penalty,
        initial=initial,
        path=best.steps if best else (),
        penalty=penalty,
        penalty_path=against.steps,
    )


def _contributions(
    seeds: Mapping[str, float], levels: Sequence[Sequence[Edge]], ranking: Ranking
) -> tuple[dict[str, Walk], dict[str, Walk]]:
    """Returns each chunk's best positive walk, and its strongest negative one."""
    gained: dict[str, Walk] = {}
    lost: dict[str, Walk] = {}
    reached = {chunk: Walk(ranking.share(score), ()) for chunk, score in seeds.items()}
    for edges in levels:
        walks = [_walk(reached[edge.start], edge) for edge in edges if edge.start in reached]
        reached = _best(walk for walk in walks if walk.value > 0.0)
        gained = _best((*gained.values(), *reached.values()))
        lost = _strongest((*lost.values(), *(walk for walk in walks if _takes_off(walk))))
    return gained, lost


def _walk(so_far: Walk, edge: Edge) -> Walk:
    value = so_far.value * WEIGHTS[edge.type] * edge.strength
    return Walk(value, (*so_far.steps, edge))


def _takes_off(walk: Walk) -> bool:
    """Returns whether the walk is a contradiction by another chunk; a walk that returns to its own start is none."""
    end = walk.steps[-1].end
    return walk.value < 0.0 and all(step.start != end for step in walk.steps)


def _best(walks: Iterable[Walk]) -> dict[str, Walk]:
    best: dict[str, Walk] = {}
    for walk in walks:
        end = walk.steps[-1].end
        if end not in best or walk.contribution > best[end].contribution:
            best[end] = walk
    return best


def _strongest(walks: Iterable[Walk]) -> dict[str, Walk]:
    strongest: dict[str, Walk] = {}
    for walk in walks:
        end = walk.steps[-1].end
        if end not in strongest or walk.contribution < strongest[end].contribution:
            strongest[end] = walk
    return strongest
