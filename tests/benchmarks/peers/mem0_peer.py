"""mem0 as a library over pgvector, without a language model: `infer=False` stores each passage as it is.

Reads what to do from the file of its first argument, and writes what it measured to standard output.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

_USER = "measured"


def main(task: dict[str, Any]) -> dict[str, Any]:
    """Stores the passages and asks the questions."""
    os.environ |= {"MEM0_TELEMETRY": "false", "MEM0_DIR": task["folder"]}
    memory = import_module("mem0").Memory.from_config(
        {
            "vector_store": {
                "provider": "pgvector",
                "config": {
                    "connection_string": task["database"],
                    "collection_name": "mem0",
                    "embedding_model_dims": task["dimension"],
                    "hnsw": True,
                },
            },
            "embedder": {
                "provider": "openai",
                "config": {
                    "model": task["model"],
                    "api_key": "none",
                    "openai_base_url": task["embeddings"],
                    "embedding_dims": task["dimension"],
                },
            },
            "llm": {
                "provider": "openai",
                "config": {"api_key": "none", "openai_base_url": task["embeddings"]},
            },
        }
    )
    began = time.perf_counter()
    for one in task["documents"]:
        memory.add(one["text"], user_id=_USER, metadata={"document": one["id"]}, infer=False)
    seconds = time.perf_counter() - began
    rankings, times = [], []
    for question in task["questions"]:
        began = time.perf_counter()
        found = memory.search(
            question, top_k=task["limit"], filters={"user_id": _USER}, threshold=0.0
        )
        times.append((time.perf_counter() - began) * 1000)
        rankings.append([one["metadata"]["document"] for one in found["results"]])
    version = metadata.version("mem0ai")
    return {"version": version, "seconds": seconds, "rankings": rankings, "times_ms": times}


if __name__ == "__main__":
    out = sys.stdout
    sys.stdout = sys.stderr
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))), file=out)
