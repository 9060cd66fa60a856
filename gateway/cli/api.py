"""A client of the gateway's REST API, with plain answers and failures as `CliError`."""

from __future__ import annotations

import ssl
import time
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self
from urllib.parse import quote

import httpx2

from gateway.cli.discovery import Probed
from gateway.cli.errors import CliError, UnreachableError
from gateway.cli.job_status import POLL_SECONDS, has_ended
from gateway.content_types import CONTENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Full = Callable[[bool], None]


class Answer(dict[str, Any]):
    """A JSON object of an answer, with its address. Raises CliError if a required field is missing."""

    def __init__(self, url: str, values: dict[str, Any]) -> None:
        super().__init__(values)
        self._url = url

    def __missing__(self, name: str) -> NoReturn:
        raise no_gateway(self._url)


def no_gateway(url: str) -> CliError:
    """Returns the error for an address at which something other than a gateway answers."""
    return CliError(f"{url} is not a Braid gateway")


def body_of(response: httpx2.Response, url: str) -> Answer:
    """Returns the JSON object in an answer with any status."""
    try:
        body = response.json(object_hook=partial(Answer, url))
    except (ValueError, RecursionError):
        raise CliError(f"the answer is not JSON (status {response.status_code})") from None
    if not isinstance(body, Answer):
        raise no_gateway(url)
    return body


def answer_of(response: httpx2.Response, url: str) -> Answer:
    """Returns the object of a successful answer. Raises CliError with the gateway's description of a failure."""
    body = body_of(response, url)
    if response.is_success:
        return body
    detail, reason, fields = body["detail"], body["reason"], body.get("fields", [])
    if not isinstance(detail, str) or not isinstance(reason, str) or not isinstance(fields, list):
        raise no_gateway(url)
    raise CliError(
        detail,
        reason=reason,
        request_id=str(body.get("request_id", "")),
        fields=tuple(_field(item, url) for item in fields),
    )


def _field(item: Any, url: str) -> tuple[str, str]:
    if not isinstance(item, Answer):
        raise no_gateway(url)
    return str(item["field"]), str(item["description"])


TIMEOUT = httpx2.Timeout(150.0, connect=5.0)
PATIENCE_SECONDS = 60.0
UNREACHABLE_SECONDS = 10.0
MAX_RETRY_WAIT = 10.0
PROBE_SECONDS = 1.0
# How often a write is sent while its answer comes too late.
WRITE_ATTEMPTS = 3
# Statuses for which a retry may succeed.
_PASSING = (httpx2.NetworkError, httpx2.RemoteProtocolError)


