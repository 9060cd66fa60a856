"""How long the vectors of OpenAI's embedding models are, and which of them can be asked for others."""

from __future__ import annotations

DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


def supports_dimension(model: str, dimension: int) -> bool:
    """Whether the provider can be asked for vectors of so many values, its own or fewer."""
    return accepts_dimension(model) and dimension <= DIMENSIONS.get(model, dimension)


def accepts_dimension(model: str) -> bool:
    """Whether the model's requests may say how many values they want: others refuse such ones."""
    return model.startswith("text-embedding-3")
