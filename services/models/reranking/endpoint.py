"""Relevance by any `/rerank` endpoint: Cohere's API, also used by Jina and vLLM, or that of Hugging Face's TEI."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from services.models.breaker import Breaker, CircuitOpen
from services.models.connection import Connection
from services.models.errors import RerankerUnavailable
from services.models.retry_after import retry_after
from services.models.usage import ModelUsage
from services.runtime.context import remaining

if TYPE_CHECKING:
    import httpx2

RerankApi: TypeAlias = Literal["cohere", "tei"]
"""How an endpoint takes its passages: Cohere's `documents` and `top_n`, or Text Embeddings Inference's `texts`."""

# Longer passages are cut: cross-encoders read a few hundred tokens.
_MAX_CHARACTERS = 4_000
_SERVER_ERROR = 500
_OK = 200


class HttpReranker:
    """A connection pool to one endpoint, behind a circuit breaker; its library loads on first use.

    A call is not retried: for a waiting search, the existing order is better than a delay.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str | None = None,
        api: RerankApi = "cohere",
        limit: float = 3.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`base_url` ends before `/rerank`; `limit` in seconds limits a call; `clock` is the breaker's."""
        self._model = model
        self._url = f"{base_url.rstrip('/')}/rerank"
        self._api = api
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._limit = limit
        self._breaker = Breaker("reranker", clock=clock)
        self._usage = ModelUsage("rerank", model)
        self._connection = Connection(self._connect, lambda client: client.aclose())

    @property
    def model(self) -> str:
        """See `Reranker`."""
        return self._model

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See `Reranker`."""
        if not passages:
            return []
        with self._usage.call():
            answer = await self._guarded(self._request(query, passages))
        try:
            return _in_order(answer, len(passages))
        except (ValueError, TypeError, KeyError, OverflowError):
            raise RerankerUnavailable("malformed answer") from None

    async def close(self) -> None:
        """See `Reranker`."""
        await self._connection.close()

    def _request(self, query: str, passages: Sequence[str]) -> dict[str, Any]:
        asked = query[:_MAX_CHARACTERS]
        texts = [passage[:_MAX_CHARACTERS] for passage in passages]
        if self._api == "tei":
            # The server has one model, and refuses longer texts unless requested to cut them.
            return {"query": asked, "texts": texts, "truncate": True}
        return {"model": self._model, "query": asked, "documents": texts, "top_n": len(texts)}

    async def _guarded(self, asked: Mapping[str, Any]) -> Any:
        try:
            # Two limits: an attempt ended by a caller's deadline says less about the provider than one ended by its own
            # limit.
            async with (
                asyncio.timeout(_shorter(remaining(self._limit), self._limit)),
                self._breaker.guard(_is_providers),
                asyncio.timeout(self._limit),
            ):
                return await self._post(asked)
        except TimeoutError:
            raise RerankerUnavailable("no answer in time") from None
        except CircuitOpen as error:
            raise RerankerUnavailable("circuit open", retry_after=error.retry_after) from None
        except _Refused as error:
            raise RerankerUnavailable(str(error), retry_after=error.retry_after) from None

    async def _post(self, asked: Mapping[str, Any]) -> Any:
        client = await self._connection.client()
        if client is None:
            raise RerankerUnavailable("closed")
        import httpx2  # noqa: PLC0415 - already loaded

        try:
            response = await client.post(self._url, json=dict(asked), headers=self._headers)
            if response.status_code != _OK:
                raise _Refused(response.status_code, retry_after(response.headers))
            return response.json()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise RerankerUnavailable(type(error).__name__) from None
        except (ValueError, RecursionError):
            raise RerankerUnavailable("malformed answer") from None

    def _connect(self) -> httpx2.AsyncClient:
        # Imported here, so that a process that reranks nothing does not load the library.
        import httpx2  # noqa: PLC0415

        return httpx2.AsyncClient(timeout=self._limit)


class _Refused(Exception):  # noqa: N818 - the state's own name
    """An HTTP status that is not 200."""

    def __init__(self, status: int, wait: float | None) -> None:
        super().__init__(f"HTTP {status}")
        self.broken = status >= _SERVER_ERROR
        self.retry_after = wait


def _is_providers(error: Exception) -> bool:
    """Returns whether a failed attempt is the provider's own failure."""
    return error.broken if isinstance(error, _Refused) else True


def _shorter(seconds: float, limit: float) -> float | None:
    return seconds if seconds < limit else None


def _in_order(answer: Any, count: int) -> list[float]:
    """Returns scores in the order of the passages; servers answer with an object of results, or the list of them."""
    results = answer["results"] if isinstance(answer, Mapping) else answer
    scores = {item["index"]: float(_score(item)) for item in results}
    if sorted(scores) != list(range(count)) or not all(map(math.isfinite, scores.values())):
        raise ValueError("not one score for each passage")
    return [scores[index] for index in range(count)]


def _score(item: Mapping[str, Any]) -> Any:
    return item["relevance_score"] if "relevance_score" in item else item["score"]
