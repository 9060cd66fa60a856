"""Authentication and authorization: each method's contract declares the required scope."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from google.protobuf import descriptor_pool

from braid.common.v1 import options_pb2
from services.runtime.context import CallContext, enter_call
from services.runtime.errors import MissingScopeError, scope_name
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.security import events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.runtime.identity import Authenticator


class AuthenticationStage(Stage):
    """Sets the call's context from its credential; refuses a caller without the method's scope."""

    name: ClassVar[str] = "auth"

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._scopes: dict[str, str] = {}

    async def prepare(self, call: Call) -> None:
        identity = await self._authenticator.identify(
            call.metadata, method=call.method, request_id=call.request_id
        )
        scope = self._scope(call.method)
        if scope not in identity.scopes:
            self._authenticator.events.record(
                events.SCOPE_MISSING,
                scope=scope,
                key_id=identity.key_id,
                method=call.method,
                request_id=call.request_id,
            )
            raise MissingScopeError(scope)
        call.identity = identity

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        assert call.identity is not None  # noqa: S101 - for the type checker: `prepare` has set it
        enter_call(
            CallContext(
                request_id=call.request_id,
                method=call.method,
                space=call.identity.space,
                user=call.identity.user,
                scopes=call.identity.scopes,
                deadline=call.deadline,
            )
        )
        yield

    def _scope(self, method: str) -> str:
        if method not in self._scopes:
            self._scopes[method] = required_scope(method)
        return self._scopes[method]


def required_scope(method: str) -> str:
    """Returns the scope that a method's contract declares; without one `unspecified`, which no key has."""
    service, _, name = method.lstrip("/").partition("/")
    descriptor = descriptor_pool.Default().FindMethodByName(f"{service}.{name}")
    return scope_name(descriptor.GetOptions().Extensions[options_pb2.required_scope])
