"""A module of a text worker: echoes, hangs, fails, ends, opens a file, or asks its parent, as asked."""

import itertools
import os
from collections import deque
from pathlib import Path
from typing import Any

from services.runtime.text_worker import answer_requests, call


def answer(request: Any) -> Any:
    """Does what the request says."""
    match request["do"]:
        case "hang":
            deque(itertools.count(), maxlen=0)
        case "end":
            os._exit(3)
        case "open":
            return Path(__file__).read_text(encoding="utf-8")
        case "sum":
            return _sum(request["of"])
        case "pid":
            return os.getpid()
    return request


async def _sum(names: list[str]) -> list[int]:
    """Returns the process, and the sum of the numbers that the parent has for the names."""
    return [os.getpid(), sum([await call("number", name) for name in names])]


if __name__ == "__main__":
    answer_requests(answer)
