"""Client of Braid for other backends: typed, with deadlines and retries on by default.

    async with AsyncBraid("127.0.0.1:50050", api_key=key) as braid:
        answer = await braid.comprehensive_search("Who owns the Ledger Service?")

`Braid` is the synchronous client. Methods return the contracts' own messages (`braid.agent.v1`, …); failed calls raise
`BraidCallError` with the contract's reason, the invalid fields and the delay before a retry.
For other RPCs, `channel_options`, `call_metadata` and `failure_of` give a raw stub the same behavior.
"""

from braid_client.asynchronous import AsyncBraid
from braid_client.chat import Answer
from braid_client.errors import BraidCallError
from braid_client.requests import call_metadata
from braid_client.synchronous import Braid
from braid_client.tls import Tls
from braid_client.uploads import document_input
from braid_protocol.channel import channel_options
from braid_protocol.errors import Failure, failure_of
from braid_protocol.field_error import FieldError

__all__ = [
    "Answer",
    "AsyncBraid",
    "Braid",
    "BraidCallError",
    "Failure",
    "FieldError",
    "Tls",
    "call_metadata",
    "channel_options",
    "document_input",
    "failure_of",
]
