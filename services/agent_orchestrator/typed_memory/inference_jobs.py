"""Inference of relations as a job: accepted for a user, run by a worker page by page, resumed where it last saved."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from services.agent_orchestrator.jobs.records import JobRecord, NewJob
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.tasks import Counts, Task
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.agent_orchestrator.typed_memory.domain import Owner
from services.agent_orchestrator.typed_memory.inference import Inference, Inferred
from services.agent_orchestrator.typed_memory.store import Position
from services.runtime.context import current_call

INFER = "infer"
PAGE = 20
SLICE_SECONDS = 10.0


class InferenceJobs:
    """Accepts inference jobs."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    async def start(self, owner: Owner, limit: int) -> JobRecord:
        """Starts an inference over the owner's newest `limit` memories (0: all), or returns the unfinished one."""
        job = NewJob(
            space=owner.space,
            user=owner.user,
            request_id=current_call().request_id,
            kind=INFER,
            arguments={"limit": limit},
            input_hash=sha256(f"{INFER}\0{owner.user}\0{limit}".encode()).hexdigest(),
        )
        return await self._jobs.enqueue_alone(job, per_user=True)


class InferenceTask:
    """The handler of jobs of kind `infer`."""

    def __init__(self, inference: Inference, others_waiting: Callable[[], Awaitable[bool]]) -> None:
        self._inference = inference
        self._others_waiting = others_waiting

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Examines the newest memories first, from the saved position. Raises WaitingError to let others go first."""
        owner = Owner(task.job.space, task.job.user)
        done, after = _reached(task.job.progress)
        limit = int(task.job.arguments.get("limit", 0)) or None
        count = await self._inference.count(owner)
        total = count if limit is None else min(limit, count)
        await self._inference.sweep(owner)
        began = asyncio.get_running_loop().time()
        while after is not None and (limit is None or done.examined < limit):
            size = PAGE if limit is None else min(PAGE, limit - done.examined)
            page, after = await self._inference.examine(owner, after, size)
            done.add(page)
            await task.save(_progress(done, after), _counts(total, done.examined))
            used = asyncio.get_running_loop().time() - began > SLICE_SECONDS
            if used and await self._others_waiting():
                raise WaitingError("other jobs go first", 0.0)
        done.add(await self._inference.relate_co_accessed(owner))
        await self._inference.sweep(owner)  # also what was stored while the job ran
        return {"inferred": _counted(done)}


def _reached(progress: Mapping[str, Any] | None) -> tuple[Inferred, Position | None]:
    """Returns the earlier results and the next position; None if all memories were examined."""
    if not progress:
        return Inferred(), Position()
    done = Inferred(progress["examined"], Counter(progress["created"]), progress["removed"])
    if progress["after"] is None:
        return done, None
    create_time, id_ = progress["after"]
    return done, Position(datetime.fromisoformat(create_time), id_)


def _progress(done: Inferred, after: Position | None) -> dict[str, Any]:
    place = None if after is None else [after.create_time.isoformat(), after.id]
    return {**_counted(done), "after": place}


def _counted(done: Inferred) -> dict[str, Any]:
    return {"examined": done.examined, "created": dict(done.created), "removed": done.removed}


def _counts(total: int, examined: int) -> Counts:
    return Counts(max(total, examined), max(total, examined), examined)
