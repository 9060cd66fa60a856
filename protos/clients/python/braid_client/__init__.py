"""Client of Braid for other backends: typed, with deadlines and retries on by default.

    async with AsyncBraid("127.0.0.1:50050", api_key=key) as braid:
        answer = await braid.comprehensive_search("Who owns the Ledger Service?")

`Braid` is the same without `await`. Answers are the contracts' own messages (`braid.agent.v1`, …);
failures are `BraidCallError` with the contract's reason, the wrong fields and the delay to wait.
"""

from braid_client.asynchronous import AsyncBraid
from braid_client.errors import BraidCallError, Failure, FieldError
from braid_client.synchronous import Braid

__all__ = ["AsyncBraid", "Braid", "BraidCallError", "Failure", "FieldError"]
