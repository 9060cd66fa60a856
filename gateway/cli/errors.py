"""What the command tells a person when it cannot do what was asked: one line, never a traceback."""

from __future__ import annotations

from typing import Any

from gateway.cli.exit_codes import ExitCode, of_reason

_SELF_EVIDENT = frozenset({"USAGE", "INTERRUPTED"})


class CliError(Exception):
    """A failure with its reason; `request_id` names it in the services' logs. `fields` as REST lists them, `code` is
    what the command exits with; by default it follows from the reason.
    """

    def __init__(
        self,
        detail: str,
        *,
        reason: str = "",
        request_id: str = "",
        fields: tuple[tuple[str, str], ...] = (),
        code: ExitCode | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason
        self.request_id = request_id
        self.fields = fields
        self.code = of_reason(reason) if code is None else code

    def line(self) -> str:
        """The one line that is shown."""
        reason = "" if self.reason in _SELF_EVIDENT else self.reason
        parts = (reason, self.request_id and f"request {self.request_id}")
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
        super().__init__(f"interrupted: {hint}", reason="INTERRUPTED")


class UnreachableError(CliError):
    """The gateway did not answer: it may do so later."""
