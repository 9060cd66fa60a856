"""The interface of a pipeline stage, and the call data that stages share."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.message import Message

    from services.runtime.identity import Identity


@dataclass(slots=True)
class Call:
    """A call on its way through the stages.

    `method` is the full path, `/package.Service/Method`; `deadline` is on the event loop's clock, in seconds.
    `default_deadline` equals it if the caller set none, as gRPC then does not end the call.
    """

    method: str
    metadata: Mapping[str, str]
    deadline: float | None
    request_id: str = ""
    identity: Identity | None = None
    default_deadline: float | None = None


class Stage:
    """A step around every call. Stages share no state except the call."""

    name: ClassVar[str]

    async def prepare(self, call: Call) -> None:
        """Does asynchronous work, after the earlier stages have been entered; raises to refuse the call."""

    def around(self, call: Call) -> AbstractContextManager[None]:  # noqa: ARG002 - a hook
        """Wraps the later stages and the handler."""
        return nullcontext()

    def on_message(self, call: Call, message: Message) -> None:
        """Checks each request message before the handler receives it; raises to refuse it."""
