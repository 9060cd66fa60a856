"""Job status: the polling interval, whether a job has ended, waiting for its end, and the error for a failed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.cli.errors import CliError, StillRunningError

if TYPE_CHECKING:
    from gateway.cli.api import Api
    from gateway.cli.session import Session

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


def wait_for_end(api: Api, session: Session, job: dict[str, Any]) -> dict[str, Any]:
    """Waits for the end of the job and shows its progress; returns the ended job."""
    from gateway.cli.progress import IngestProgress  # noqa: PLC0415 - only those who wait pay for it

    try:
        with IngestProgress(session.err) as bars:
            for seen in api.followed(job):
                total = seen["documents_total"]
                bars.documents(total, seen["documents_searchable"], seen["documents_graph_ready"])
    except KeyboardInterrupt:
        raise StillRunningError(f"the job goes on; `braid jobs get {job['id']}` shows it") from None
    return seen
