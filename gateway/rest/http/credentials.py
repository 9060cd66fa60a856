"""Authentication of HTTP requests, and which requests need no credential."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from services.runtime.errors import FieldError, InvalidCredentialError, InvalidFieldError
from services.runtime.listen import is_loopback
from services.runtime.security import events

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from services.runtime.identity import Authenticator, Identity


def is_allowed_without_key(headers: Headers) -> bool:
    """Whether a request may be served: it has a credential, or comes from a local page.

    A website that a user visits can send forms to 127.0.0.1 (detected by `Origin`), and read answers after DNS
    rebinding (detected by `Host`).
    """
    if "authorization" in headers:
        return True
    host = headers.get("host", "")
    origin = headers.get("origin")
    try:
        return _is_local_name(host) and (origin is None or urlsplit(origin).netloc == host)
    except ValueError:  # an unbalanced bracket
        return False


def _is_local_name(host: str) -> bool:
    split = urlsplit(f"//{host}")
    return is_loopback(f"{split.hostname or ''}:0")


_NEEDED = "A valid API key or token is needed: send the header `Authorization: Bearer <key>`."
_FOREIGN = (
    "A web page of another site, or a request under another host's name, needs an API key: "
    "send the header `Authorization: Bearer <key>`."
)
# Two different credentials are ambiguous: a proxy may have checked the other one.
_SENT_ONCE = ("Authorization", "braid-space", "braid-user", "braid-scopes")


async def identify(
    headers: Headers, authenticator: Authenticator, *, method: str, request_id: str
) -> Identity:
    """Returns the caller's identity. Raises as `Authenticator.identify`, with headers instead of call metadata."""
    refused = _refusal(headers)
    if refused is not None:
        reason, detail = refused
        authenticator.events.record(
            events.CREDENTIAL_REFUSED, reason=reason, method=method, request_id=request_id
        )
        raise InvalidCredentialError(detail)
    try:
        return await authenticator.identify(headers, method=method, request_id=request_id)
    except InvalidCredentialError:
        raise InvalidCredentialError(_NEEDED) from None
    except InvalidFieldError as error:
        raise InvalidFieldError(
            *(
                FieldError(name.removeprefix("metadata."), description)
                for name, description in error.fields
            )
        ) from None


def _refusal(headers: Headers) -> tuple[str, str] | None:
    """Returns why the headers do not identify the caller, for the log and for the caller."""
    for name in _SENT_ONCE:
        if len(headers.getlist(name)) > 1:
            return "ambiguous", f"The header `{name}` is there more than once: send it once."
    return None if is_allowed_without_key(headers) else ("foreign_page", _FOREIGN)
