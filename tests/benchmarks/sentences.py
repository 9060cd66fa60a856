"""Many short, realistic texts, and their vectors by the local model."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.command import Options
from tests.benchmarks.fact_rows import words_of
from tests.benchmarks.figures import note
from tests.benchmarks.generated import invented_sentences
from tests.benchmarks.harness import bar
from tests.evals.embedding import local_embedder

MODEL = "all-MiniLM-L6-v2"
_CALL = 2_000

Matrix = NDArray[np.float32]


def sentences(options: Options, count: int) -> list[str]:
    """Returns `count` distinct texts: facts from the folder's `facts.jsonl.gz`, then generated ones."""
    if options.data is None:
        note("no --data: the texts are invented")
        given: Iterator[str] = iter(())
    else:
        given = _facts(options.folder())
    found = dict.fromkeys(itertools.islice(given, count))
    for text in invented_sentences(options.seed):
        if len(found) >= count:
            break
        found[text] = None
    ordered = list(found)[:count]
    random.Random(options.seed).shuffle(ordered)  # noqa: S311
    return ordered


def _facts(folder: Path) -> Iterator[str]:
    with gzip.open(folder / "facts.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            subject, relation, target = (words_of(row[part]) for part in "spo")
            yield f"{subject} {relation} {target}, from {row['start']} until {row['end']}."


async def embedded(texts: Sequence[str]) -> Matrix:
    """Returns the texts' vectors, one per row. They are cached on disk, because a thousand take a second."""
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]
    kept = _cache() / f"{MODEL}-{digest}.npy"
    if kept.exists():
        found: Matrix = np.load(kept)
        return found
    rows: list[Matrix] = []
    async with local_embedder() as embedder:
        with bar("embedding", len(texts)) as show:
            for start in range(0, len(texts), _CALL):
                rows.append(await embedder.embed(texts[start : start + _CALL]))
                show(start + _CALL)
    made = np.concatenate(rows)
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept.with_suffix(".part.npy"), made)
    kept.with_suffix(".part.npy").replace(kept)
    return made


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "braid" / "measured"
