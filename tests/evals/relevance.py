"""Measures what searches rank first, what is foreign to the question, and whether they report that nothing matches.

With a labeled set (DATA with `questions.jsonl`) it compares hybrid and comprehensive search. Otherwise it uses one
space with the passages of two sets and facts about one of them; questions about the other should find their own set.
"""

from __future__ import annotations

from tests.benchmarks.command import Options
from tests.evals.foreign import measure_foreign
from tests.evals.labelled import is_labelled_set
from tests.evals.ranked import measure_labelled

# The folder that contains `hotpot_train100` and `musique_train100`.
SHARED = "multihop"


async def run(options: Options) -> None:
    """Measures the labeled set, or the two sets in one space."""
    if is_labelled_set(options.folder()):
        await measure_labelled(options)
    else:
        await measure_foreign(options)
