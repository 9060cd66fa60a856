"""What a gateway answered: its values, or its failure. What lacks a value of theirs is told to be no gateway."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from gateway.cli.errors import CliError

if TYPE_CHECKING:
    import httpx


class Answer(dict[str, Any]):
    """An object of an answer, and the address that it came from: CliError for what a gateway would have told."""

    def __init__(self, url: str, values: dict[str, Any]) -> None:
        super().__init__(values)
        self._url = url

    def __missing__(self, name: str) -> NoReturn:
        raise no_gateway(self._url)


def no_gateway(url: str) -> CliError:
    """What answers there is something else."""
    return CliError(f"{url} is no Braid gateway")


def body_of(response: httpx.Response, url: str) -> Answer:
    """The object that an answer holds, whatever its status."""
    try:
        body = response.json(object_hook=partial(Answer, url))
    except (ValueError, RecursionError):
        raise CliError(f"the answer is no JSON (status {response.status_code})") from None
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
