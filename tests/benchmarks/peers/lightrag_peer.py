"""LightRAG as a library with its own file stores. Its language model is a stub that finds no entity.

So its graph is empty, and its vector search (mode `naive`) is what can be measured without a paid key. Passages are
given as chunks. Characters stand for tokens, because its tokenizer's vocabulary comes from no package registry.
Reads what to do from the file of its first argument, and writes what it measured to standard output.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

_LONGEST = 100_000


class Characters:
    """A tokenizer whose tokens are characters."""

    def encode(self, content: str) -> list[int]:
        """Returns the characters' numbers."""
        return [ord(one) for one in content]

    def decode(self, tokens: list[int]) -> str:
        """Returns the text of characters' numbers."""
        return "".join(map(chr, tokens))


async def main(task: dict[str, Any]) -> dict[str, Any]:
    """Stores the passages and asks the questions."""
    library, utilities = import_module("lightrag"), import_module("lightrag.utils")
    numpy = import_module("numpy")

    def embeddings(texts: list[str]) -> Any:
        body = json.dumps({"model": task["model"], "input": texts}).encode()
        request = urllib.request.Request(  # noqa: S310 - the address of the stub on loopback
            f"{task['embeddings']}/embeddings", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            data = json.load(answer)["data"]
        return numpy.array([one["embedding"] for one in data], dtype=numpy.float32)

    async def embed(texts: list[str], **_more: object) -> Any:
        return await asyncio.to_thread(embeddings, texts)

    async def complete(_prompt: str, **_more: object) -> str:
        return "<|COMPLETE|>"

    rag = library.LightRAG(
        working_dir=task["folder"],
        embedding_func=utilities.EmbeddingFunc(
            embedding_dim=task["dimension"], max_token_size=8192, func=embed
        ),
        llm_model_func=complete,
        tokenizer=utilities.Tokenizer("characters", Characters()),
        chunk_token_size=_LONGEST,
        embedding_batch_num=64,
        max_parallel_insert=8,
        entity_extract_max_gleaning=0,
    )
    await rag.initialize_storages()
    documents = task["documents"]
    began = time.perf_counter()
    # Its pipeline for documents writes all files again after each, some minutes for a thousand of them.
    chunks = [
        {"content": one["text"], "source_id": one["id"], "file_path": f"{number}.txt"}
        for number, one in enumerate(documents)
    ]
    await rag.ainsert_custom_kg({"chunks": chunks, "entities": [], "relationships": []})
    seconds = time.perf_counter() - began
    rankings, times = [], []
    for question in task["questions"]:
        wanted = library.QueryParam(
            mode="naive",
            chunk_top_k=task["limit"],
            top_k=task["limit"],
            max_total_tokens=_LONGEST,
            enable_rerank=False,
        )
        began = time.perf_counter()
        found = await rag.aquery_data(question, wanted)
        times.append((time.perf_counter() - began) * 1000)
        chunks = found.get("data", {}).get("chunks", [])
        rankings.append([_document(documents, chunk) for chunk in chunks])
    await rag.finalize_storages()
    version = metadata.version("lightrag-hku")
    return {"version": version, "seconds": seconds, "rankings": rankings, "times_ms": times}


def _document(documents: list[dict[str, str]], chunk: dict[str, Any]) -> str:
    """Returns the id of a chunk's document, by the number that its file is called."""
    return documents[int(Path(chunk["file_path"]).stem)]["id"]


if __name__ == "__main__":
    out = sys.stdout
    sys.stdout = sys.stderr
    print(json.dumps(asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))), file=out)