class Api:
    """A client of one gateway. Requests of an ingestion are retried for a minute while a service is unavailable, and
    without a time limit while a service is at its limit, because then it makes progress.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        sleep: Callable[[float], None] = time.sleep,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if not key.isascii():
            raise CliError(
                "the key of BRAID_API_KEY is not valid: keys are ASCII characters",
                reason="INVALID_CREDENTIAL",
            )
        headers = {"authorization": f"Bearer {key}"} if key else {}
        address = _address(url)
        # No proxies from the environment: the local stack must always be reachable. Certificates are loaded only for
        # TLS, because that takes 50 ms.
        self._http = httpx2.Client(
            base_url=address,
            headers=headers,
            timeout=TIMEOUT,
            trust_env=False,
            verify=tls or address.scheme == "https",
        )
        self._sleep = sleep
        self.url = url
        self.key = key

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        self._http.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """Sends a GET request; parameters that are None are left out."""
        return self._ask("GET", path, params=_given(parameters))

    def readiness(self) -> Answer:
        """Returns the body of `/readyz`, whether all services serve or not."""
        return answer_of(self._send("GET", "/readyz"), self.url)

    def query(self, path: str, body: Any) -> Any:
        """Posts a JSON body with a question; nothing is changed."""
        return self._ask("POST", path, json=body)

    def post(self, path: str, body: Any, **parameters: Any) -> Any:
        """Posts a JSON body to change something; parameters that are None are left out.

        The request is repeated while its answer comes too late: its idempotency key keeps it from being done twice.
        """
        options = _keyed({"json": body, "params": _given(parameters)})
        for left in reversed(range(WRITE_ATTEMPTS)):
            response = self._send("POST", path, **options)
            if not left or not _is_late(response):
                break
            if "retry-after" in response.headers:
                self._sleep(_wait(response))
        return answer_of(response, self.url)

    def post_for_list(
        self, path: str, body: Any, **parameters: Any
    ) -> tuple[list[Any], httpx2.Headers]:
        """Posts a JSON body; returns the list in the answer, and the headers with the status of the search."""
        response = self._send("POST", path, json=body, params=parameters)
        if not response.is_success:
            answer_of(response, self.url)
        found = response.json(object_hook=partial(Answer, self.url))
        if not isinstance(found, list):
            raise no_gateway(self.url)
        return found, response.headers

    def put(self, path: str, body: Any) -> Any:
        """Sends a PUT request with a JSON body."""
        return self._ask("PUT", path, json=body)

    def patch(self, path: str, body: Any) -> Any:
        """Sends a PATCH request with a JSON body."""
        return self._ask("PATCH", path, json=body)

    def stream(self, method: str, path: str, **options: Any) -> Iterator[str]:
        """Yields the lines of a streamed answer. Raises UnreachableError if it breaks off."""
        try:
            with self._http.stream(method, path, **_keyed(options)) as response:
                if not response.is_success:
                    response.read()
                    answer_of(response, self.url)
                yield from response.iter_lines()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            message = f"{self.url} cannot be reached: {error or type(error).__name__}"
            raise UnreachableError(message, reason="UNREACHABLE") from None

    def request_empty(self, method: str, path: str) -> None:
        """Sends a request whose answer has no body."""
        response = self._send(method, path)
        if not response.is_success:
            answer_of(response, self.url)

    def delete(self, path: str, **parameters: Any) -> Any:
        """Sends a DELETE request; parameters that are None are left out."""
        # Empty parameters would remove those of the path.
        return self._ask("DELETE", path, params=_given(parameters) or None)

    def upload(
        self, name: str, data: bytes, kind: str, full: Full | None = None, **fields: str
    ) -> Any:
        """Uploads a file; its name becomes the document id, and it replaces an earlier file of this name.

        Returns the job. Calls `full` while uploads must wait.

        `fields` are further ones of the form, such as the title.
        """
        # Some characters of a file name are escaped in transfer; a field is transferred unchanged.
        form: dict[str, Any] = {
            "data": {"source": name, **fields},
            "files": {"file": (name, data, kind)},
            # Facts among JSON lines are posted on their own: here `replace` would withdraw them.
            "params": {} if kind == CONTENT_TYPES[".jsonl"] else {"replace": "true"},
        }
        return self._patiently("POST", "/api/documents", full, **form)

    def facts(self, facts: list[dict[str, Any]], full: Full | None = None, **stated: Any) -> Any:
        """Posts facts; returns the outcome for them. `stated` is what the route takes about their source."""
        return self._patiently("POST", "/api/facts", full, json={"facts": facts}, params=stated)

    def latest_jobs(self, count: int) -> list[dict[str, Any]]:
        """Returns the space's latest jobs."""
        jobs: list[dict[str, Any]] = self._patiently("GET", "/api/jobs", params={"limit": count})[
            "jobs"
        ]
        return jobs

    def job(self, job_id: str) -> Any:
        """Returns the current state of a job."""
        return self._patiently("GET", f"/api/jobs/{job_id}")

    def followed(self, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yields a job's state repeatedly until it has ended. Polls instead of streaming, because a stream would end
        when the gateway is restarted.
        """
        while not has_ended(job):
            yield job
            self._sleep(POLL_SECONDS)
            job = self.job(job["id"])
        yield job

    def _patiently(self, method: str, path: str, full: Full | None = None, **options: Any) -> Any:
        options = _keyed(options)
        response = self._once_served(method, path, **options)
        if response.status_code != httpx2.codes.TOO_MANY_REQUESTS:
            return answer_of(response, self.url)
        tell = full or (lambda _waits: None)
        tell(True)
        try:
            while response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
                self._sleep(_wait(response))
                response = self._once_served(method, path, **options)
        finally:
            tell(False)
        return answer_of(response, self.url)

    def _once_served(self, method: str, path: str, **options: Any) -> httpx2.Response:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                response = self._send(method, path, **options)
            except UnreachableError:
                # The gateway may have just been restarted: all requests here can be repeated.
                if time.monotonic() > until - PATIENCE_SECONDS + UNREACHABLE_SECONDS:
                    raise
                self._sleep(1.0)
                continue
            unavailable = response.status_code == httpx2.codes.SERVICE_UNAVAILABLE
            if not unavailable or time.monotonic() > until:
                return response
            self._sleep(_wait(response))

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        return answer_of(self._send(method, path, **options), self.url)

    def _send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        try:
            return self._http.request(method, path, **options)
        except httpx2.TimeoutException:
            raise UnreachableError(
                f"{self.url} did not answer in time", reason="DEADLINE"
            ) from None
        except UnicodeError:
            raise CliError("what was given is not all text: a byte of it is no UTF-8") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError) as error:
            message = f"{self.url} cannot be reached: {error or type(error).__name__}"
            kind = UnreachableError if isinstance(error, _PASSING) else CliError
            raise kind(message, reason="UNREACHABLE") from None


def probe(url: str) -> Probed:
    """Returns what is at an address, as far as can be determined within a second."""
    try:
        response = httpx2.get(f"{url}/healthz", timeout=PROBE_SECONDS, trust_env=False)
        body = response.json()
    except httpx2.ReadTimeout:
        return Probed.SILENT
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError):
        return Probed.ABSENT
    found = response.is_success and body == {"status": "ok"}
    return Probed.GATEWAY if found else Probed.ABSENT


def segment(name: str) -> str:
    """Encodes any name as a segment of a path."""
    # `.` and `..` alone would be resolved as relative path segments.
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


def _given(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _keyed(options: dict[str, Any]) -> dict[str, Any]:
    """Adds an idempotency key, so that a repetition of the request does nothing twice."""
    headers = {"idempotency-key": uuid.uuid4().hex} | options.get("headers", {})
    return options | {"headers": headers}


def _is_late(response: httpx2.Response) -> bool:
    """Whether the answer of a call that may still be running came too late."""
    if response.status_code == httpx2.codes.GATEWAY_TIMEOUT:
        return True
    return response.status_code == httpx2.codes.CONFLICT and "retry-after" in response.headers


def _wait(response: httpx2.Response) -> float:
    text = response.headers.get("retry-after", "")
    return min(MAX_RETRY_WAIT, float(text) if text.isdecimal() else 1.0)


def _address(url: str) -> httpx2.URL:
    try:
        address = httpx2.URL(url)
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise CliError(
            f"{url} is not the address of a gateway: {error}", reason="INVALID_FIELD"
        ) from None
    if address.scheme not in {"http", "https"}:
        raise CliError(
            f"{url} is not the address of a gateway: http:// or https:// is missing",
            reason="INVALID_FIELD",
        )
    if not address.host:
        raise CliError(
            f"{url} is not the address of a gateway: its host is missing", reason="INVALID_FIELD"
        )
    return address
