"""One run of a source: compares what is in it with what is stored, ingests what differs, and ends what is gone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.cli.documents import delete_and_wait
from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.cli.sources.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gateway.cli.api import Api
    from gateway.cli.ingest.files import Found
    from gateway.cli.session import Session
    from gateway.cli.sources.connector import Connector
    from gateway.cli.sources.spec import SourceSpec

# Documents in a page of the list.
_PAGE = 200
# What is noted of a run.
_MAX_NOTED = 20
_MAX_NOTE = 1000


@dataclass(frozen=True, slots=True)
class Run:
    """How a source is brought in step. `folder` is its root as the user gave it, if that is a folder."""

    spec: SourceSpec
    folder: Path | None = None
    erase: bool = False
    force: bool = False
    dry_run: bool = False

    def outcome(self, session: Session) -> dict[str, Any]:
        """Brings the documents in step; returns what was done. The service notes how it ended, and why if it failed."""
        with session.api(changes=not self.dry_run) as api:
            if self.dry_run:
                return self._compared(api, session)
            self.spec.put(api)
            try:
                outcome = self._compared(api, session)
            except CliError as error:
                _note(api, self.spec, {"error": str(error)[:_MAX_NOTE]})
                raise
            _note(api, self.spec, _noted(outcome))
            return outcome

    def _compared(self, api: Api, session: Session) -> dict[str, Any]:
        with self.spec.connector(session.environment, self.folder) as connector:
            stored = dict(_stored(api, self.spec.prefix))
            compared = Comparison.of(connector.listing(stored), stored)
            outcome: dict[str, Any] = {
                "source": self.spec.name,
                "prefix": self.spec.prefix,
                "new": list(compared.new),
                "changed": list(compared.changed),
                "unchanged": compared.unchanged,
                "vanished": list(compared.vanished),
            }
            if not self.dry_run:
                compared.require_plausible(self.spec.root, force=self.force)
                outcome["ingested"] = _ingested(api, session, connector, compared)
                outcome["removed"] = self._removed(api, session, compared.vanished)
        return outcome

    def _removed(self, api: Api, session: Session, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Ends or deletes documents; returns what was removed of each store and kind."""
        removed: Counter[tuple[str, str]] = Counter()
        for one in ids:
            for rows in delete_and_wait(api, session, one, keep_versions=not self.erase)["removed"]:
                removed[rows["store"], rows["kind"]] += rows["count"]
        return [
            {"store": store, "kind": kind, "count": count}
            for (store, kind), count in removed.items()
        ]


def _ingested(
    api: Api, session: Session, connector: Connector, compared: Comparison
) -> dict[str, Any]:
    from gateway.cli.ingest.ingestion import Ingest  # noqa: PLC0415
    from gateway.cli.progress import IngestProgress  # noqa: PLC0415

    def read(one: Found) -> Iterator[Found]:
        return connector.fetched(one) if isinstance(one, File) else iter((one,))

    with IngestProgress(session.err) as bars:
        report = Ingest(api, bars, replace=True).run(chain.from_iterable(map(read, compared.files)))
    return report.as_json()


def _stored(api: Api, prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the ids and metadata of a source's stored documents. Those of JSON lines have ids of their own."""
    cursor: str | None = None
    while True:
        page = api.get("/api/documents", prefix=prefix, limit=_PAGE, cursor=cursor)
        for one in page["documents"]:
            if one["source"] == one["id"]:
                yield one["id"], one["metadata"]
        cursor = page["next_cursor"]
        if not cursor:
            return


def _noted(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what is noted of a run that has ended."""
    ingested = outcome["ingested"]
    failures = [f"{one['path']}: {one['reason']}"[:_MAX_NOTE] for one in ingested["failures"]]
    return {
        "seconds": ingested["seconds"],
        "added": len(outcome["new"]),
        "changed": len(outcome["changed"]),
        "unchanged": outcome["unchanged"],
        "removed": len(outcome["vanished"]),
        "failed": len(failures),
        "failures": failures[:_MAX_NOTED],
        "skipped": [{"type": kind, "count": count} for kind, count in ingested["skipped"].items()],
    }


def _note(api: Api, spec: SourceSpec, run: Mapping[str, Any]) -> None:
    api.put(f"{spec.path}/last-run", {"seconds": 0.0, **run})
