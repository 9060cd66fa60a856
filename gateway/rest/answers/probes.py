"""The gateway's own health."""

from __future__ import annotations

from typing import Literal

from gateway.rest.answers.shape import Shape


class Alive(Shape):
    """The process runs."""

    status: Literal["ok"]


class Readiness(Shape):
    """Every service that the gateway needs is serving."""

    status: Literal["ready"]
    services: dict[str, str]
