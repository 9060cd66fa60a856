"""The gateway's REST API as the command uses it: plain answers, and failures as `CliError`."""

from __future__ import annotations

import ssl
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self
from urllib.parse import quote

import httpx

from gateway.cli.discovery import Probed
from gateway.cli.errors import CliError, UnreachableError
from gateway.cli.job_status import POLL_SECONDS, has_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Full = Callable[[bool], None]


class Answer(dict[str, Any]):
    """An object of an answer, and the address that it came from: CliError for a field that a gateway always sends."""

    def __init__(self, url: str, values: dict[str, Any]) -> None:
        super().__init__(values)
        self._url = url

    def __missing__(self, name: str) -> NoReturn:
        raise no_gateway(self._url)


def no_gateway(url: str) -> CliError:
    """What answers there is something else."""
    return CliError(f"{url} is not a Braid gateway")


def body_of(response: httpx.Response, url: str) -> Answer:
    """The object that an answer holds, whatever its status."""
    try:
        body = response.json(object_hook=partial(Answer, url))
    except (ValueError, RecursionError):
        raise CliError(f"the answer is not JSON (status {response.status_code})") from None
    if not isinstance(body, Answer):
        raise no_gateway(url)
    return body


def answer_of(response: httpx.Response, url: str) -> Answer:
    """What was asked for. CliError for a failure, as the gateway tells it."""
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


TIMEOUT = httpx.Timeout(150.0, connect=5.0)
PATIENCE_SECONDS = 60.0
UNREACHABLE_SECONDS = 10.0
MAX_RETRY_WAIT = 10.0
PROBE_SECONDS = 1.0
# What may be otherwise when it is tried again.
_PASSING = (httpx.NetworkError, httpx.RemoteProtocolError)


