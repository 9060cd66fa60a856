"""Reading evaluation sets from disk."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.command import UsageError
from tests.evals.datasets import read_multihop, read_scifact


def _write(path: Path, *rows: dict[str, Any]) -> None:
    with gzip.open(path, "wt") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def _multihop(folder: Path) -> None:
    _write(folder / "corpus.jsonl.gz", {"id": "p1", "title": "Ämt", "text": "First."})
    _write(folder / "queries.jsonl.gz", {"id": "q1", "question": "Which?", "gold": ["p1"]})


def test_a_multihop_folder_has_documents_and_questions_with_their_gold(tmp_path: Path) -> None:
    _multihop(tmp_path)
    data = read_multihop(tmp_path)
    assert [document.passage for document in data.documents] == ["Ämt\nFirst."]
    assert json.loads(data.documents[0].line()) == {"id": "p1", "title": "Ämt", "text": "First."}
    assert [(q.text, q.relevance) for q in data.questions] == [("Which?", {"p1": 1.0})]


def test_files_may_be_uncompressed_json_lines(tmp_path: Path) -> None:
    _multihop(tmp_path)
    packed = tmp_path / "corpus.jsonl.gz"
    (tmp_path / "corpus.jsonl").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    assert len(read_multihop(tmp_path).documents) == 1


def test_scifact_keeps_only_judged_questions_and_relevant_documents(tmp_path: Path) -> None:
    _write(tmp_path / "corpus.jsonl.gz", {"_id": "1", "title": "T", "text": "x"})
    _write(tmp_path / "queries.jsonl.gz", {"_id": "7", "text": "a"}, {"_id": "8", "text": "b"})
    (tmp_path / "qrels").mkdir()
    rows = "query-id\tcorpus-id\tscore\n7\t1\t1\n7\t2\t0\n"
    (tmp_path / "qrels" / "test.tsv").write_text(rows)
    data = read_scifact(tmp_path)
    assert [(q.id, q.relevance) for q in data.questions] == [("7", {"1": 1.0})]


def test_a_missing_file_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"corpus\.jsonl\.gz is missing"):
        _write(tmp_path / "queries.jsonl.gz")
        read_multihop(tmp_path)


def test_a_malformed_line_is_named_in_the_error(tmp_path: Path) -> None:
    _multihop(tmp_path)
    with gzip.open(tmp_path / "corpus.jsonl.gz", "at") as lines:
        lines.write("{broken\n")
    with pytest.raises(UsageError, match="line 2 is not JSON"):
        read_multihop(tmp_path)


def test_a_folder_without_questions_is_rejected(tmp_path: Path) -> None:
    _multihop(tmp_path)
    _write(tmp_path / "queries.jsonl.gz")
    with pytest.raises(UsageError, match="no documents or no questions"):
        read_multihop(tmp_path)
