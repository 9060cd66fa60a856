"""Errors' bodies."""

from __future__ import annotations

from pydantic import BaseModel

from gateway.rest.answers.shape import Shape


class FieldProblem(Shape):
    """A wrong field and what would be right."""

    field: str
    description: str


class Problem(BaseModel):
    """Every error's body."""

    detail: str
    reason: str
    request_id: str
    fields: list[FieldProblem] | None = None


class NotReady(Problem):
    """Which service is not serving."""

    services: dict[str, str]
