"""The embedding models that run in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from services.models.local.model_files import BGE_SMALL, MINILM, ModelFiles


@dataclass(frozen=True, slots=True)
class LocalModel:
    """How a model's vectors are made.

    max_tokens: its window; the rest of a text is not read. query_prefix: what it was trained to read before a query.
    mean: whether its vector is the mean of all tokens' states, otherwise the first token's.
    """

    files: ModelFiles
    dimension: int
    max_tokens: int
    query_prefix: str
    mean: bool

    @property
    def name(self) -> str:
        """Returns the model's name, which is stored with its vectors."""
        return self.files.model


_MODELS = (
    LocalModel(
        files=BGE_SMALL,
        dimension=384,
        max_tokens=512,
        query_prefix="Represent this sentence for searching relevant passages: ",
        mean=False,
    ),
    LocalModel(files=MINILM, dimension=384, max_tokens=256, query_prefix="", mean=True),
)
LOCAL_MODEL = BGE_SMALL.model
"""The local model unless the settings name another."""
LOCAL_MODELS: Mapping[str, LocalModel] = MappingProxyType({one.name: one for one in _MODELS})
