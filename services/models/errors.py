"""How a model fails: one exception, safe to log and to send to a caller."""

from __future__ import annotations

from services.runtime.errors import BraidError, EmbedderUnavailableError, StoreUnavailableError

UNUSABLE = "unusable_answer"
_MODEL_WAIT = 5.0


class EmbedderUnavailable(EmbedderUnavailableError):  # noqa: N818 - the state's own name
    """No vectors now. `cause` is a short fixed phrase: never the text, the key or the provider's words.

    `retry_after` is in seconds, None when no wait is known to help.
    """

    def __init__(self, cause: str, *, retry_after: float | None = None) -> None:
        super().__init__()
        self.message = f"The embedding model cannot be reached now: {cause}."
        self.cause = cause
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.message


class TextsRefused(EmbedderUnavailable):
    """No vectors for these texts, however often they are sent: they are too long or wrong for the model, or too many.

    For searches it is as any other model that gives no vector.
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
    """The model answers, and what it answers to this prompt cannot be used: malformed, too long, or a refusal.

    Another try may help or not; callers that work on many texts bound their tries, and go on with the others.
    `cause` travels in the error's metadata, so that other processes tell it from an outage.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.message = f"The language model gives no usable answer to the text: {cause}."
        self.metadata = {**self.metadata, UNUSABLE: cause}


class PromptRefused(AnswerUnusable):
    """The provider or its library does not take the prompt. It may be the prompt's fault, or that of the settings."""


def is_unusable(error: BaseException) -> bool:
    """Whether a failure, of this process or told by another one, is an answer that cannot be used."""
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
