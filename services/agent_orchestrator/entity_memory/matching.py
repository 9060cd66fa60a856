"""Finds names by spelling only; computed here, so that the result is the same on every PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from services.agent_orchestrator.entity_memory.domain import EntityType
from services.agent_orchestrator.entity_memory.names import canonical_name, folded_name

ALIAS_SCORE: Final = 0.98
FUZZY_THRESHOLD: Final = 0.8
EMBEDDING_THRESHOLD: Final = 0.35
# The score of a hit by meaning is always below that of a hit by spelling.
EMBEDDING_CEILING: Final = 0.79
# Shorter names must match exactly: similar spelling does not mean the same name.
_MIN_FUZZY_LENGTH: Final = 4
_PREFIX_SCORE: Final = 0.9


class Match(Enum):
    """How a name was found."""

    NONE = "none"
    EXACT = "exact"
    ALIAS = "alias"
    FUZZY = "fuzzy"
    EMBEDDING = "embedding"


class Name(NamedTuple):
    """The names of an entity."""

    id: str
    name: str
    canonical_name: str
    aliases: tuple[str, ...]
    canonical_aliases: tuple[str, ...]
    type: EntityType


class Hit(NamedTuple):
    """An entity by id, its score (0–1), and how it was found."""

    id: str
    score: float
    match: Match


def match_names(query: str, names: Iterable[Name]) -> dict[str, Hit]:
    """Returns the entities that a query names by name, alias or similar spelling, by id."""
    canonical, folded = canonical_name(query), folded_name(query)
    hits: dict[str, Hit] = {}
    for one in names:
        if canonical == one.canonical_name:
            hits[one.id] = Hit(one.id, 1.0, Match.EXACT)
        elif canonical in one.canonical_aliases:
            hits[one.id] = Hit(one.id, ALIAS_SCORE, Match.ALIAS)
        elif score := max(similarity(folded, folded_name(n)) for n in (one.name, *one.aliases)):
            hits[one.id] = Hit(one.id, score, Match.FUZZY)
    return hits


def similarity(first: str, second: str) -> float:
    """Returns the similarity of two folded names, 0–1; 0 below the threshold."""
    if not first or not second:
        return 0.0
    if first == second or first.replace(" ", "") == second.replace(" ", ""):
        return 0.97
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < _MIN_FUZZY_LENGTH:
        return 0.0
    if longer.startswith(shorter + " ") or longer.endswith(" " + shorter):
        return _PREFIX_SCORE
    score = max(fuzz.ratio(first, second), fuzz.token_sort_ratio(first, second)) / 100
    # Names with different numbers or versions are different names.
    if [c for c in first if c.isdigit()] != [c for c in second if c.isdigit()]:
        return 0.0
    if Levenshtein.distance(first, second, score_cutoff=1) <= 1:
        score = max(score, FUZZY_THRESHOLD)
    return min(score, 0.96) if score >= FUZZY_THRESHOLD else 0.0


def add_meaning(hits: dict[str, Hit], similarities: Mapping[str, float]) -> list[Hit]:
    """Returns all hits, including those by meaning, best first."""
    merged = dict(hits)
    for id_, value in similarities.items():
        if value >= EMBEDDING_THRESHOLD and id_ not in merged:
            merged[id_] = Hit(id_, min(value, EMBEDDING_CEILING), Match.EMBEDDING)
    return sorted(merged.values(), key=lambda hit: (-hit.score, hit.id))
