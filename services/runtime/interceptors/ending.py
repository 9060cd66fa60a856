"""How a call ended, for the stages that tell of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from services.runtime.errors import BraidError
from services.runtime.status import code_of, reason_name


class Ending(NamedTuple):
    """The status code's name, Braid's reason where there is one, and the seconds that the call took."""

    code: str
    reason: str
    seconds: float


@contextmanager
def told(tell: Callable[[Ending], None]) -> Iterator[None]:
    """Tells how the block ended; what ended it goes on."""
    started = time.perf_counter()
    code, reason = "OK", ""
    try:
        yield
    except BraidError as error:
        code, reason = code_of(error).name, reason_name(error)
        raise
    except Exception:  # a defect, whatever it is: no more is told of it here, and it goes on
        code = "INTERNAL"
        raise
    except BaseException:  # a cancelled call, or a stream that nobody reads any more
        code = "CANCELLED"
        raise
    finally:
        tell(Ending(code, reason, time.perf_counter() - started))
