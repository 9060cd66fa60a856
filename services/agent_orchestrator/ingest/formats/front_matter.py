"""The YAML front matter of documents, read leniently: what is not valid YAML costs no text."""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any, NamedTuple

import yaml

from services.agent_orchestrator.ingest.document_warnings import DocumentWarning, WarningReason
from services.runtime.patterns import compile_linear

MAX_FRONT_MATTER = 64 * 1024
_START = re.compile(r"\A---[ \t]{0,100}\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]{0,100}(?:\r?\n|\Z)", re.MULTILINE)
_PAIR = compile_linear(r"(\pL[\w .-]{0,60}):(?:[ \t]+(\S.*))?")
_AS_WRITTEN = frozenset({"title", "date", "source"})
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_NULL = "tag:yaml.org,2002:null"


class FrontMatter(NamedTuple):
    """The values of a document's front matter, where its body starts, and what was not understood."""

    values: dict[str, Any]
    body_start: int = 0
    warnings: tuple[DocumentWarning, ...] = ()


class _Loader(yaml.SafeLoader):
    """Loads plain values without aliases: a few aliases can expand to billions of values. Dates stay text."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError
        return super().compose_node(parent, index)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_front_matter(text: str) -> FrontMatter:
    """Reads the front matter as JSON values; title, date and source are text as it was written.

    If it is not valid YAML, plain `name: value` lines are read, and the others remain text. Text that starts with a
    line of dashes but has no such line has no front matter.
    """
    opening = _START.match(text)
    if opening is None:
        return FrontMatter({})
    closing = _END.search(text, opening.end(), opening.end() + MAX_FRONT_MATTER)
    if closing is None:
        return FrontMatter({})
    block = text[opening.end() : closing.start()]
    try:
        values = _yaml_values(block)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return _by_line(block, closing.end())
    return FrontMatter(values, closing.end()) if values is not None else FrontMatter({})


def _yaml_values(block: str) -> dict[str, Any] | None:
    loader = _Loader(block)
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return None
        written = {
            key.value: value.value
            for key, value in node.value
            if isinstance(key, yaml.ScalarNode)
            and isinstance(value, yaml.ScalarNode)
            and value.tag != _NULL
        }
        values = loader.construct_document(node)
    finally:
        loader.dispose()
    return _own_names(
        {
            str(key): written.get(key) if _is_own(key) and key in written else value
            for key, value in values.items()
        }
    )


def _by_line(block: str, end: int) -> FrontMatter:
    values: dict[str, Any] = {}
    unread = 0
    for line in block.splitlines():
        pair = _PAIR.fullmatch(line.rstrip())
        if pair is not None:
            values.setdefault(pair[1], _unquoted(pair[2] or ""))
        elif line.strip() and not line.startswith("#"):
            unread += 1
    if not values:
        return FrontMatter({})
    kept = f"; its other {unread} lines are part of the text" if unread else ""
    notice = (
        f"The front matter is not valid YAML: {len(values)} lines of it were read as values{kept}."
    )
    warning = DocumentWarning(WarningReason.METADATA_NOT_UNDERSTOOD, notice, "front matter")
    return FrontMatter(_own_names(values), 0 if unread else end, (warning,))


def _own_names(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values with the names of a document's own fields in lower case."""
    return {
        key.lower() if _is_own(key) and key.lower() not in values else key: value
        for key, value in values.items()
    }


def _is_own(key: Any) -> bool:
    return isinstance(key, str) and key.lower() in _AS_WRITTEN


def _unquoted(value: str) -> str:
    for mark in "\"'":
        if len(value) > 1 and value.startswith(mark) and value.endswith(mark):
            return value[1:-1]
    return value


def as_json(value: Any, depth: int = 0) -> Any:
    """Converts a YAML value to JSON: dates and other types that JSON lacks become text. Nesting is cut at 40 levels."""
    if depth > 40:  # noqa: PLR2004 - deeper than metadata may be, which is checked there
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
