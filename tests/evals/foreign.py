"""Two data sets in one space, with facts about one of them: how much of it questions about the other find."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gateway.cli.ingest.files import File
from gateway.content_types import CONTENT_TYPES
from tests.benchmarks.command import Options, UsageError
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import running_stack
from tests.evals.asking import ask_all, chosen_modes, ranked_documents
from tests.evals.datasets import Dataset, Question, read_multihop, read_rows
from tests.evals.loading import load
from tests.evals.metrics import mean, recall_at

ASKED = "hotpot_train100"
FOREIGN = "musique_train100"
FACTS = "facts.jsonl"
K = 5
# The modes that are compared by default.
COMPARED = ("hybrid", "comprehensive")


class Found(NamedTuple):
    """A mode's averages: foreign entries per question, and recall of the answering documents in percent."""

    foreign: float
    recall: float


async def measure_foreign(options: Options) -> None:
    """Asks the questions of one set in a space that also contains the other set and its facts."""
    modes = COMPARED if options.mode == "all" else chosen_modes(options.mode)
    folder = options.folder()
    for name in (ASKED, FOREIGN):
        if not (folder / name).is_dir():
            raise UsageError(
                f"{folder} holds neither questions.jsonl nor the folders {ASKED} and {FOREIGN}"
            )
    asked, foreign = read_multihop(folder / ASKED), read_multihop(folder / FOREIGN)
    facts = list(stated_facts(read_rows(folder / FOREIGN, "openie.jsonl.gz"), FOREIGN))
    questions = asked.questions[: options.queries]
    figures = Figures("relevance")
    found: dict[str, Found] = {}
    async with running_stack() as stack:
        with tempfile.TemporaryDirectory(prefix="braid-relevance-") as place:
            sources = _written(Path(place), {ASKED: asked, FOREIGN: foreign}, facts)
            figures.put("facts_refused", await load(stack, sources, FACTS), "facts")
        pairs = [(question.text, None) for question in questions]
        for mode in modes:
            answers = await ask_all(stack.addresses["gateway"], mode, pairs)
            found[mode] = _found(questions, answers)
            figures.put(f"{mode}.foreign@{K}", found[mode].foreign, "entries")
            figures.put(f"{mode}.recall@{K}", found[mode].recall, "percent")
    if found.keys() >= set(COMPARED):
        alone, fused = (found[mode] for mode in COMPARED)
        figures.put(f"foreign_excess@{K}", fused.foreign - alone.foreign, "entries")
        figures.put(f"recall@{K}_difference", fused.recall - alone.recall, "points")


def _found(questions: Sequence[Question], answers: Sequence[dict[str, Any]]) -> Found:
    recalls = [
        recall_at(
            ranked_documents(answer), [document_id(ASKED, one) for one in question.relevance], K
        )
        for question, answer in zip(questions, answers, strict=True)
    ]
    foreign = mean([float(foreign_entries(answer)) for answer in answers])
    return Found(foreign, 100 * mean(recalls))


def document_id(name: str, passage: str) -> str:
    """Returns the id of a set's passage in the common space, as both sets number their passages."""
    return f"{name}/{passage}"


def foreign_entries(answer: dict[str, Any], k: int = K) -> int:
    """Returns how many of the first `k` entries are not from the set of the question."""
    own = document_id(ASKED, "")
    return sum(not (hit.get("document_id") or "").startswith(own) for hit in answer["results"][:k])


def stated_facts(rows: Iterator[dict[str, Any]], name: str) -> Iterator[dict[str, str]]:
    """Yields triples of `openie.jsonl` as facts that cite their passages, if subject and object differ."""
    for row in rows:
        for subject, relation, target in row["triples"]:
            if subject != target:
                yield {
                    "subject": subject,
                    "relation": relation,
                    "object": target,
                    "document_id": document_id(name, row["id"]),
                }


def _written(place: Path, sets: dict[str, Dataset], facts: Sequence[dict[str, str]]) -> list[File]:
    corpus, stated = place / "corpus.jsonl", place / FACTS
    with corpus.open("w", encoding="utf-8") as lines:
        for name, data in sets.items():
            for document in data.documents:
                row = {
                    "id": document_id(name, document.id),
                    "title": document.title,
                    "text": document.text,
                }
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    with stated.open("w", encoding="utf-8") as lines:
        for fact in facts:
            lines.write(json.dumps(fact, ensure_ascii=False) + "\n")
    return [File(path, path.name, CONTENT_TYPES[".jsonl"]) for path in (corpus, stated)]
