"""Fuzzes every route with requests that schemathesis generates from the OpenAPI document, and checks the responses."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis.errors import HypothesisException
from schemathesis import GenerationMode
from schemathesis.core.errors import SchemathesisError
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.openapi.checks import UndefinedStatusCode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.fuzz.findings import Findings
from tests.fuzz.seeding import QUESTIONS, SEARCHES
from tests.fuzz.vocabulary import OWN_ID, Vocabulary, plain_name

_CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
# The document describes the decoded data of events, which schemathesis takes for text. Other tests check events.
_EVENT_STREAM = "text/event-stream"
_TIMEOUT_HEADER = "X-Timeout-Ms"
_TIMEOUT_MS = 3_000
_DELEGATING = frozenset({"braid-space", "braid-user"})
_DELEGATED = 0.05
_CLIENT_SECONDS = 20.0
_OK = 200
_DEFECTS = frozenset({500, 501, 502})
_WARM_UP = 5
# The share of requests with ids of existing things, because random ids are all unknown.
_KNOWN = 0.6
# Fields of a search that exclude every hit if they are random.
_NARROWING = (
    "filter",
    "types",
    "tags",
    "session_id",
    "min_score",
    "entity_type",
    "relationship_type",
)


class RestFuzzer:
    """Sends cases to a gateway. Equal seeds generate equal cases, except for the ids of existing things."""

    def __init__(self, url: str, key: str, *, seed: int) -> None:
        self._url = url
        self._seed = seed
        self._chance = random.Random(seed)  # noqa: S311
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {key}"
        self._vocabulary = Vocabulary()
        self.findings = Findings()
        # How many times each search found something.
        self.hits: Counter[str] = Counter()

    def close(self) -> None:
        """Closes the connections."""
        self._session.close()

    def warm_up(self, *, seconds_each: float) -> None:
        """Sends some valid requests to each operation, so that later cases can name existing things."""
        for operation in self.operations():
            self._send(operation, _WARM_UP, GenerationMode.POSITIVE, "warm-up", seconds_each)

    def run(self, cases: int, *, seconds_each: float, shown: Callable[[int], None]) -> None:
        """Sends at least `cases` cases, distributed over the operations; a slow one stops after `seconds_each`."""
        left = self.operations()
        spent = dict.fromkeys((one.label for one in left), 0.0)
        round_number = 0
        while self.findings.cases < cases and left:
            share = max(2, -(-(cases - self.findings.cases) // len(left)))
            for operation in list(left):
                began, before = time.monotonic(), self.findings.cases
                for mode in GenerationMode:
                    limit = seconds_each - spent[operation.label]
                    self._send(operation, -(-share // 2), mode, str(round_number), limit)
                spent[operation.label] += time.monotonic() - began
                if (
                    self.findings.cases - before < share // 2
                    or spent[operation.label] > seconds_each
                ):
                    left.remove(operation)
                shown(self.findings.cases)
            round_number += 1

    def operations(self) -> list[Any]:
        """Returns every operation of the document: those that add, then those that read, then those that delete."""
        schema = schemathesis.openapi.from_url(f"{self._url}/openapi.json")
        found = []
        for result in schema.get_all_operations():
            assert isinstance(result, Ok), result.err()
            found.append(result.ok())
        return sorted(found, key=_adds_first)

    def _send(
        self, operation: Any, count: int, mode: GenerationMode, round_number: str, seconds: float
    ) -> None:
        """Sends up to `count` cases to an operation within the given seconds."""
        until = time.monotonic() + seconds

        @hypothesis_seed(f"{self._seed} {operation.label} {mode} {round_number}")
        @settings(
            max_examples=count,
            phases=[Phase.generate],
            deadline=None,
            database=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: Any) -> None:
            if time.monotonic() < until:
                self._judge(case)

        try:
            send()
        except (HypothesisException, SchemathesisError):
            return  # an operation without parameters has no invalid requests

    def _judge(self, case: Any) -> None:
        _bound(case)
        self._stay_in_space(case)
        self._name_known(case)
        self._ask_for_known(case)
        self.findings.cases += 1
        label = case.operation.label
        try:
            response = case.call(base_url=self._url, session=self._session, timeout=_CLIENT_SECONDS)
        except requests.RequestException as error:
            # Other errors are requests that the client refused to send.
            if isinstance(error, requests.ConnectionError | requests.Timeout):
                what = f"{label} {type(error).__name__}"
                self.findings.note(self.findings.server_errors, what, case.as_curl_command())
            return
        status = response.status_code
        self.findings.statuses[str(status)] += 1
        self.findings.endings[f"{label} {status}"] += 1
        if status in _DEFECTS:
            sample = case.as_curl_command()
            self.findings.note(self.findings.server_errors, f"{label} {status}", sample)
        self._check(case, response)
        if response.headers.get("content-type", [""])[0].startswith("application/json"):
            answer = response.json()
            self._vocabulary.learn_json(answer)
            self._count_hits(case.operation.path, status, answer)

    def _count_hits(self, path: str, status: int, answer: Any) -> None:
        name = SEARCHES.get(path)
        if status == _OK and name is not None and (answer.get(name) if name else answer):
            self.hits[path] += 1

    def silent_searches(self) -> list[str]:
        """Returns the searches that never found anything, so that their responses with hits were not tested."""
        return [path for path in SEARCHES if not self.hits[path]]

    def _check(self, case: Any, response: Any) -> None:
        stream = response.headers.get("content-type", [""])[0].startswith(_EVENT_STREAM)
        checks = [status_code_conformance, content_type_conformance] if stream else _CHECKS
        try:
            case.validate_response(response, checks=checks)
        except FailureGroup as group:
            for failure in group.exceptions:
                self._note(case, response, failure)

    def _note(self, case: Any, response: Any, failure: Failure) -> None:
        what = f"{case.operation.label} {response.status_code}: {failure.title}"
        if not isinstance(failure, UndefinedStatusCode):
            what += f" {failure.message[:200]}"
        self.findings.note(self.findings.undocumented, what, case.as_curl_command())

    def _stay_in_space(self, case: Any) -> None:
        """Removes most headers that name another space, because such requests are refused immediately."""
        for name in list(case.headers or ()):
            if name.lower() in _DELEGATING and self._chance.random() > _DELEGATED:
                del case.headers[name]

    def _ask_for_known(self, case: Any) -> None:
        """Makes some searches find existing content: replaces the query and removes filters."""
        body = case.body
        if case.operation.path not in SEARCHES or not isinstance(body, dict):
            return
        if self._chance.random() < _KNOWN and isinstance(body.get("query"), str):
            body["query"] = self._chance.choice(QUESTIONS)
            for name in _NARROWING:
                body.pop(name, None)

    def _name_known(self, case: Any) -> None:
        for name in list(case.path_parameters or ()):
            thing = _thing(case.operation.path, name)
            known = self._vocabulary.pick(thing, self._chance)
            if known is not None and self._chance.random() < _KNOWN:
                case.path_parameters[name] = known


def _thing(path: str, name: str) -> str:
    """Returns the kind of thing that a parameter identifies: a memory in `/api/memories/{id}`."""
    if name in OWN_ID:
        return plain_name(path.split(f"/{{{name}}}", maxsplit=1)[0].rpartition("/")[2])
    return plain_name(name)


def _bound(case: Any) -> None:
    """Limits the request's timeout to a few seconds, because watching a job would last as long as the job."""
    wanted = (case.headers or {}).get(_TIMEOUT_HEADER)
    if wanted is not None and not (str(wanted).isdecimal() and int(wanted) > _TIMEOUT_MS):
        return
    if case.headers is None:
        case.headers = {}
    case.headers[_TIMEOUT_HEADER] = str(_TIMEOUT_MS)


def _adds_first(operation: Any) -> int:
    return {"PUT": 0, "POST": 0, "DELETE": 2}.get(operation.method.upper(), 1)
