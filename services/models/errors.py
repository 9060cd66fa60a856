"""How a model fails: one exception, safe to log and to send to a caller."""

from __future__ import annotations

from services.runtime.errors import EmbedderUnavailableError


class EmbedderUnavailable(EmbedderUnavailableError):  # noqa: N818 - the state's own name
    """No vectors now. `cause` is a short fixed phrase: never the text, the key or the provider's words.

    `retry_after` is in seconds, None when no wait is known to help.
    """

    def __init__(self, cause: str, *, retry_after: float | None = None) -> None:
        super().__init__()
        self.cause = cause
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.message} ({self.cause})"
