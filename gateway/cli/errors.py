"""What the command tells a person when it cannot do what was asked: one line, never a traceback."""

from __future__ import annotations


class CliError(Exception):
    """A failure with its reason; `request_id` names it in the services' logs. `fields` as REST lists them."""

    def __init__(
        self,
        detail: str,
        *,
        reason: str = "",
        request_id: str = "",
        fields: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason
        self.request_id = request_id
        self.fields = fields

    def line(self) -> str:
        """The one line that is shown."""
        parts = (self.reason, self.request_id and f"request {self.request_id}")
        told = ", ".join(part for part in parts if part)
        return f"{self.detail} ({told})" if told else self.detail


class AwayError(CliError):
    """The gateway did not answer: it may do so later."""
