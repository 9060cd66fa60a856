"""BM25 that scores every posting of every word: slow and correct by construction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.reference import Reference

_SQL = Path(__file__).with_name("sql")

Ranked = Sequence[tuple[str, float]]


async def exhaustive(sql: Reference, text: str, limit: int) -> list[tuple[str, float]]:
    """Returns chunk ids and scores, best first."""
    statement = (_SQL / "exhaustive_bm25.sql").read_text()
    rows = await sql.pool.fetch(statement, sql.space, text, limit)
    return [(str(row["id"]), row["score"]) for row in rows]


def same_list(found: Ranked, best: Ranked) -> bool:
    """Returns whether both lists have the same score at each rank, and the same chunks up to ties."""
    if len(found) != len(best):
        return False
    scores = all(
        math.isclose(mine, theirs, rel_tol=1e-6)
        for (_, mine), (_, theirs) in zip(found, best, strict=True)
    )
    exact = dict(best)
    return scores and all(
        each in exact or math.isclose(score, best[-1][1], rel_tol=1e-6) for each, score in found
    )
