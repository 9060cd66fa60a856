"""Shows a job's progress until its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.cli.errors import StillRunningError

if TYPE_CHECKING:
    from gateway.cli.api import Api
    from gateway.cli.session import Session


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
