"""Results of fuzzing: counts of cases, outcomes and failures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Findings:
    """Counts, and a sample of each kind of failure with which it can be reproduced."""

    cases: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    undocumented: Counter[str] = field(default_factory=Counter)
    server_errors: Counter[str] = field(default_factory=Counter)
    samples: dict[str, str] = field(default_factory=dict)

    def note(self, kind: Counter[str], what: str, sample: str) -> None:
        """Counts a failure; keeps its first sample."""
        kind[what] += 1
        self.samples.setdefault(what, sample)

    def report(self) -> list[str]:
        """Describes the failures, each with a sample."""
        return [
            f"{count} × {what}: {self.samples[what]}"
            for kind in (self.server_errors, self.undocumented)
            for what, count in sorted(kind.items())
        ]
