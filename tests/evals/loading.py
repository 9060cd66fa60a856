"""Loads documents and facts over HTTP like `braid ingest`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rich.console import Console

from deploy.local.stack import LocalStack
from gateway.cli.api import Api
from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.cli.ingest.ingestion import Ingest, Report
from gateway.cli.progress import IngestProgress
from tests.benchmarks.command import MeasureError
from tests.benchmarks.figures import note
from tests.benchmarks.wait_for_index import settled

_SHOWN = 3


async def load(stack: LocalStack, sources: Sequence[File], facts: str) -> int:
    """Loads all sources; returns how many facts of the files named `facts` were refused.

    Waits until everything is searchable, in the graph and in the vector index. Raises MeasureError if a document was
    refused, because the figures would be about another corpus.
    """
    try:
        report = await asyncio.to_thread(_run, stack.addresses["gateway"], sources)
    except CliError as error:
        raise MeasureError(f"ingestion: {error}") from error
    refused = refused_facts(report, sources, facts)
    note(
        f"{report.documents} documents and {report.facts_added} facts loaded after {report.seconds:.1f} s"
    )
    await settled(stack)
    return refused


def refused_facts(report: Report, sources: Sequence[File], facts: str) -> int:
    """Returns how many facts of the files named `facts` were refused. Raises MeasureError if anything else was."""
    fact_files = {str(source.path) for source in sources if source.path.name == facts}
    others = [problem for problem in report.failures if problem.path not in fact_files]
    if others:
        raise MeasureError("; ".join(f"{one.path}: {one.reason}" for one in others[:_SHOWN]))
    for problem in report.failures[:_SHOWN]:
        note(f"a fact was refused: {problem.path}: {problem.reason}")
    return len(report.failures)


def _run(address: str, sources: Sequence[File]) -> Report:
    with Api(f"http://{address}") as api, IngestProgress(Console(stderr=True)) as bars:
        return Ingest(api, bars).run(sources)
