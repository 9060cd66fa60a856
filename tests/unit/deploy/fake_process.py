"""A tiny process for the supervisor's tests: listens, tells a diary when it starts and stops.

`fake_process.py ADDRESS DIARY NAME`; it ends on SIGTERM, unless NAME starts with "stubborn":
then neither it nor the process that it starts does.
"""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path


async def main(address: str, diary: Path, name: str) -> None:
    """Listen until told to end."""

    def tell(what: str) -> None:
        with diary.open("a") as file:
            file.write(f"{what} {name}\n")

    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    stubborn = name.startswith("stubborn")
    if stubborn:
        subprocess.Popen(("/bin/sleep", "1000"))  # noqa: ASYNC220 (it is not waited for)
    loop.add_signal_handler(signal.SIGTERM, lambda: None if stubborn else over.set())
    host, _, port = address.rpartition(":")
    server = await asyncio.start_server(lambda _, writer: writer.close(), host, int(port))
    tell("start")
    await over.wait()
    server.close()
    tell("stop")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
