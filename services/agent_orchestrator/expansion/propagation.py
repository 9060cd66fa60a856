"""Personalized PageRank over passages and the entities that they name. Pure: no I/O, no clock.

The graph's nodes are passages and entities, its edges mentions and stated facts. The walk restarts at the entities of
the question, rare ones above all, and at the best passages. A passage passes its weight to the entities it names,
twice as much to those that it is about; an entity passes its weight to passages about it or mentioning it, relevant
ones first. The best passages are then ordered by their rank, by their own relevance, and by evidence: a passage is
supported when it is about what the question names, or about what a relevant and well-ranked passage mentions.

One set of constants for every corpus. Recall is flat around each of them: halving or doubling one moves it by a point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

STATED, PHRASE, NAME, ABOUT = 0, 1, 2, 3
MAX_MENTIONS = 20
MAX_ABOUT = 10
MAX_FACT_NAME_MENTIONS = 6
KEPT = 30

_SEEDS_RESTARTED = 10
_EVIDENCE_FROM = 10
_ROUNDS = 12
_RESTART = 0.25
_QUESTION_SHARE = 0.96
_TEMPERATURE = 0.4
_ABOUT_SHARE = 0.8
_PHRASE = 0.5
_UNTITLED = 0.1
_NEARNESS_POWER = 3
_EVIDENCE = 4.0
# The weight of a passage's own relevance if the question names a title, and if it names none.
_RELEVANCE_LINKED = 0.7
_RELEVANCE_UNLINKED = 7.0
_LEAST_RANK = 1e-4
_TINY = 1e-12


class Passage(NamedTuple):
    """A passage: its own relevance to the question, and its cosine similarity with the question, both 0–1."""

    id: str
    relevance: float
    similarity: float


class Entity(NamedTuple):
    """An entity: number of passages of the space that name it, whether it is a title, whether the question names it."""

    id: str
    name: str
    frequency: int
    titled: bool
    asked: bool


class Mention(NamedTuple):
    """A passage names an entity or states a fact of it: their indices, and STATED, PHRASE, NAME or ABOUT."""

    passage: int
    entity: int
    kind: int


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """The passages around a question, the entities that they name, and the best passages by relevance only."""

    passages: Sequence[Passage]
    entities: Sequence[Entity]
    mentions: Sequence[Mention]
    seeds: Sequence[int]


class Reached(NamedTuple):
    """A passage in its new position with its value, from 0 to about 20, higher first."""

    passage: int
    value: float


class Hop(NamedTuple):
    """A step of a path: the entity, the passage it leads to, and the share of the weight."""

    entity: int
    passage: int
    weight: float


class ReachPath(NamedTuple):
    """How a passage was reached: from a passage, or from an entity that the question names."""

    seed: int | None
    entity: int | None
    hops: tuple[Hop, ...]


class Propagation:
    """The walk over one neighborhood, computed on construction within a few milliseconds."""

    def __init__(self, around: Neighborhood, max_mentions: int = MAX_MENTIONS) -> None:
        """An entity that more than `max_mentions` passages name leads only to those that are about it."""
        self._around = around
        self._relevance = np.array([one.relevance for one in around.passages], dtype=np.float64)
        self._similarity = np.array([one.similarity for one in around.passages], dtype=np.float64)
        self._best = max(float(self._relevance.max(initial=0.0)), _TINY)
        self._edges = _Edges.of(around, self._relevance, self._best, max_mentions)
        self._asked = np.array([one.asked for one in around.entities], dtype=np.bool_)
        self._restart_passages, self._restart_entities = self._restarts()
        self._ranks, self._entity_ranks = self._walk()

    def ordered(self, *, evidence: bool) -> list[Reached]:
        """Returns the best passages by rank, relevance and, if requested, evidence."""
        if not self._around.passages:
            return []
        ids = [one.id for one in self._around.passages]
        by_rank = sorted(range(len(ids)), key=lambda place: (-self._ranks[place], ids[place]))
        kept = [place for place in by_rank[:KEPT] if self._ranks[place] > 0]
        if not kept:
            return []
        best = float(self._ranks[kept[0]])
        supported = self._evidence(kept, best) if evidence else np.zeros(len(ids))
        own = _RELEVANCE_LINKED if self._names_a_title() else _RELEVANCE_UNLINKED
        # Makes the smallest value 0.
        base = -math.log(_LEAST_RANK)
        values = {
            place: base
            + math.log(float(self._ranks[place]) / best + _LEAST_RANK)
            + own * float(self._relevance[place]) / self._best
            + _EVIDENCE * float(supported[place])
            for place in kept
        }
        kept.sort(key=lambda place: (-values[place], ids[place]))
        return [Reached(place, values[place]) for place in kept]

    def way(self, passage: int, max_hops: int = 3) -> ReachPath:
        """Returns the strongest path to a passage, traced back to a seed or an entity of the question."""
        seeds = set(self._around.seeds)
        hops: list[Hop] = []
        at, passed = passage, {passage}
        while len(hops) < max_hops and (at not in seeds or not hops):
            step = self._step_into(at, passed)
            if step is None:
                break
            before, entity, weight = step
            hops.append(Hop(entity, at, weight))
            if before is None:
                return ReachPath(None, entity, tuple(reversed(hops)))
            at = before
            passed.add(at)
        return ReachPath(at, None, tuple(reversed(hops)))

    def followed(self, seeds: Sequence[int]) -> tuple[int, int]:
        """Returns how many mentions the seeds have, and how many of them the walk follows."""
        of_seeds = np.isin(self._edges.passage, np.array(seeds, dtype=np.int64))
        entered = np.isin(self._edges.entity, self._edges.entity[self._edges.back > 0])
        return int(of_seeds.sum()), int((of_seeds & entered).sum())

    def _restarts(self) -> tuple[Floats, Floats]:
        passages = np.zeros(len(self._around.passages))
        entities = np.zeros(len(self._around.entities))
        asked = self._asked & (self._edges.reach > 0)
        if asked.any():
            frequency = np.array([max(e.frequency, 1) for e in self._around.entities], dtype=float)
            titled = np.array([1.0 if e.titled else _UNTITLED for e in self._around.entities])
            nearness = np.minimum(1.0, self._edges.reach / self._best) ** _NEARNESS_POWER
            rarity = np.where(asked, 1 / frequency, 0.0)
            entities = _QUESTION_SHARE * rarity * titled * nearness / rarity.sum()
        seeds = list(self._around.seeds)
        if seeds:
            least = self._relevance[seeds[-1]] if len(seeds) > 1 else 0.0
            ahead = (self._relevance[seeds[:_SEEDS_RESTARTED]] - least) ** 2
            share = ahead / ahead.sum() if ahead.sum() > 0 else np.full(len(ahead), 1 / len(ahead))
            passages[seeds[:_SEEDS_RESTARTED]] = share * (
                1 - _QUESTION_SHARE if asked.any() else 1.0
            )
        return passages, entities

    def _walk(self) -> tuple[Floats, Floats]:
        passages, entities = self._restart_passages.copy(), self._restart_entities.copy()
        edges = self._edges
        for _ in range(_ROUNDS):
            to_passages = np.bincount(
                edges.passage, entities[edges.entity] * edges.back, len(passages)
            )
            to_entities = np.bincount(
                edges.entity, passages[edges.passage] * edges.out, len(entities)
            )
            passages = _RESTART * self._restart_passages + (1 - _RESTART) * to_passages
            entities = _RESTART * self._restart_entities + (1 - _RESTART) * to_entities
        return passages, entities

    def _names_a_title(self) -> bool:
        reach = self._edges.reach
        return any(
            e.asked and e.titled and reach[n] > 0 for n, e in enumerate(self._around.entities)
        )

    def _evidence(self, kept: Sequence[int], best: float) -> Floats:
        """Returns for each passage how well its subject is supported, 0–1."""
        edges = self._edges
        about = edges.kind == ABOUT
        from_passage = np.zeros(len(self._around.passages))
        top = list(kept[:_EVIDENCE_FROM])
        from_passage[top] = np.sqrt(self._ranks[top] / best) * self._similarity[top]
        support = np.zeros(len(self._around.entities))
        mentions = ~about
        np.maximum.at(support, edges.entity[mentions], from_passage[edges.passage[mentions]])
        found = np.zeros(len(self._around.passages))
        np.maximum.at(found, edges.passage[about], support[edges.entity[about]])
        asked = np.unique(edges.passage[about & self._asked[edges.entity]])
        found[asked] = self._similarity[asked]
        return found

    def _step_into(self, passage: int, passed: set[int]) -> tuple[int | None, int, float] | None:
        """Returns the previous passage (None: the question itself), the entity between, and the share passed on."""
        edges = self._edges
        into = np.flatnonzero((edges.passage == passage) & (edges.back > 0))
        into = into[np.argsort(-(self._entity_ranks[edges.entity[into]] * edges.back[into]))]
        for edge in into[:5]:
            entity = int(edges.entity[edge])
            from_question = self._restart_entities[entity] * _RESTART
            before = np.flatnonzero((edges.entity == entity) & (edges.out > 0))
            before = np.array([e for e in before if int(edges.passage[e]) not in passed], dtype=int)
            flows = self._ranks[edges.passage[before]] * edges.out[before] * (1 - _RESTART)
            if from_question > flows.max(initial=0.0):
                return None, entity, float(edges.back[edge])
            if len(before):
                chosen = before[int(flows.argmax())]
                weight = float(edges.out[chosen] * edges.back[edge])
                return int(edges.passage[chosen]), entity, weight
        return None


@dataclass(frozen=True, slots=True)
class _Edges:
    """Mentions as arrays: from passages to entities (`out`), and back, 0 if an entity does not lead on.

    `reach` is, for each entity, the relevance of the best passage that it leads to.
    """

    passage: Places
    entity: Places
    kind: Places
    out: Floats
    back: Floats
    reach: Floats

    @classmethod
    def of(cls, around: Neighborhood, relevance: Floats, best: float, max_mentions: int) -> _Edges:
        rows = np.array(around.mentions, dtype=np.int64).reshape(-1, 3)
        passage, entity, kind = rows[:, 0], rows[:, 1], rows[:, 2].copy()
        titled = np.array([one.titled for one in around.entities], dtype=np.bool_)
        frequency = np.array([one.frequency for one in around.entities], dtype=np.int64)
        # A name that comes only from facts is as weak as a phrase; if it is frequent, it is a common word.
        from_facts = (kind == NAME) & ~titled[entity]
        kind[from_facts] = PHRASE
        rare = frequency[entity] <= np.where(from_facts, MAX_FACT_NAME_MENTIONS, max_mentions)
        leads = _leading(passage, entity, kind, relevance) | (
            (kind == STATED) | (kind != ABOUT) & rare
        )
        back = _back(passage, entity, kind, leads, relevance, best)
        reach = np.zeros(len(around.entities))
        np.maximum.at(reach, entity[leads], relevance[passage[leads]])
        # Only entities that lead to a passage take part.
        enters = np.isin(entity, entity[leads])
        weight = np.select([kind == ABOUT, kind == NAME], [2.0, 1.0], _PHRASE) * enters
        totals = np.bincount(passage, weight, len(around.passages))
        return cls(passage, entity, kind, weight / np.maximum(totals, _TINY)[passage], back, reach)


def _leading(passage: Places, entity: Places, kind: Places, relevance: Floats) -> Flags:
    """Selects the most relevant of the passages about each entity."""
    leads = np.zeros(len(passage), dtype=np.bool_)
    about = np.flatnonzero(kind == ABOUT)
    order = about[np.lexsort((passage[about], -relevance[passage[about]], entity[about]))]
    if len(order):
        starts = np.r_[True, entity[order][1:] != entity[order][:-1]]
        firsts = np.flatnonzero(starts)
        place = np.arange(len(order)) - firsts[np.cumsum(starts) - 1]
        leads[order[place < MAX_ABOUT]] = True
    return leads


def _back(  # noqa: PLR0917 - the columns of one table
    passage: Places, entity: Places, kind: Places, leads: Flags, relevance: Floats, best: float
) -> Floats:
    """Returns the weights from entities to passages: with both kinds, most goes to passages about the entity."""
    pull = np.exp((relevance[passage] - best) / _TEMPERATURE)
    pull = np.where(kind <= PHRASE, pull * _PHRASE, pull) * leads
    size = int(entity.max(initial=-1)) + 1
    about = kind == ABOUT
    to_about = np.bincount(entity, pull * about, size)
    to_mentions = np.bincount(entity, pull * ~about, size)
    both = (to_about > 0) & (to_mentions > 0)
    totals = np.where(about, to_about[entity], to_mentions[entity])
    share = np.where(both[entity], np.where(about, _ABOUT_SHARE, 1 - _ABOUT_SHARE), 1.0)
    return share * pull / np.maximum(totals, _TINY)
