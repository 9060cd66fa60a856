"""Errors of the command, shown as one line, never as a traceback."""

from __future__ import annotations

from typing import Any

from gateway.cli.exit_codes import ExitCode, of_reason

_SELF_EVIDENT = frozenset({"USAGE", "INTERRUPTED"})


class CliError(Exception):
    """A failure with its reason; `request_id` identifies it in the services' logs. `fields` are as in REST; `code` is
    the command's exit code, by default derived from the reason.
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
        """Returns the line to show."""
        reason = "" if self.reason in _SELF_EVIDENT else self.reason
        parts = (reason, self.request_id and f"request {self.request_id}")
        context = ", ".join(part for part in parts if part)
        return f"{self.detail} ({context})" if context else self.detail

    def as_json(self) -> dict[str, Any]:
        """Returns the failure as JSON in the form of REST; unknown fields are left out."""
        fields = [{"field": name, "description": description} for name, description in self.fields]
        known = {"fields": fields, "request_id": self.request_id}
        failure = {"detail": self.detail, "reason": self.reason or "FAILED"}
        return failure | {name: value for name, value in known.items() if value}


class StillRunningError(CliError):
    """Ctrl-C ended the command but not the work that it had started: `hint` says how to check that work."""

    def __init__(self, hint: str) -> None:
        super().__init__(f"interrupted: {hint}", reason="INTERRUPTED")


class UnreachableError(CliError):
    """The gateway did not answer; a retry may succeed."""
