"""Who an HTTP request is from, and what is wrong with its credential in the words of HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.rest.origin import may_be_local
from services.runtime.errors import FieldError, InvalidCredentialError, InvalidFieldError

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from services.runtime.identity import Authenticator, Identity

_NEEDED = "A valid API key is needed: send the header `Authorization: Bearer <key>`."
_FOREIGN = (
    "A web page of another site, or a request under another host's name, needs an API key: "
    "send the header `Authorization: Bearer <key>`."
)
# Of two that differ, one would have to be taken, and a proxy in between may have looked at the other.
_SENT_ONCE = ("Authorization", "braid-space", "braid-user")


def identify(headers: Headers, authenticator: Authenticator) -> Identity:
    """The caller's identity. Raises what `Authenticator.identify` raises, about headers instead of call metadata."""
    for name in _SENT_ONCE:
        if len(headers.getlist(name)) > 1:
            raise InvalidCredentialError(
                f"The header `{name}` is there more than once: send it once."
            )
    if not may_be_local(headers):
        raise InvalidCredentialError(_FOREIGN)
    try:
        return authenticator.identify(headers)
    except InvalidCredentialError:
        raise InvalidCredentialError(_NEEDED) from None
    except InvalidFieldError as error:
        raise InvalidFieldError(
            *(FieldError(name.removeprefix("metadata."), told) for name, told in error.fields)
        ) from None
