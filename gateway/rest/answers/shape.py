"""The base of every documented answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """A documented shape."""

    model_config = ConfigDict(extra="forbid")
