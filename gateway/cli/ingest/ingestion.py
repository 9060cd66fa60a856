"""Ingests files through the gateway: uploads, watches their jobs, then gives the facts."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File, Found, Problem, Skipped
from gateway.cli.ingest.jsonl_split import (
    FACT_BYTES,
    LINE_BYTES,
    Fact,
    LongLine,
    Part,
    WrongFact,
    read_lines,
    split,
)
from gateway.cli.job_status import POLL_SECONDS, has_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from gateway.cli.api import Api


# Limit of uploads that are not searchable yet. Uploads that only wait for the graph do not count.
MAX_PENDING_UPLOADS = 128
PAGE = 200
# Jobs that are not on the page of the latest, one request each.
ASKED_AT_ONCE = 20
MAX_FILE_BYTES = 63 * 1024 * 1024
# As many as fit in one message, so that a refused fact can be identified by its position.
FACTS_PER_REQUEST = 1000
_CUT_SHORT = frozenset({"FAILED", "CANCELLED"})
_PLACE = re.compile(r"facts\[(\d{1,9})\]")
_LINE = re.compile(r"^line (\d+)")


class Bars(Protocol):
    """Receives the progress of the ingestion."""

    def documents(self, total: int, searchable: int, graph_ready: int) -> None:
        """Sets the numbers of documents in total, searchable, and in the graph."""

    def facts(self, total: int, done: int) -> None:
        """Sets the numbers of facts in total, and processed."""

    def full(self, waits: bool) -> None:
        """Sets whether the gateway is at its limit, so that uploads wait."""


@dataclass(slots=True)
class Missing:
    """Facts that a file stated before and states no longer: some of them, their number, and how many were withdrawn."""

    path: str
    facts: list[str]
    total: int
    withdrawn: int


@dataclass(slots=True)
class _FactFile:
    """A file of JSON lines: its facts, its name as their source, and the revision of its first request."""

    path: str
    source: str
    facts: list[Fact] = field(default_factory=list)
    first_revision: int = 0


@dataclass(slots=True)
class Report:
    """The result of an ingestion."""

    documents: int = 0
    searchable: int = 0
    graph_ready: int = 0
    unchanged: int = 0
    chunks_written: int = 0
    facts_added: int = 0
    facts_unchanged: int = 0
    facts_missing: int = 0
    facts_withdrawn: int = 0
    missing: list[Missing] = field(default_factory=list)
    failures: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    # Numbers of files of unsupported types, by the end of their names.
    skipped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was given to ingest but files of unsupported types."""
        given = self.documents or self.facts_added or self.facts_unchanged or self.failures
        return bool(self.skipped) and not given

    def as_json(self) -> dict[str, Any]:
        """Returns the report as plain values."""
        return asdict(self)


@dataclass(slots=True)
class _Running:
    """A job that has not ended: its file, its line numbers if the file was split, and its last known state."""

    path: str
    lines: list[int]
    job: dict[str, Any]

    @property
    def read(self) -> bool:
        """Whether all of its documents are searchable or failed, so that it waits only for the graph."""
        total: int = self.job["documents_total"]
        done: int = self.job["documents_searchable"] + self.job["documents_failed"]
        return done >= total


@dataclass(slots=True)
class _Sums:
    """Counts of documents of several jobs."""

    total: int = 0
    searchable: int = 0
    graph_ready: int = 0
    failed: int = 0

    def add(self, job: dict[str, Any]) -> None:
        """Adds the counts of a job."""
        self.total += job["documents_total"]
        self.searchable += job["documents_searchable"]
        self.graph_ready += job["documents_graph_ready"]
        self.failed += job["documents_failed"]


