"""A progress reporter that keeps its messages for tests."""

from deploy.local.progress import Silent


class Notes(Silent):
    """A `StartProgress` that keeps messages and ignores everything else."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def note(self, text: str) -> None:
        """Keeps the message."""
        self.messages.append(text)
