"""What was sent and how it ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Findings:
    """Counts; samples are of the first case of each kind of failure, to send it again."""

    cases: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    undocumented: Counter[str] = field(default_factory=Counter)
    server_errors: Counter[str] = field(default_factory=Counter)
    samples: dict[str, str] = field(default_factory=dict)

    def note(self, kind: Counter[str], what: str, sample: str) -> None:
        """Counts something that should not have happened."""
        kind[what] += 1
        self.samples.setdefault(what, sample)

    def report(self) -> list[str]:
        """The failures in words, each with a sample."""
        return [
            f"{count} × {what}: {self.samples[what]}"
            for kind in (self.server_errors, self.undocumented)
            for what, count in sorted(kind.items())
        ]
