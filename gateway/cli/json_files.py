"""Files of JSON that commands send as they are."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from gateway.cli.errors import CliError

if TYPE_CHECKING:
    from pathlib import Path

STANDARD_INPUT = "-"


def read_json(path: Path) -> Any:
    """The value in a file, or on standard input where the path is `-`. CliError when it is no JSON."""
    return _parsed(_text(path), str(path))


def read_items(path: Path, field: str) -> list[Any]:
    """The items in a file: a list, an object with a list under `field`, or one JSON value a line."""
    text = _text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        lines = [line for line in text.splitlines() if line.strip()]
        return [
            _parsed(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1)
        ]
    if isinstance(value, dict) and isinstance(value.get(field), list):
        return list(value[field])
    return value if isinstance(value, list) else [value]


def _text(path: Path) -> str:
    try:
        if str(path) == STANDARD_INPUT:
            return sys.stdin.buffer.read().decode()
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        raise CliError(f"{path}: must be UTF-8", reason="INVALID_FIELD") from None


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CliError(f"{place}: is no JSON: {error}", reason="INVALID_FIELD") from None
