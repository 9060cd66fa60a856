"""Who calls, in which space, and whether they may: the scope is declared by each method's contract."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from google.protobuf import descriptor_pool

from braid.common.v1 import options_pb2
from services.runtime.context import CallContext, enter_call
from services.runtime.errors import BraidError, MissingScopeError, scope_name
from services.runtime.interceptors.stage import Call, Stage
from services.runtime.status import reason_name
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.runtime.identity import Authenticator, Identity


class AuthenticationStage(Stage):
    """Sets the call's context from its credential; refuses and logs a caller without the scope."""

    name: ClassVar[str] = "auth"

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._scopes: dict[str, str] = {}
        self._log = get_logger("security")

    @contextmanager
    def around(self, call: Call) -> Iterator[None]:
        call.identity = self._admit(call)
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

    def _admit(self, call: Call) -> Identity:
        try:
            identity = self._authenticator.identify(call.metadata)
            scope = self._scope(call.method)
            if scope not in identity.scopes:
                raise MissingScopeError(scope)
        except BraidError as error:
            self._log.warning(
                "refused", method=call.method, reason=reason_name(error), request_id=call.request_id
            )
            raise
        return identity

    def _scope(self, method: str) -> str:
        if method not in self._scopes:
            self._scopes[method] = required_scope(method)
        return self._scopes[method]


def required_scope(method: str) -> str:
    """The scope that a method's contract declares; `unspecified`, which no key has, when it declares none."""
    service, _, name = method.lstrip("/").partition("/")
    descriptor = descriptor_pool.Default().FindMethodByName(f"{service}.{name}")
    return scope_name(descriptor.GetOptions().Extensions[options_pb2.required_scope])
