"""Failures of models: exceptions that are safe to log and to send to a caller."""

from __future__ import annotations

from services.runtime.errors import BraidError, EmbedderUnavailableError, StoreUnavailableError

UNUSABLE = "unusable_answer"
_MODEL_WAIT = 5.0


class EmbedderUnavailable(EmbedderUnavailableError):  # noqa: N818 - the state's own name
    """No vectors now. `cause` is a short fixed phrase: never the text, the key or the provider's words.

    `retry_after` is in seconds, None if no wait is known to help.
    """

    def __init__(self, cause: str, *, retry_after: float | None = None) -> None:
        super().__init__()
        self.message = f"The embedding model cannot be reached now: {cause}."
        self.cause = cause
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.message


class TextsRefused(EmbedderUnavailable):
    """These texts cannot be embedded, however often they are sent: too long, too many or invalid for the model.

    Searches treat it like any other unavailable embedder.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.message = f"The embedding model refuses the text: {cause}."


class LanguageModelUnavailable(StoreUnavailableError):  # noqa: N818 - the state's own name
    """No answer now. `cause` is a short fixed phrase: never the prompt, the key or the provider's words."""

    def __init__(self, cause: str, *, retry_after: float | None = None) -> None:
        super().__init__(
            "language_model",
            _MODEL_WAIT if retry_after is None else retry_after,
            message=f"The language model cannot be reached now: {cause}.",
        )
        self.cause = cause

    def __str__(self) -> str:
        return self.message


class AnswerUnusable(LanguageModelUnavailable):
    """The model answers, but its answer to this prompt cannot be used: malformed, too long, or a refusal.

    A retry may or may not help; callers that process many texts limit their retries, and continue with the others.
    `cause` travels in the error's metadata, so that other processes can distinguish it from an outage.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.message = f"The language model gives no usable answer to the text: {cause}."
        self.metadata = {**self.metadata, UNUSABLE: cause}


class PromptRefused(AnswerUnusable):
    """The provider or its library refuses the prompt, because of the prompt itself or of the settings."""


def is_unusable(error: BaseException) -> bool:
    """Returns whether a failure, local or reported by another process, is an unusable answer."""
    return isinstance(error, BraidError) and UNUSABLE in error.metadata


class RerankerUnavailable(StoreUnavailableError):  # noqa: N818 - the state's own name
    """No scores now. `cause` is a short fixed phrase: never the text, the key or the provider's words."""

    def __init__(self, cause: str, *, retry_after: float | None = None) -> None:
        super().__init__(
            "reranker",
            _MODEL_WAIT if retry_after is None else retry_after,
            message=f"The reranking model cannot be reached now: {cause}.",
        )
        self.cause = cause

    def __str__(self) -> str:
        return self.message
