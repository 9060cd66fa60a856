"""The asyncio client."""

from __future__ import annotations

from braid_calls.asynchronous import Calls
from braid_client.chat import Chat
from braid_client.ingestion import Ingestion
from braid_client.lists import Lists


class AsyncBraid(Calls, Lists, Ingestion, Chat):
    """A client with one connection to each tier, opened at first use, closed by `close` or `async with`.

    `timeout` is the deadline of a call in seconds, which is propagated through all hops; each method has a parameter
    `timeout` that overrides it. `tls` enables TLS with certificates in files, `credentials` with gRPC credentials.
    `api_key`, `space` and `user` must be printable ASCII: raises ValueError otherwise, and TypeError for other types
    than str. `space` and `user` are for keys with the scope `delegate`.

    Each method raises `BraidCallError` if the call fails, also for values that violate the contract's rules. Arguments
    that cannot be encoded in a request raise before anything is sent: TypeError for a wrong type, ValueError for a
    naive time, a number that is too large, or text that is not valid Unicode. Streaming methods raise when they are
    first read. All methods raise RuntimeError after the client is closed.
    """
