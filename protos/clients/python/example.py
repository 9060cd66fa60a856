"""Asks a running Braid one question, as another backend would: `python protos/clients/python/example.py "Who owns …?"`.

Start the system with `make run` first. `BRAID_TARGET` and `BRAID_API_KEY` name another one.
"""

from __future__ import annotations

import asyncio
import os
import sys

from braid.common.v1 import legs_pb2
from braid_client import AsyncBraid, BraidCallError

QUESTION = "Who owned the Ledger Service when it caused INC-104, and who owns it now?"


async def main(question: str) -> int:
    """Prints the three best results and how each leg ended; 1 when the call failed."""
    target = os.environ.get("BRAID_TARGET", "127.0.0.1:50050")
    async with AsyncBraid(target, api_key=os.environ.get("BRAID_API_KEY"), timeout=5) as braid:
        try:
            answer = await braid.comprehensive_search(question, limit=3)
        except BraidCallError as error:
            print(error, file=sys.stderr)
            return 1
    for result in answer.results:
        print(f"{result.score:.3f}  {result.title}  ({result.source})")
    for leg in answer.legs:
        print(
            f"{leg.name}: {legs_pb2.LegStatus.Name(leg.status)} in {leg.took.ToMilliseconds()} ms"
        )
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else QUESTION)))
