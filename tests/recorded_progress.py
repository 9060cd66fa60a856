"""A progress reporter that keeps its messages for tests."""


class Notes:
    """A `StartProgress` that keeps messages and ignores amounts."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def note(self, text: str) -> None:
        """Keeps the message."""
        self.messages.append(text)

    def amount(self, task: str, done: int, total: int) -> None:
        """Ignores the amount."""
