"""The contract's ProfileService."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from braid.agent.v1 import profile_pb2, profile_pb2_grpc
from services.agent_orchestrator.entity_memory import mapping
from services.agent_orchestrator.entity_memory.records import Owner
from services.agent_orchestrator.profile.context import compose, tokens
from services.agent_orchestrator.profile.items import of_memory, of_relationship
from services.agent_orchestrator.profile.profiles import Profiles
from services.runtime.context import current_call
from services.runtime.paging import page_size

Context: TypeAlias = Any

_DEFAULT_LIMIT: Final = 50
_MAX_LIMIT: Final = 200
_DEFAULT_TOKENS: Final = 1_000


class ProfileServicer(profile_pb2_grpc.ProfileServiceServicer):
    """Serves the profile of the calling user."""

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    async def GetProfile(
        self, request: profile_pb2.GetProfileRequest, _context: Context
    ) -> profile_pb2.GetProfileResponse:
        """See the contract."""
        limit = page_size(request.limit, default=_DEFAULT_LIMIT, largest=_MAX_LIMIT)
        profile = await self._profiles.get(_owner(), limit)
        return profile_pb2.GetProfileResponse(
            statements=map(of_relationship, profile.statements),
            memories=map(of_memory, profile.memories),
            people=map(mapping.entity, profile.people),
            projects=map(mapping.entity, profile.projects),
        )

    async def GetContext(
        self, request: profile_pb2.GetContextRequest, _context: Context
    ) -> profile_pb2.GetContextResponse:
        """See the contract."""
        known = await self._profiles.known(_owner(), request.query)
        most = request.max_tokens if request.HasField("max_tokens") else _DEFAULT_TOKENS
        context = compose(known.candidates, most)
        return profile_pb2.GetContextResponse(
            text=context.text,
            items=context.items,
            token_count=tokens(context.text),
            left_out_count=context.left_out,
            memory_leg=known.memory_leg,
        )


def _owner() -> Owner:
    call = current_call()
    return Owner(call.space, call.user)
