"""One stage of the pipeline, and what the stages know of a call."""

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
    `default_deadline` is the same where the caller set none: gRPC does not end the call then.
    """

    method: str
    metadata: Mapping[str, str]
    deadline: float | None
    request_id: str = ""
    identity: Identity | None = None
    default_deadline: float | None = None


class Stage:
    """Something that happens around every call. Stages share no state but the call."""

    name: ClassVar[str]

    async def prepare(self, call: Call) -> None:
        """Does what has to be waited for, after the stages before this one have begun; raises to refuse the call."""

    def around(self, call: Call) -> AbstractContextManager[None]:  # noqa: ARG002 - a hook
        """Encloses the stages after this one and the handler."""
        return nullcontext()

    def on_message(self, call: Call, message: Message) -> None:
        """Sees each request message before the handler does; raises to refuse it."""
