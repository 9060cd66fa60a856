"""A module of a text worker: echoes, hangs, fails or ends, as asked; opens a file when asked to."""

import itertools
import os
from collections import deque
from pathlib import Path
from typing import Any

from services.runtime.text_worker import answer_requests


def answer(request: Any) -> Any:
    """Does what the request says."""
    match request["do"]:
        case "hang":
            deque(itertools.count(), maxlen=0)
        case "end":
            os._exit(3)
        case "open":
            return Path(__file__).read_text(encoding="utf-8")
        case "pid":
            return os.getpid()
    return request


if __name__ == "__main__":
    answer_requests(answer)
