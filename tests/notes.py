"""What a start tells, kept for a test to read."""


class Notes:
    """A `StartProgress` that keeps sentences; bytes it is told of are dropped."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        """Keep the sentence."""
        self.told.append(text)

    def amount(self, task: str, done: int, total: int) -> None:
        """Drop the amount."""
