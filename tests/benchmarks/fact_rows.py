"""Many realistic facts: from a data folder if given, otherwise generated."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.command import Options
from tests.benchmarks.figures import note
from tests.benchmarks.generated import invented_sentences

_INVENTED = re.compile(r"(\w+ \w+) (\w+) the \w+ of \w+ for (\w+ \w+) in \d+\.")


class FactRow(NamedTuple):
    """A fact with its statement. A list contains no statement and no fact twice."""

    subject: str
    relation: str
    object: str
    text: str


def fact_rows(options: Options, count: int) -> list[FactRow]:
    """Returns `count` facts from the folder's `facts.jsonl.gz`, supplemented by generated ones."""
    if options.data is None:
        note("no --data: the facts are invented")
    given = _given(options.folder()) if options.data else iter(())
    return list(itertools.islice(_distinct(itertools.chain(given, _invented(options.seed))), count))


def _distinct(rows: Iterable[FactRow]) -> Iterator[FactRow]:
    texts: set[str] = set()
    facts: set[tuple[str, ...]] = set()
    for row in rows:
        fact = tuple(part.casefold() for part in row[:3])
        if row.text not in texts and fact not in facts:
            texts.add(row.text)
            facts.add(fact)
            yield row


def _given(folder: Path) -> Iterator[FactRow]:
    with gzip.open(folder / "facts.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            subject, relation, target = (words_of(row[part]) for part in "spo")
            name = " ".join(re.sub(r"[^A-Za-z0-9_]", " ", relation).split())[:200]
            text = f"{subject} {relation} {target}, from {row['start']} until {row['end']}."
            yield FactRow(subject, name, target, text)


def _invented(seed: int) -> Iterator[FactRow]:
    for text in invented_sentences(seed):
        match = _INVENTED.fullmatch(text)
        assert match is not None
        yield FactRow(match[1], match[2].upper(), match[3], text)


def words_of(name: str) -> str:
    """Returns a name without quotes and brackets; `memberOf` becomes `member of`."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda m: " " + m[0].lower(), re.sub(r'[<>"]', "", name))
