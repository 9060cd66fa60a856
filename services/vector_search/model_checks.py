"""The model that a space is embedded with, against the one that a caller names."""

from __future__ import annotations

from services.postgres.pool import Row
from services.runtime.errors import FieldError, InvalidFieldError
from services.vector_search.domain import Model
from services.vector_search.store import SpaceModelError


def checked(state: Row | None, model: Model) -> Row:
    """The space's row. SpaceModelError when the space is embedded with another model."""
    if state is None or state["name"] != model.name:
        raise SpaceModelError("is not the model that the space is embedded with")
    if state["dimension"] != model.dimension:
        raise SpaceModelError(f"has {state['dimension']} dimensions, not {model.dimension}")
    return state


def wrong_model(description: str) -> InvalidFieldError:
    """The error that says what is wrong with the model that was named."""
    return InvalidFieldError(FieldError("embedding_model", description))
