"""What the command tells a person when it cannot do what was asked: one line, never a traceback."""

from __future__ import annotations

from typing import Any

INTERRUPTED = 130  # what a shell makes of Ctrl-C


class CliError(Exception):
    """A failure with its reason; `request_id` names it in the services' logs. `fields` as REST lists them, `code` is
    what the command exits with.
    """

    def __init__(
        self,
        detail: str,
        *,
        reason: str = "",
        request_id: str = "",
        fields: tuple[tuple[str, str], ...] = (),
        code: int = 1,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason
        self.request_id = request_id
        self.fields = fields
        self.code = code

    def line(self) -> str:
        """The one line that is shown."""
        parts = (self.reason, self.request_id and f"request {self.request_id}")
        context = ", ".join(part for part in parts if part)
        return f"{self.detail} ({context})" if context else self.detail

    def as_json(self) -> dict[str, Any]:
        """The failure for other programs, as REST has it; what is not known is left out."""
        fields = [{"field": name, "description": description} for name, description in self.fields]
        known = {"fields": fields, "request_id": self.request_id}
        failure = {"detail": self.detail, "reason": self.reason or "FAILED"}
        return failure | {name: value for name, value in known.items() if value}


class StillRunningError(CliError):
    """Ctrl-C ended the command, and not what it had started: `hint` says so, and how to look."""

    def __init__(self, hint: str) -> None:
        super().__init__(f"interrupted: {hint}", reason="INTERRUPTED", code=INTERRUPTED)


class UnreachableError(CliError):
    """The gateway did not answer: it may do so later."""
