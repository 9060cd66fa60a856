"""The front matter of a Markdown document: YAML between two lines of three dashes at its start."""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any

import yaml

MAX_FRONT_MATTER = 64 * 1024
_START = re.compile(r"---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """Plain values without aliases: a few of those can stand for billions of values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError
        return super().compose_node(parent, index)


def read_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """The front matter as JSON values (dates as they are), and where the body begins.

    Text that starts with a line of dashes and goes on as anything but a YAML mapping has none.
    """
    opening = _START.match(text)
    if opening is None:
        return {}, 0
    closing = _END.search(text, opening.end(), opening.end() + MAX_FRONT_MATTER)
    if closing is None:
        return {}, 0
    try:
        # A SafeLoader: it makes plain values only.
        values = yaml.load(text[opening.end() : closing.start()], _Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, 0
    if not isinstance(values, dict):
        return {}, 0
    return {str(key): value for key, value in values.items()}, closing.end()


def as_json(value: Any, depth: int = 0) -> Any:
    """A YAML value as JSON has it: dates and whatever else JSON lacks as text. Nesting is cut at 40 levels."""
    if depth > 40:  # noqa: PLR2004 - beyond what metadata may have: it is refused there with its reason
        return None
    if isinstance(value, dict):
        return {str(key): as_json(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [as_json(inner, depth + 1) for inner in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
