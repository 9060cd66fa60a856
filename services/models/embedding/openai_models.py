"""The dimensions of OpenAI's embedding models, and which models can produce others."""

from __future__ import annotations

DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


def supports_dimension(model: str, dimension: int) -> bool:
    """Returns whether the provider can produce vectors of this length: the model's own or a shorter one."""
    return accepts_dimension(model) and dimension <= DIMENSIONS.get(model, dimension)


def accepts_dimension(model: str) -> bool:
    """Returns whether the model's requests may specify a dimension; other models refuse such requests."""
    return model.startswith("text-embedding-3")
