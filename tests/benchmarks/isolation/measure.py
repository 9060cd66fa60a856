"""Tries every operation between two spaces with two users each, with real and guessed ids; nothing may leak.

A leak is another's text or id in a response, a response that differs between another's real id and a guessed one or
that changes when another's data is loaded, or a change of another's data.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import permutations
from typing import Any

import httpx2

from deploy.local.stack import LocalStack
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, running_stack, temporary_data
from tests.benchmarks.isolation.agent_tools import ToolCaller, agent_tool_operations
from tests.benchmarks.isolation.detector import (
    NOT_SENT,
    Found,
    Leak,
    Outcome,
    difference,
    plain,
    same,
    seen_in,
)
from tests.benchmarks.isolation.interfaces import SECONDS, Operation, open_operations, outcome_of
from tests.benchmarks.isolation.people import Loading, Person, issue_keys
from tests.benchmarks.isolation.values import Given, guess_like
from tests.stubs.openai_server import OpenAIStub

_ADDS = ("Add", "BatchAdd", "Create", "Ingest")
# Joins what later operations delete.
_JOINS = "PutRelations"
_NEUTRAL = "weather report"
_POLLS, _POLL_SECONDS = 100, 0.1
# Views of a space's data, and of a user's own data.
_SHARED_VIEWS = ("/api/documents", "/api/facts", "/api/findings", "/api/ontology")
_OWN_VIEWS = ("/api/memories", "/api/memory/export", "/api/conversations", "/api/graph/stats")


async def run(options: Options) -> None:
    """Runs all trials; leaks go to standard error. Raises MeasureError if an operation could not be tried."""
    figures, found = Figures(options.name), Found()
    trials = [await _try_operations(found), await _try_agent_tools(found)]
    for leak in found.leaks:
        note(f"LEAK {leak.operation}: {leak.actor} from {leak.victim}: {leak.what}")
    count = sum(len(trial.operations) for trial in trials)
    unreached = {name: said for trial in trials for name, said in trial.unreached.items()}
    for name, said in sorted(unreached.items()):
        note(f"not reached: {name}: {said}")
    figures.put("operations", count, "operations")
    figures.put("operations_reached", count - len(unreached), "operations")
    figures.put("checked", found.checked, "checks")
    figures.put("leaks", len(found.leaks), "leaks")
    if unreached:
        raise MeasureError(
            f"{len(unreached)} operations were refused for their form, and so not tried"
        )


async def _try_operations(found: Found) -> Trial:
    """Tries every RPC, every endpoint, and every tool and resource of MCP."""
    async with _stack({}) as (stack, people, http), open_operations(stack, people) as operations:
        trial = Trial(http, people, operations, found)
        await trial.run()
        return trial


async def _try_agent_tools(found: Found) -> Trial:
    """Tries every tool of the agent through a scripted model, which is configured for questions only."""
    model = ToolCaller()
    async with OpenAIStub() as stub:
        stub.routes["/v1/chat/completions"] = model.answer
        environment = {"LLM_FALLBACK_BASE_URL": stub.base_url, "LLM_FALLBACK_API_KEY": "sk-stub"}
        async with _stack(environment) as (_, people, http):
            operations = await agent_tool_operations(http, model, people[0])
            trial = Trial(http, people, operations, found)
            await trial.run()
            return trial


@asynccontextmanager
async def _stack(
    environment: Mapping[str, str],
) -> AsyncIterator[tuple[LocalStack, list[Person], httpx2.AsyncClient]]:
    """Runs a separate stack with keys for four people."""
    with temporary_data() as data:
        people = issue_keys(data)
        async with running_stack(data, {"BRAID_ALLOW_LOCAL": "false", **environment}) as stack:
            url = f"http://{stack.addresses['gateway']}"
            async with httpx2.AsyncClient(base_url=url, timeout=SECONDS) as http:
                yield stack, people, http


# The names of operations that delete all data of a space.
_OF_SPACE = ("DeleteSpace", "space")
# An administrator's check of a space counts what all of its users have stored.
_COUNTING_ALL_USERS = (
    "rpc braid.agent.v1.ConsistencyService/CheckConsistency",
    "rest GET /api/consistency",
)


class Trial:
    """The trial of all operations of one stack."""

    def __init__(
        self,
        http: httpx2.AsyncClient,
        people: Sequence[Person],
        operations: Sequence[Operation],
        found: Found,
    ) -> None:
        self._http = http
        self._people = people
        self.operations = sorted(operations, key=_order)
        self._found = found
        # Texts that the people of a space have sent there, which are no secret in that space.
        self._written: dict[str, set[str]] = {person.space: set() for person in people}
        # Operations that have not accepted a request yet, with their last response.
        self.unreached = dict.fromkeys((operation.name for operation in operations), "")

    async def run(self) -> None:
        """Runs all checks."""
        await self._load_and_compare()
        reading = [operation for operation in self.operations if not operation.changes]
        changing = [operation for operation in self.operations if operation.changes]
        with bar("reading", len(reading)) as show:
            for number, operation in enumerate(reading):
                for actor in self._people:
                    await self._attack(operation, actor)
                await self._reach(operation)
                show(number + 1)
        with bar("changing", len(changing)) as show:
            for number, operation in enumerate(changing):
                for actor in self._people:
                    before = await self._views(actor)
                    await self._attack(operation, actor)
                    self._compare_views(operation, actor, before, await self._views(actor))
                await self._reach(operation)
                show(number + 1)

    async def _load_and_compare(self) -> None:
        """Loads the first person's data, then the others'; the first person's reads must not change."""
        first, *others = self._people
        await Loading(self._http, first).shared()
        await Loading(self._http, first).own()
        before, again = await self._read_all(first), await self._read_all(first)
        for person in others:
            if person.space != first.space:
                await Loading(self._http, person).shared()
            await Loading(self._http, person).own()
        after = await self._read_all(first)
        for name, outcome in before.items():
            if name.startswith(_COUNTING_ALL_USERS) or plain(outcome) != plain(again[name]):
                continue  # or it varies between equal calls
            self._found.checked += 1
            if plain(outcome) != plain(after[name]):
                changed = difference(plain(outcome), plain(after[name]))
                what = f"the answer changed when others loaded data: {changed}"
                self._found.add(Leak(name, first.name, "all others", what))
        for person in others:
            if person.space == first.space:
                await Loading(self._http, person).shared()

    async def _read_all(self, person: Person) -> dict[str, Outcome]:
        given = Given(person.shared["document"], person.shared_marker)
        return {
            f"{operation.name} with {kind}": await outcome_of(
                operation, person, Given(value, given.words)
            )
            for operation in self.operations
            if not operation.changes
            for kind, value in (person.ids if operation.takes_ids else {"words": given.id}).items()
        }

    async def _attack(self, operation: Operation, actor: Person) -> None:
        victim = self._victim(actor)
        kinds = victim.ids if victim.space != actor.space else victim.own
        for kind, real in (kinds if operation.takes_ids else {}).items():
            await self._attack_by_id(operation, actor, victim, kind, real)
        for marker in (victim.own_marker, victim.shared_marker):
            given = Given(actor.ids["document"], f"{marker} Service")
            outcome = await self._call(operation, actor, given)
            self._scan(operation, actor, outcome, (given.id, given.words, marker))

    async def _reach(self, operation: Operation) -> None:
        """Tries the actor's own ids until a request is accepted, because a refused request proves nothing."""
        for actor in self._people:
            for first, second in permutations(actor.ids.values(), 2):
                if operation.name not in self.unreached:
                    return
                await self._call(operation, actor, Given(first, _NEUTRAL, second))

    def _victim(self, actor: Person) -> Person:
        """Returns the next person: alternately one in the same space and one in the other."""
        place = self._people.index(actor)
        return self._people[(place + 1) % len(self._people)]

    async def _attack_by_id(
        self, operation: Operation, actor: Person, victim: Person, kind: str, real: str
    ) -> None:
        """Checks that another's id leads to the same response as an id that does not exist."""
        guessed = guess_like(real)
        first = await self._call(operation, actor, Given(real, _NEUTRAL))
        if first.status == NOT_SENT:
            return
        self._scan(operation, actor, first, (real,))
        second = await self._call(operation, actor, Given(guessed, _NEUTRAL))
        given: tuple[str, ...] = (real, guessed)
        # A successful change returns new ids and times; a refusal must be equal for both.
        status_only = operation.changes and first.succeeded
        if same(first, second, given, status_only=status_only):
            return
        another = guess_like(real)
        again = await self._call(operation, actor, Given(real, _NEUTRAL))
        other = await self._call(operation, actor, Given(another, _NEUTRAL))
        given = (*given, another)
        if not (
            same(again, first, given, status_only=status_only)
            and same(other, second, given, status_only=status_only)
        ):
            return  # varies between equal calls, for example after an effect on the caller's own data
        what = f"{kind}: {_shown(first)} but for a guess {_shown(second)}"
        self._found.add(Leak(operation.name, actor.name, victim.name, what))

    async def _call(self, operation: Operation, actor: Person, given: Given) -> Outcome:
        outcome = await outcome_of(operation, actor, replace(given, space=actor.space))
        if operation.changes:
            self._written[actor.space] |= {given.id, given.words, given.words.partition(" ")[0]}
        if outcome.accepted:
            self.unreached.pop(operation.name, None)
            self._found.checked += 1
        elif operation.name in self.unreached:
            self.unreached[operation.name] = _shown(outcome)
        return outcome

    def _scan(
        self, operation: Operation, actor: Person, outcome: Outcome, given: Sequence[str]
    ) -> None:
        for other in self._people:
            if other is actor:
                continue
            known = {*given, *self._written[actor.space]}
            seen = seen_in(outcome, actor.secrets_from(other), known)
            if seen:
                what = f"shows {', '.join(seen)}: {_shown(outcome)}"
                self._found.add(Leak(operation.name, actor.name, other.name, what))

    async def _views(self, actor: Person) -> dict[str, Any]:
        """Returns the victim's data: everything in another space, or only the user's own data in the actor's space."""
        person = self._victim(actor)
        await self._until_idle(person)
        views: dict[str, Any] = {}
        for path in (*_OWN_VIEWS, *(_SHARED_VIEWS if person.space != actor.space else ())):
            answer = await self._http.get(path, headers=person.headers)
            body = answer.json() if answer.content else None
            views[f"{person.name} {path}"] = plain(Outcome(str(answer.status_code), body))
        return views

    async def _until_idle(self, person: Person) -> None:
        """Waits for the jobs of a space, which change its data."""
        running = {"state": ["QUEUED", "RUNNING"]}
        for _ in range(_POLLS):
            answer = await self._http.get("/api/jobs", params=running, headers=person.headers)
            if not answer.json().get("jobs"):
                return
            await asyncio.sleep(_POLL_SECONDS)

    def _compare_views(
        self, operation: Operation, actor: Person, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        for view, seen in before.items():
            self._found.checked += 1
            victim, _, path = view.partition(" ")
            # An administrator deletes a space with the data of all its users; other spaces must stay as they were.
            is_meant = _is_of_space(operation) and victim.startswith(f"{actor.space}/")
            if after[view] != seen and not is_meant:
                what = f"changed {path}: {difference(seen, after[view])}"
                self._found.add(Leak(operation.name, actor.name, victim, what))


def _is_of_space(operation: Operation) -> bool:
    """Returns whether an operation deletes all data of a space."""
    return operation.changes and operation.name.rpartition("/")[2].startswith(_OF_SPACE)


def _order(operation: Operation) -> tuple[bool, ...]:
    """Returns the sort key of an operation: reads come first, then changes, and deletions of whole spaces last.

    Changes without ids come last, because they affect all of a caller's data. Operations that create things with a
    given id come after those that look things up by id, because afterwards others' ids exist in the caller's space.
    Relations between a caller's chunks come before the chunks are deleted.
    """
    name = operation.name.rpartition("/")[2]
    return (
        operation.changes,
        _is_of_space(operation),
        not operation.takes_ids,
        name.startswith(_ADDS),
        name != _JOINS,
    )


def _shown(outcome: Outcome) -> str:
    return f"{outcome.status} {str(outcome.body)[:300]}"
