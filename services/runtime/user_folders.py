"""A user's folders, as the XDG Base Directory Specification names them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Returns `$XDG_CACHE_HOME/braid`, by default `~/.cache/braid`; None if the user has no home folder."""
    return _folder(environment, "XDG_CACHE_HOME", ".cache")


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """Returns `$XDG_STATE_HOME/braid`, by default `~/.local/state/braid`; None if the user has no home folder."""
    return _folder(environment, "XDG_STATE_HOME", ".local/state")


def _folder(environment: Mapping[str, str], variable: str, default: str) -> Path | None:
    # A relative path is ignored, as the specification requires.
    base = Path(environment.get(variable, ""))
    if base.is_absolute():
        return base / "braid"
    home = Path(environment.get("HOME", ""))
    return home / default / "braid" if home.is_absolute() else None
