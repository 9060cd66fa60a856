"""`braid up`: runs the local stack, loads the sample once, asks a question, and runs until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from gateway.cli import output
from gateway.cli.api import Api
from gateway.cli.discovery import StartedStacks
from gateway.cli.errors import CliError
from gateway.cli.ingest.ingestion import Ingest
from gateway.cli.progress import IngestProgress
from gateway.cli.sample import Question, Sample, put_sample_ontology
from gateway.cli.search import SHOWN_PARTS, show_comprehensive
from gateway.cli.terminal_escape import styled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gateway.cli.session import Session


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
LOADED = "sample.loaded"


@dataclass(frozen=True, slots=True)
class UpOptions:
    """Options of `braid up`."""

    sample: bool
    ask: bool
    free_ports: bool
    as_json: bool
    workers: int = 1
    replicas: int = 1


async def up(session: Session, data: Path, wishes: UpOptions) -> None:
    """Runs the stack until SIGINT or SIGTERM, then stops it cleanly. Raises CliError if it does not start."""
    from deploy.local.errors import LocalStackError  # noqa: PLC0415 - only this command runs the stack
    from deploy.local.processes import with_replicas, with_workers  # noqa: PLC0415
    from deploy.local.progress import ConsoleProgress  # noqa: PLC0415
    from deploy.local.stack import LocalStack  # noqa: PLC0415
    from deploy.local.stores import LocalStores  # noqa: PLC0415

    ports: Any = "free" if wishes.free_ports else "default"
    progress = ConsoleProgress(session.err)
    stores = LocalStores(data, progress=progress, record=True)
    try:
        with _cancelled_by_signals(), progress:
            progress.note(f"Starting PostgreSQL, Neo4j and Braid under {data} …")
            processes = with_replicas(with_workers(wishes.workers), wishes.replicas)
            async with LocalStack(
                data, ports=ports, progress=progress, processes=processes, stores=stores
            ) as stack:
                StartedStacks(session.environment).add(stack.data)
                try:
                    await greet(session, stack.data, stack.addresses, wishes)
                except CliError as error:
                    if wishes.as_json:
                        raise
                    # What has started keeps running: on a busy machine a question may be answered too late.
                    session.err.print(styled(f"{error}"), soft_wrap=True)
                    _show_addresses(
                        session, stack.addresses, f"http://{stack.addresses['gateway']}"
                    )
                await asyncio.Event().wait()
    except asyncio.CancelledError:
        session.err.print("Stopped.")
        with suppress(asyncio.CancelledError), _cancelled_by_signals():
            await stores.create_aot_cache()
    except LocalStackError as error:
        raise CliError(str(error)) from None


async def greet(session: Session, data: Path, addresses: dict[str, str], wishes: UpOptions) -> None:
    """Executes the options once the stack runs, and prints its address; with JSON output in one document."""
    url = f"http://{addresses['gateway']}"
    with Api(url) as api:  # closed when cancelled, which stops the thread
        if wishes.sample and not (data / LOADED).exists():
            await put_sample_ontology(addresses["graph_query"], Sample.of_the_stack())
            await asyncio.to_thread(load_sample, session, api, data)
        question = Sample.of_the_stack().question()
        include = () if wishes.as_json else SHOWN_PARTS
        answer = await asyncio.to_thread(ask, api, question, include) if wishes.ask else None
    if wishes.as_json:
        result: dict[str, Any] = {"url": url, "addresses": addresses}
        session.show_json(result if answer is None else result | {"answer": answer})
        return
    if answer is not None:
        show_answer(session, question, answer)
    _show_addresses(session, addresses, url)


def load_sample(session: Session, api: Api, data: Path) -> None:
    """Loads the sample and records that, so that data deleted later is not loaded again."""
    session.err.print("Loading the sample: the notes of an invented company …")
    with IngestProgress(session.err) as bars:
        report = Ingest(api, bars).run(Sample.of_the_stack().sources())
    for problem in report.failures:
        session.err.print(styled(f"{problem.path}: {problem.reason}"), soft_wrap=True)
    if not report.failures:
        (data / LOADED).touch()


def ask(api: Api, question: Question, include: Sequence[str] = ()) -> dict[str, Any]:
    """Asks one question and returns these parts of the answer, or all parts if none is given."""
    body = {"query": question.text, "limit": 5, "as_of": question.as_of, "include": include}
    answer: dict[str, Any] = api.query("/api/search/comprehensive", body)
    return answer


def show_answer(session: Session, question: Question, answer: dict[str, Any]) -> None:
    """Shows a question and its whole answer."""
    session.out.print(
        Text("\nQuestion: ").append_text(styled(question.text, "bold")), soft_wrap=True
    )
    show_comprehensive(session.out, answer)


def _show_addresses(session: Session, addresses: dict[str, str], url: str) -> None:
    session.out.print("")
    rows = {"REST": f"{url}/docs", "MCP": f"{url}/mcp"}
    hidden = ("gateway", "agent_worker")  # listed here; serves only health
    rows |= {f"gRPC {n}": address for n, address in addresses.items() if not n.startswith(hidden)}
    output.show_pairs(session.out, rows)
    session.out.print('Your own documents: braid ingest FOLDER, then braid ask "…"', markup=False)
    session.out.print("Running; Ctrl-C stops it.")
    session.out.print(Text("\nOpen ").append_text(styled(url, "bold")), soft_wrap=True)


@contextmanager
def _cancelled_by_signals() -> Iterator[None]:
    """Cancels the running task at the first signal; ignores later signals, so that the stores stop cleanly."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def cancel() -> None:
        for number in _SIGNALS:
            loop.add_signal_handler(number, lambda: None)
        if task is not None:
            task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, cancel)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
