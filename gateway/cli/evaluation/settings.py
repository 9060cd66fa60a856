"""The settings that an evaluation compares, and the goals that it must meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from gateway.cli.errors import CliError
from gateway.cli.search import Expansion, Rerank

MODES: Final = ("vector", "text", "hybrid", "graph", "comprehensive")
# Modes whose results can be expanded and reranked.
_WITH_STEPS: Final = ("hybrid", "comprehensive")
_MAX_LIMIT: Final = 50


@dataclass(frozen=True, slots=True)
class Setting:
    """How one side of a comparison searches: other values than the defaults.

    `url` is another gateway than the one that `braid` finds.
    """

    name: str
    url: str = ""
    limit: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    def body(self, mode: str, question: str, as_of: str | None, limit: int) -> dict[str, Any]:
        """Returns the body of a search."""
        steps = self.fields if mode in _WITH_STEPS else {}
        return {"query": question, "as_of": as_of, "limit": self.limit or limit, **steps}


DEFAULTS: Final = Setting("defaults")


def read_setting(text: str) -> Setting:
    """Parses `NAME=VALUE,NAME=VALUE`: url, limit, expansion, rerank. Raises CliError for anything else."""
    values: dict[str, str] = {}
    for pair in text.split(","):
        name, given, value = pair.strip().partition("=")
        if not given or not value or name in values or name not in _READERS:
            raise CliError(
                f"--against {text}: must be NAME=VALUE pairs of {', '.join(_READERS)}",
                reason="INVALID_FIELD",
            )
        values[name] = value
    fields = {
        name: _READERS[name](name, value)
        for name, value in values.items()
        if name not in {"url", "limit"}
    }
    limit = _limit("limit", values["limit"]) if "limit" in values else None
    return Setting(text, values.get("url", ""), limit, fields)


def _limit(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= _MAX_LIMIT:
        raise CliError(f"--against {name}: must be 1 to {_MAX_LIMIT}", reason="INVALID_FIELD")
    return int(value)


def _choice(kind: type[Expansion] | type[Rerank]) -> Any:
    def read(name: str, value: str) -> str:
        if value not in list(kind):
            raise CliError(
                f"--against {name}: must be one of {', '.join(kind)}", reason="INVALID_FIELD"
            )
        return value

    return read


_READERS: Final[dict[str, Any]] = {
    "url": lambda _name, value: value,
    "limit": _limit,
    "expansion": _choice(Expansion),
    "rerank": _choice(Rerank),
}


def read_goal(text: str) -> tuple[str, float]:
    """Parses `FIGURE=NUMBER`, such as `hybrid.recall@5=90`. Raises CliError for anything else."""
    name, _, value = text.rpartition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise CliError(
            f"--goal {text}: must be FIGURE=NUMBER, such as hybrid.recall@5=90",
            reason="INVALID_FIELD",
        ) from None
