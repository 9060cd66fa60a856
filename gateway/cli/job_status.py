"""Job status: the polling interval, whether a job has ended, and the error for a failed one."""

from __future__ import annotations

from typing import Any

from gateway.cli.errors import CliError

POLL_SECONDS = 0.2  # polling interval
_GOES_ON = frozenset({"QUEUED", "RUNNING"})


def has_ended(job: dict[str, Any]) -> bool:
    """Whether the job has ended and will not change."""
    return job["state"] not in _GOES_ON


def require_success(job: dict[str, Any]) -> None:
    """Raises CliError if the job has failed."""
    if job["state"] == "FAILED":
        reasons = "; ".join(failure["reason"] for failure in job["failures"])
        raise CliError(f"the job failed: {reasons}")
