"""Documents that go into the graph one by one: how far each is, and which of its passages were given up."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.agent_orchestrator.jobs.work import WaitingDocument

# Failures of a document alone while the graph serves, and answers to a passage that cannot be used, in a row. What is
# away, or at its limit, counts for nothing.
MOST_ATTEMPTS = 5


@dataclass(eq=False, slots=True)
class InHand:
    """A document that is sent alone: `through` of its passages are in the graph or given up; it goes on there.

    `part` is how many were sent last, `dead` the reasons of those given up.
    """

    through: int = 0
    part: int = 0
    blamed_at: int = 0
    dead: list[str] = field(default_factory=list)

    def attempts(self, document: WaitingDocument) -> int:
        """How often in a row it has failed with this time: anew from 1 where it has gone on since the last."""
        advanced, self.blamed_at = self.through > self.blamed_at, self.through
        return 1 if advanced else document.attempts + 1

    def give_up(self, reason: str) -> None:
        """Passes over the next passage: the others go on."""
        self.dead.append(reason)
        self.through += 1

    def reason(self, document: WaitingDocument) -> str:
        """Why it is not in the graph as a whole."""
        if document.chunks <= 1:
            return self.dead[0]
        return f"{len(self.dead)} of {document.chunks} passages: {self.dead[0]}"
