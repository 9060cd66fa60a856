"""How much may wait: uploads and jobs are counted in before their bytes are read, and out when they end."""

from __future__ import annotations

from services.runtime.errors import OverloadedError

RETRY_AFTER = 1.0


class Backlog:
    """Places for jobs and for their bytes, over all spaces."""

    def __init__(self, *, max_jobs: int, max_bytes: int) -> None:
        self._max_jobs = max_jobs
        self._max_bytes = max_bytes
        self._jobs = 0
        self._bytes = 0

    def enter(self) -> Place:
        """A place for one more job. OverloadedError when there is none; nothing was read then."""
        if self._jobs >= self._max_jobs or self._bytes >= self._max_bytes:
            raise OverloadedError(RETRY_AFTER)
        self._jobs += 1
        return Place(self)

    def hold(self, count: int) -> None:
        """Counts bytes in. OverloadedError when they are too many."""
        if self._bytes + count > self._max_bytes:
            raise OverloadedError(RETRY_AFTER)
        self._bytes += count

    def release(self, jobs: int, count: int) -> None:
        """Counts jobs and bytes out."""
        self._jobs -= jobs
        self._bytes -= count


class Place:
    """One job's place in the backlog."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog
        self._held = 0
        self._left = False

    def hold(self, count: int) -> None:
        """`count` more bytes of the job wait. OverloadedError when the backlog is full."""
        self._backlog.hold(count)
        self._held += count

    def leave(self) -> None:
        """The job waits no more. Leaving twice is leaving once."""
        if not self._left:
            self._left = True
            self._backlog.release(1, self._held)
