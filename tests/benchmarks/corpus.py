"""The searched corpus: that of a data folder if given, otherwise a generated one."""

from __future__ import annotations

from tests.benchmarks.command import Options
from tests.benchmarks.figures import note
from tests.benchmarks.generated import generated
from tests.evals.datasets import Dataset, read_multihop


def corpus_of(options: Options) -> Dataset:
    """Returns the corpus that a run searches."""
    if options.data is None:
        note("no --data: searching an invented corpus of 1,000 passages")
        return generated()
    return read_multihop(options.folder())
