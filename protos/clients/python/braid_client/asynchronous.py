"""The asyncio client."""

from __future__ import annotations

from braid_client.chat import Chat
from braid_client.documents import Documents
from braid_client.entity_memory import EntityMemory
from braid_client.findings import Findings
from braid_client.history import History
from braid_client.ingestion import Ingestion
from braid_client.jobs import Jobs
from braid_client.memories import Memories
from braid_client.relations import Relations
from braid_client.searches import Searches


class AsyncBraid(
    Searches,
    History,
    Findings,
    EntityMemory,
    Memories,
    Relations,
    Ingestion,
    Jobs,
    Documents,
    Chat,
):
    """One connection to each tier that is used; opened when first needed, closed by `close` or `async with`.

    `timeout` is a call's deadline in seconds, which travels through all hops; each method takes another one by the same
    name. `tls` switches to TLS with certificates in files, `credentials` with those of gRPC.
    `api_key`, `space` and `user` are printable ASCII: ValueError otherwise,
    TypeError for what is not str. `space` and `user` are for keys with the scope `delegate`.

    Each method raises `BraidCallError` when the call fails, also for values that break the contract's rules. Arguments
    that no request can carry raise before anything is sent: TypeError for another type, ValueError for a naive time, a
    number that is too large, text that is no Unicode. Methods that stream raise when they are first read. RuntimeError
    once the client is closed.
    """
