"""Plain PostgreSQL with pgvector: an HNSW index, full text, and both fused by reciprocal ranks.

Reads what to do from the file of its first argument, and writes what it measured to standard output.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import asyncpg

_TABLE = """
create extension if not exists vector;
create table passage (id text primary key, content text, embedding vector(384),
                      words tsvector generated always as (to_tsvector('english', content)) stored);
"""
_INDEX = """
create index on passage using hnsw (embedding vector_cosine_ops);
create index on passage using gin (words);
analyze passage;
"""
_SEARCH = """
with asked as (select replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery as words),
near as (
  select id, row_number() over () as place
  from (select id from passage order by embedding <=> $2::text::vector limit 50) v),
said as (
  select id, row_number() over () as place from (
    select id from passage, asked where passage.words @@ asked.words
    order by ts_rank_cd(passage.words, asked.words) desc limit 50) t)
select id from (select * from near union all select * from said) both_lists
group by id order by sum(1.0 / (60 + place)) desc, id limit $3
"""
_AT_ONCE = 256


def embed(task: dict[str, Any], texts: list[str]) -> list[list[float]]:
    """Returns the texts' vectors."""
    body = json.dumps({"model": task["model"], "input": texts}).encode()
    request = urllib.request.Request(  # noqa: S310 - the address of the stub on loopback
        f"{task['embeddings']}/embeddings", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return [one["embedding"] for one in json.load(answer)["data"]]


async def main(task: dict[str, Any]) -> dict[str, Any]:
    """Stores the passages and asks the questions."""
    connection = await asyncpg.connect(task["database"])
    began = time.perf_counter()
    await connection.execute(_TABLE)
    documents = task["documents"]
    for start in range(0, len(documents), _AT_ONCE):
        page = documents[start : start + _AT_ONCE]
        vectors = embed(task, [one["text"] for one in page])
        await connection.executemany(
            "insert into passage (id, content, embedding) values ($1, $2, $3::text::vector)",
            [
                (one["id"], one["text"], json.dumps(vector))
                for one, vector in zip(page, vectors, strict=True)
            ],
        )
    await connection.execute(_INDEX)
    seconds = time.perf_counter() - began
    rankings, times = [], []
    for question in task["questions"]:
        began = time.perf_counter()
        [vector] = embed(task, [question])
        rows = await connection.fetch(_SEARCH, question, json.dumps(vector), task["limit"])
        times.append((time.perf_counter() - began) * 1000)
        rankings.append([row["id"] for row in rows])
    version = await connection.fetchval(
        "select extversion from pg_extension where extname = 'vector'"
    )
    await connection.close()
    return {"version": version, "seconds": seconds, "rankings": rankings, "times_ms": times}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))))
