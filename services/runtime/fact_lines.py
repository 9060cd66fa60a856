"""Decides which JSON objects are given facts: one rule for every entry point that accepts JSON lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENDS_AND_RELATION = ("subject", "relation", "object")


def is_fact(values: Mapping[str, Any]) -> bool:
    """Returns whether an object has subject, relation and object, and no text; an object with a text is a document."""
    return values.keys() >= set(ENDS_AND_RELATION) and values.get("text") is None
