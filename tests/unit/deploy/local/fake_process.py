"""A small process for the supervisor's tests: it listens and logs to a diary file when it starts and stops.

`fake_process.py ADDRESS DIARY NAME`; it ends on SIGTERM, unless NAME starts with "stubborn": then neither it nor its
child process does.
"""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path


async def main(address: str, diary: Path, name: str) -> None:
    """Listens until SIGTERM."""

    def log(what: str) -> None:
        with diary.open("a") as file:
            file.write(f"{what} {name}\n")

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    stubborn = name.startswith("stubborn")
    if stubborn:
        subprocess.Popen(("/bin/sleep", "1000"))  # noqa: ASYNC220 (nothing waits for it)
    loop.add_signal_handler(signal.SIGTERM, lambda: None if stubborn else stopped.set())
    host, _, port = address.rpartition(":")
    server = await asyncio.start_server(lambda _, writer: writer.close(), host, int(port))
    log("start")
    await stopped.wait()
    server.close()
    log("stop")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