class Ingest:
    """One ingestion of many files. Files that fail are listed, and the others continue."""

    def __init__(
        self,
        api: Api,
        bars: Bars,
        *,
        replace: bool = False,
        expires_at: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`replace`: whether facts that a file stated before and states no longer are withdrawn.

        `expires_at` is when the documents are deleted automatically, in RFC 3339; "" is never.
        """
        self._api = api
        self._replace = replace
        self._expires_at = expires_at
        self._bars = bars
        self._sleep = sleep
        self._running: list[_Running] = []
        self._ended = _Sums()
        self._files: list[_FactFile] = []
        self.report = Report()

    def run(self, found: Iterable[Found]) -> Report:
        """Ingests all files; facts last, because they cite documents. Raises CliError if the gateway is unavailable."""
        began = time.monotonic()
        for item in found:
            if isinstance(item, Problem):
                self.report.failures.append(item)
            elif isinstance(item, Skipped):
                self.report.skipped[item.type] = self.report.skipped.get(item.type, 0) + 1
            else:
                self._take(item)
        while self._running:
            self._poll()
        self._give_facts()
        self.report.seconds = round(time.monotonic() - began, 3)
        return self.report

    def _take(self, file: File) -> None:
        try:
            if file.kind == "application/jsonl":
                self._take_lines(file)
                return
            if file.path.stat().st_size > MAX_FILE_BYTES:
                self._fail(file.place, f"is larger than {MAX_FILE_BYTES} bytes")
                return
            self._upload(file, file.path.read_bytes(), [])
        except OSError as error:
            self._fail(file.place, (error.strerror or str(error)).lower())

    def _take_lines(self, file: File) -> None:
        facts = _FactFile(file.place, file.id)
        with file.path.open("rb") as lines:
            empty = True
            for item in split(read_lines(lines)):
                empty = False
                if isinstance(item, Part):
                    self._upload(file, bytes(item.data), item.lines)
                elif isinstance(item, LongLine):
                    reason = f"line {item.line}: is longer than {LINE_BYTES} bytes"
                    self._fail(file.place, reason)
                elif isinstance(item, WrongFact):
                    self._fail(file.place, f"line {item.line}: {item.reason}")
                else:
                    _cite(file, item.body)
                    facts.facts.append(item)
        if empty and not self._replace:
            self._fail(file.place, "is empty")
        # To replace, a file without facts counts too: it states nothing any more.
        if facts.facts or self._replace:
            self._files.append(facts)

    def _upload(self, file: File, data: bytes, lines: list[int]) -> None:
        try:
            fields = {
                "title": file.title,
                "valid_at": file.valid_at,
                "expires_at": self._expires_at,
            }
            if file.address:
                # Its name may say nothing about its type, or something else.
                fields["content_type"] = file.kind
            if file.metadata:
                fields["metadata"] = json.dumps(dict(file.metadata))
            fields = {name: value for name, value in fields.items() if value}
            job = self._api.upload(file.id, data, file.kind, self._bars.full, **fields)["job"]
        except CliError as error:
            if not error.fields:
                raise
            self._fail(file.place, "; ".join(description for _, description in error.fields))
            return
        self._running.append(_Running(file.place, lines, job))
        self._sum()
        while sum(not one.read for one in self._running) >= MAX_PENDING_UPLOADS:
            self._poll()

    def _poll(self) -> None:
        listed = {job["id"]: job for job in self._api.latest_jobs(PAGE)}
        for running in self._asked(listed.keys()):
            running.job = listed.get(running.job["id"]) or self._job(running)
            if has_ended(running.job):
                self._running.remove(running)
                self._end(running)
        self._sum()
        if self._running:
            self._sleep(POLL_SECONDS)

    def _asked(self, listed: Collection[str]) -> list[_Running]:
        """Returns the jobs to check now: all in the list of latest jobs, and a few others in turn, unread first."""
        others = [one for one in self._running if one.job["id"] not in listed]
        others.sort(key=lambda one: one.read)
        asked = others[:ASKED_AT_ONCE]
        at_hand = [one for one in self._running if one.job["id"] in listed]
        self._running = [*at_hand, *others[ASKED_AT_ONCE:], *asked]
        return [*at_hand, *asked]

    def _job(self, running: _Running) -> dict[str, Any]:
        try:
            job: dict[str, Any] = self._api.job(running.job["id"])
        except CliError as error:
            if error.reason != "NOT_FOUND":
                raise
            return running.job | {"state": "FAILED"}
        return job

    def _end(self, running: _Running) -> None:
        if _is_cut(running.job):
            running.job = self._job(running)
        job = running.job
        self._ended.add(job)
        self.report.unchanged += job["documents_unchanged"]
        self.report.chunks_written += job["chunks_written"]
        for failure in job["failures"]:
            self._fail(running.path, _located(failure, running.lines))
        for warning in job["warnings"]:
            self.report.warnings.append(Problem(running.path, _warned(warning, job)))
        unlisted = job["documents_failed"] - len(job["failures"])
        if unlisted > 0:
            self._fail(running.path, f"{unlisted} more documents could not be taken")
        if job["state"] in _CUT_SHORT and not job["failures"]:
            self._fail(running.path, "the job ended before its documents were done")

    def _sum(self) -> None:
        sums = replace(self._ended)
        for running in self._running:
            sums.add(running.job)
        report = self.report
        report.documents, report.searchable = sums.total, sums.searchable
        report.graph_ready = sums.graph_ready
        self._bars.documents(sums.total - sums.failed, sums.searchable, sums.graph_ready)

    def _give_facts(self) -> None:
        total, done = sum(len(one.facts) for one in self._files), 0
        for file in self._files:
            for facts, last in _requests(file.facts):
                self._give(file, facts, last=last)
                done += len(facts)
                self._bars.facts(total, done)

    def _give(self, file: _FactFile, facts: list[Fact], *, last: bool) -> None:
        """Sends facts; those that the contract refuses are listed, and the others are sent again."""
        while True:
            stated = {"source": file.source, "first_revision": file.first_revision}
            if not last:
                stated["more_follows"] = "true"
            elif self._replace and not self._refused_of(file):
                stated["replace"] = "true"
            try:
                answer = self._api.facts([fact.body for fact in facts], self._bars.full, **stated)
            except CliError as error:
                wrong = _wrong_facts(error)
                if not wrong:
                    raise
                for place, reason in wrong.items():
                    self._fail(file.path, f"line {facts[place].line}: {reason}")
                facts = [fact for place, fact in enumerate(facts) if place not in wrong]
                continue
            self._note_facts(file, facts, answer)
            return

    def _refused_of(self, file: _FactFile) -> bool:
        return any(problem.path == file.path for problem in self.report.failures)

    def _note_facts(self, file: _FactFile, facts: list[Fact], answer: dict[str, Any]) -> None:
        report = self.report
        file.first_revision = answer["first_revision"]
        report.facts_added += answer["added"]
        report.facts_unchanged += answer["unchanged"]
        report.facts_missing += answer["missing_total"]
        report.facts_withdrawn += answer["withdrawn"]
        if answer["missing_total"]:
            missing = Missing(
                file.path,
                [one["fact"] for one in answer["missing"]],
                answer["missing_total"],
                answer["withdrawn"],
            )
            report.missing.append(missing)
        for refused in answer["refused"]:
            fact = facts[refused["index"]]
            self._fail(file.path, f"line {fact.line}: {refused['reason']}")

    def _fail(self, path: str, reason: str) -> None:
        self.report.failures.append(Problem(path, reason))


def _cite(file: File, fact: dict[str, Any]) -> None:
    """Lets a fact cite the document of a file that it names by its path within the folder."""
    for name in ("document", "document_id"):
        if isinstance(cited := fact.get(name), str):
            fact[name] = file.document_id_of(cited)


def _requests(facts: Sequence[Fact]) -> Iterator[tuple[list[Fact], bool]]:
    """Splits a file's facts into requests of the maximum size, at least one; marks the last."""
    taken: list[Fact] = []
    size = 0
    for fact in facts:
        if taken and (len(taken) == FACTS_PER_REQUEST or size + fact.size > FACT_BYTES):
            yield taken, False
            taken, size = [], 0
        taken.append(fact)
        size += fact.size
    yield taken, True


def _is_cut(job: dict[str, Any]) -> bool:
    """Whether a job has more failures or warnings than a list of jobs shows of it."""
    return bool(
        job["documents_failed"] > len(job["failures"])
        or job["warnings_total"] > len(job["warnings"])
    )


def _warned(warning: dict[str, Any], job: dict[str, Any]) -> str:
    """Returns a warning's text; with the document's id if the file has several documents."""
    return f"{warning['id']}: {warning['text']}" if job["documents_total"] > 1 else warning["text"]


def _located(failure: dict[str, str], lines: list[int]) -> str:
    """Returns a failure's reason with line numbers of the file instead of those of the uploaded part."""
    if not lines:
        return failure["reason"]

    def counted(found: re.Match[str]) -> str:
        number = int(found[1])
        return f"line {lines[number - 1] if 0 < number <= len(lines) else number}"

    name = _LINE.sub(counted, failure["id"])
    return f"{name}: {_LINE.sub(counted, failure['reason'])}"


def _wrong_facts(error: CliError) -> dict[int, str]:
    wrong: dict[int, str] = {}
    for name, description in error.fields:
        found = _PLACE.match(name)
        if found:
            rest = name[found.end() :].lstrip(".")
            wrong.setdefault(int(found[1]), f"{rest}: {description}" if rest else description)
    return wrong
