"""Events of streams: what their lines `event:` and `data:` hold."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from gateway.rest.answers.jobs import Job
from gateway.rest.answers.problems import Problem
from gateway.rest.answers.searches import Comprehensive, LegFound
from gateway.rest.answers.shape import Shape


class LegEvent(Shape):
    """A leg has ended."""

    event: Literal["leg"]
    data: LegFound


class FinalEvent(Shape):
    """The whole answer, last in the stream."""

    event: Literal["final"]
    data: Comprehensive


class JobEvent(Shape):
    """A job as it stands."""

    event: Literal["job"]
    data: Job


class ErrorEvent(Shape):
    """What was asked for failed after the stream had begun; nothing follows."""

    event: Literal["error"]
    data: Problem


SearchEvent: TypeAlias = Annotated[LegEvent | FinalEvent | ErrorEvent, Field(discriminator="event")]
WatchEvent: TypeAlias = Annotated[JobEvent | ErrorEvent, Field(discriminator="event")]
