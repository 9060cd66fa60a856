"""Asks a running Braid one question, as another backend would: `python protos/clients/python/example.py "Who owns …?"`.

Start the system with `make run` first. Set `BRAID_TARGET` and `BRAID_API_KEY` to use another one. With `--write` it
first stores a note, finds it and removes it: this needs the scope `write`, and `BRAID_VECTOR_TARGET` if the vector tier
has another address.
"""

from __future__ import annotations

import asyncio
import os
import sys

from braid.agent.v1 import jobs_pb2
from braid.common.v1 import legs_pb2
from braid.vector.v1 import chunks_pb2
from braid_client import AsyncBraid, BraidCallError

QUESTION = "Who owned the Ledger Service when it caused INC-104, and who owns it now?"
NOTE_ID = "example/turbine-hall"
NOTE = "# Turbine Hall\n\nThe Turbine Hall hums in the key of B flat.\n"


async def main(question: str, *, write: bool) -> int:
    """Prints Braid's answer; returns 1 if a call failed."""
    async with AsyncBraid(
        os.environ.get("BRAID_TARGET", "127.0.0.1:50050"),
        vector_target=os.environ.get("BRAID_VECTOR_TARGET", "127.0.0.1:50051"),
        api_key=os.environ.get("BRAID_API_KEY"),
        timeout=5,
    ) as braid:
        try:
            if write:
                await keep_find_and_remove(braid)
            await ask(braid, question)
        except BraidCallError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


async def ask(braid: AsyncBraid, question: str) -> None:
    """Prints the three best results and how each leg ended."""
    answer = await braid.comprehensive_search(question, limit=3)
    for result in answer.results:
        print(f"{result.score:.3f}  {result.title}  ({result.source})")
    for leg in answer.legs:
        name = legs_pb2.Leg.Name(leg.leg).removeprefix("LEG_").lower()
        status = legs_pb2.LegStatus.Name(leg.status)
        print(f"{name}: {status} in {leg.elapsed.ToMilliseconds()} ms")


async def keep_find_and_remove(braid: AsyncBraid) -> None:
    """Ingests a note into both tiers, finds it by a phrase, and prints the receipt of its removal."""
    job = await braid.ingest_document(NOTE, content_type="text/markdown", document_id=NOTE_ID)
    ended = await braid.wait_for_job(job.id, timeout=60)
    print(f"ingested: {jobs_pb2.JobState.Name(ended.state)}")
    found = await braid.text_search("hums in the key", match=chunks_pb2.TEXT_MATCH_PHRASE)
    print(f"found: {[hit.chunk.document_title for hit in found.hits]}")
    receipt = await braid.delete_document(NOTE_ID, timeout=30)
    print(f"removed: {sum(rows.count for rows in receipt.removed)} rows")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--write"]
    asked = words[0] if words else QUESTION
    sys.exit(asyncio.run(main(asked, write="--write" in sys.argv)))
