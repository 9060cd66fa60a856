"""A streaming replica of a local PostgreSQL, on this machine."""

import asyncio
import os
import pwd
import shutil
from pathlib import Path

from deploy.local.errors import LocalStackError
from deploy.local.postgres import Postgres

# All other settings are the primary's, because a replica must not allow fewer connections.
SETTINGS = {"shared_buffers": "64MB", "fsync": "off", "hot_standby_feedback": "on"}


class Standby(Postgres):
    """A replica that `pg_basebackup` copies from a running primary at its first start; then it follows the log."""

    name = "standby"

    def __init__(self, primary: Postgres, data: Path) -> None:
        """Stores its files under `data`, which it owns."""
        super().__init__(data, settings=SETTINGS)
        self._primary = primary
        self._data = data

    async def start(self) -> None:
        """Starts the replica, after copying the primary if it has no files yet."""
        if not (self._cluster.data / "PG_VERSION").exists():
            for folder in ("logs", "run"):
                (self._data / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy(self._primary.secrets, self.secrets)
            await self._copy()
        await super().start()

    async def _copy(self) -> None:
        user = self._cluster.user
        self._cluster.folder.mkdir(parents=True, exist_ok=True)
        if user:
            owner = pwd.getpwnam(user)
            # The other user may traverse the folder, but not read it.
            self._data.chmod(0o711)
            os.chown(self._cluster.folder, owner.pw_uid, owner.pw_gid)
        process = await asyncio.create_subprocess_exec(
            self._cluster.binaries / "pg_basebackup",
            *("-d", self._primary.admin_dsn, "-D", self._cluster.data),
            *("--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            user=user or None,
            # The group of that user may traverse the primary's folder.
            group=pwd.getpwnam(user).pw_gid if user else None,
            env={"PATH": os.defpath, "HOME": "/"},
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise LocalStackError(f"pg_basebackup failed:\n{output.decode(errors='replace')}")

    async def _provision(self) -> None:
        """Does nothing: roles and databases are the primary's."""
