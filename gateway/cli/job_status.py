"""Job status: the polling interval, whether a job has ended, and the error for a failed one."""

from __future__ import annotations

from typing import Any

from gateway.cli.errors import CliError

POLL_SECONDS = 0.2  # from one look at a job to the next
_GOES_ON = frozenset({"QUEUED", "RUNNING"})


def has_ended(job: dict[str, Any]) -> bool:
    """Whether nothing of the job changes any more."""
    return job["state"] not in _GOES_ON


def require_success(job: dict[str, Any]) -> None:
    """CliError for a job that has failed."""
    if job["state"] == "FAILED":
        reasons = "; ".join(failure["reason"] for failure in job["failures"])
        raise CliError(f"the job failed: {reasons}")
