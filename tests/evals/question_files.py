"""Readers of question files in JSON lines: the project's own, or others in the same format."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.command import UsageError


def question_rows(data: Path | None, own: Path) -> list[dict[str, Any]]:
    """Returns the rows of a file, or of all `.jsonl` and `.jsonl.gz` files in a folder. Raises UsageError if empty."""
    path = own if data is None else data
    files = sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]
    rows = [row for file in files for row in _rows(file)]
    if not rows:
        raise UsageError(f"{path} holds no questions")
    return rows


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    if not file.is_file():
        raise UsageError(f"{file} is not a file")
    raw = file.read_bytes()
    text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode()
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                raise UsageError(f"{file}, line {number}: no JSON") from None
            if not isinstance(row, dict):
                raise UsageError(f"{file}, line {number}: no JSON object")
            yield row