class Api:
    """A client of one gateway. What an ingestion asks is tried again for a minute while a service is away, and for as
    long as one is at its limit: it works then.
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
        # Proxies are for other machines: the local stack must be found whatever the environment says. Certificates
        # take 50 ms to read: only TLS needs them.
        self._http = httpx.Client(
            base_url=address,
            headers=headers,
            timeout=TIMEOUT,
            trust_env=False,
            verify=tls or address.scheme == "https",
        )
        self._sleep = sleep
        self.url = url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all connections."""
        self._http.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """A reading; parameters that are None are left out."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._ask("GET", path, params=given)

    def readiness(self) -> Answer:
        """Which services serve: the body of `/readyz`, whether they all do or not."""
        response = self._send("GET", "/readyz")
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            body = body_of(response, self.url)
            if "services" in body:
                return body
        return answer_of(response, self.url)

    def post(self, path: str, body: Any) -> Any:
        """A JSON body."""
        return self._ask("POST", path, json=body)

    def post_for_list(
        self, path: str, body: Any, **parameters: Any
    ) -> tuple[list[Any], httpx.Headers]:
        """A JSON body that is answered with a list, and the headers that say how it came about."""
        response = self._send("POST", path, json=body, params=parameters)
        if not response.is_success:
            answer_of(response, self.url)
        found = response.json(object_hook=partial(Answer, self.url))
        if not isinstance(found, list):
            raise no_gateway(self.url)
        return found, response.headers

    def put(self, path: str, body: Any) -> Any:
        """A JSON body that replaces what is there."""
        return self._ask("PUT", path, json=body)

    def patch(self, path: str, body: Any) -> Any:
        """A JSON body that changes what is there."""
        return self._ask("PATCH", path, json=body)

    def stream(self, method: str, path: str, **options: Any) -> Iterator[str]:
        """The lines of a streamed answer. UnreachableError when it breaks off."""
        try:
            with self._http.stream(method, path, **options) as response:
                if not response.is_success:
                    response.read()
                    answer_of(response, self.url)
                yield from response.iter_lines()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            message = f"{self.url} cannot be reached: {error or type(error).__name__}"
            raise UnreachableError(message, reason="UNREACHABLE") from None

    def request_empty(self, method: str, path: str) -> None:
        """A request that is answered without a body."""
        response = self._send(method, path)
        if not response.is_success:
            answer_of(response, self.url)

    def delete(self, path: str) -> Any:
        """A deletion."""
        return self._ask("DELETE", path)

    def upload(
        self, name: str, data: bytes, kind: str, full: Full | None = None, *, title: str = ""
    ) -> Any:
        """Uploads a file; its name becomes the document id. Returns the job. `full` is called while uploads wait."""
        # A file's name arrives with some of its characters escaped; a field arrives as it is.
        fields = {"source": name, **({"title": title} if title else {})}
        form: dict[str, Any] = {"data": fields, "files": {"file": (name, data, kind)}}
        return self._patiently("POST", "/api/documents", full, **form)

    def facts(self, facts: list[dict[str, Any]], full: Full | None = None) -> Any:
        """Given facts; answers with what became of them."""
        return self._patiently("POST", "/api/facts", full, json={"facts": facts})

    def latest_jobs(self, count: int) -> list[dict[str, Any]]:
        """The space's latest jobs."""
        jobs: list[dict[str, Any]] = self._patiently("GET", "/api/jobs", params={"limit": count})[
            "jobs"
        ]
        return jobs

    def job(self, job_id: str) -> Any:
        """A job as it stands."""
        return self._patiently("GET", f"/api/jobs/{job_id}")

    def followed(self, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """A job as it stands, again and again until it has ended. Asked for, not streamed: a stream would end with a
        gateway that is restarted.
        """
        while not has_ended(job):
            yield job
            self._sleep(POLL_SECONDS)
            job = self.job(job["id"])
        yield job

    def _patiently(self, method: str, path: str, full: Full | None = None, **options: Any) -> Any:
        response = self._once_served(method, path, **options)
        if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
            return answer_of(response, self.url)
        tell = full or (lambda _waits: None)
        tell(True)
        try:
            while response.status_code == httpx.codes.TOO_MANY_REQUESTS:
                self._sleep(_wait(response))
                response = self._once_served(method, path, **options)
        finally:
            tell(False)
        return answer_of(response, self.url)

    def _once_served(self, method: str, path: str, **options: Any) -> httpx.Response:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                response = self._send(method, path, **options)
            except UnreachableError:
                # A gateway that has just been restarted: whatever is asked here may be asked twice.
                if time.monotonic() > until - PATIENCE_SECONDS + UNREACHABLE_SECONDS:
                    raise
                self._sleep(1.0)
                continue
            away = response.status_code == httpx.codes.SERVICE_UNAVAILABLE
            if not away or time.monotonic() > until:
                return response
            self._sleep(_wait(response))

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        return answer_of(self._send(method, path, **options), self.url)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **options)
        except httpx.TimeoutException:
            raise UnreachableError(
                f"{self.url} did not answer in time", reason="DEADLINE"
            ) from None
        except UnicodeError:
            raise CliError("what was given is not all text: a byte of it is no UTF-8") from None
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            message = f"{self.url} cannot be reached: {error or type(error).__name__}"
            kind = UnreachableError if isinstance(error, _PASSING) else CliError
            raise kind(message, reason="UNREACHABLE") from None


def probe(url: str) -> Probed:
    """What is at an address, as far as it says within a second."""
    try:
        response = httpx.get(f"{url}/healthz", timeout=PROBE_SECONDS, trust_env=False)
        body = response.json()
    except httpx.ReadTimeout:
        return Probed.SILENT
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        return Probed.ABSENT
    found = response.is_success and body == {"status": "ok"}
    return Probed.GATEWAY if found else Probed.ABSENT


def segment(name: str) -> str:
    """A name as a part of a path, whatever it holds."""
    # A lone dot, or two, would be taken for a step within the path.
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


def _wait(response: httpx.Response) -> float:
    text = response.headers.get("retry-after", "")
    return min(MAX_RETRY_WAIT, float(text) if text.isdecimal() else 1.0)


def _address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
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
