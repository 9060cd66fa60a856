"""Checks that the stack starts and ingests on a tenth of the machine: nothing is lost, no turn is started over."""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
import urllib.request
from collections.abc import Sequence

from prometheus_client.parser import text_string_to_metric_families

from braid.agent.v1 import ingest_pb2_grpc, jobs_pb2, jobs_pb2_grpc
from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.credentials import credential
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.generated import invented_sentences
from tests.benchmarks.harness import channel_to, running_stack, temporary_data
from tests.benchmarks.uploading import Text, upload
from tests.throttling import Throttle

SHARE = 0.1
_DOCUMENTS = 300
_UPLOADS = 6
_LIMIT = 2400.0
# Turns that ended before their work was done, so that some of it was done again.
_STARTED_OVER = {"waiting", "failed", "lost"}
_STAGES = {"search", "graph"}
_INTERRUPTED_STARTS = 8
_LATEST_KILL = 20.0


async def run(options: Options) -> None:
    """Starts the stack and ingests short documents; `MODE=interrupted` kills first starts at random moments before."""
    figures = Figures(options.name)
    texts = _texts(options.seed)
    with temporary_data() as data:
        if options.mode == "interrupted":
            kills = options.queries or _INTERRUPTED_STARTS
            for place in range(kills):
                await _interrupt(str(data), random.Random(f"{options.seed}-{place}"))  # noqa: S311
        throttle = Throttle(SHARE)
        try:
            async with asyncio.timeout(_LIMIT):
                with throttle:
                    async with running_stack(
                        data, environment={"BRAID_METRICS_LISTEN": "127.0.0.1:0"}
                    ) as stack:
                        figures.put("started", 1, "starts")
                        lost = await _lost(stack, texts)
                        again = await asyncio.to_thread(_started_over, stack)
                        throttle.end()
        except TimeoutError:
            raise MeasureError(f"it was not done in {_LIMIT:.0f} s") from None
    note(f"{throttle.cpu_seconds:.0f} s of processor time in {throttle.seconds:.0f} s")
    figures.put("documents", len(texts), "documents")
    figures.put("lost", lost, "documents")
    figures.put("restarted_turns", again, "turns")


def _texts(seed: int) -> list[Text]:
    sentences = itertools.islice(invented_sentences(seed), _DOCUMENTS)
    return [Text(f"slow-{n}", f"Slow {n}", text) for n, text in enumerate(sentences)]


async def _interrupt(data: str, chance: random.Random) -> None:
    """Starts the stack in another process and kills that at a random moment."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.benchmarks.supervised", data),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    seconds = chance.uniform(0.2, _LATEST_KILL)
    try:
        await asyncio.wait_for(process.wait(), seconds)
        raise MeasureError("a start ended by itself")
    except TimeoutError:
        note(f"killed after {seconds:.1f} s")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _lost(stack: LocalStack, texts: Sequence[Text]) -> int:
    """Ingests the documents in several uploads; returns how many are not in both stores at the end."""
    called = credential(stack.data, "throttled")
    async with channel_to(stack, "agent_orchestrator") as channel:
        ingest, jobs = (
            ingest_pb2_grpc.IngestServiceStub(channel),
            jobs_pb2_grpc.JobServiceStub(channel),
        )
        size = len(texts) // _UPLOADS
        accepted = [
            await upload(ingest, texts[start : start + size], called)
            for start in range(0, len(texts), size)
        ]
        ready = 0
        for job in accepted:
            request = jobs_pb2.WatchJobRequest(job_id=job.id)
            async for answer in jobs.WatchJob(request, metadata=called, timeout=_LIMIT):
                last = answer.job
                if last.waiting_for:
                    note(f"{last.searchable_count} of {last.unit_count}: {last.waiting_for}")
            for failure in last.failures:
                note(f"{failure.document_id}: {failure.reason}")
            ready += last.graph_ready_count
    return len(texts) - ready


def _started_over(stack: LocalStack) -> int:
    """Returns the number of turns of workers that ended before their work was done."""
    count = 0
    for name, address in stack.metrics.items():
        if not name.startswith("agent_worker"):
            continue
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == "braid_turns_total" and _is_restart(sample.labels):
                    note(
                        f"{sample.value:.0f} × {sample.labels['stage']} {sample.labels['outcome']}"
                    )
                    count += int(sample.value)
    return count


def _is_restart(labels: dict[str, str]) -> bool:
    return labels["stage"] in _STAGES and labels["outcome"] in _STARTED_OVER
