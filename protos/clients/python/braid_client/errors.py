"""The exception of a failed call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from braid_protocol.errors import Failure


class BraidCallError(Exception):
    """A call to Braid failed; `failure` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.reason or failure.code.name}: {failure.message}")
        self.failure = failure
