"""A streaming replica of a local PostgreSQL, on this machine."""

import asyncio
import os
import pwd
import shutil
from pathlib import Path

from deploy.local.errors import LocalStackError
from deploy.local.postgres import Postgres

# What else the primary's settings say holds here too: a replica may not have fewer connections.
SETTINGS = {"shared_buffers": "64MB", "fsync": "off", "hot_standby_feedback": "on"}


class Standby(Postgres):
    """Copied from a running primary by `pg_basebackup` when first started; it follows its log then."""

    name = "standby"

    def __init__(self, primary: Postgres, data: Path) -> None:
        """Its files are under `data`, which it owns."""
        super().__init__(data, settings=SETTINGS)
        self._primary = primary
        self._data = data

    async def start(self) -> None:
        """Starts, copying first where there is nothing yet."""
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
            # The other user passes through, and reads nothing.
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
            env={"PATH": os.defpath, "HOME": "/"},
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise LocalStackError(f"pg_basebackup failed:\n{output.decode(errors='replace')}")

    async def _provision(self) -> None:
        """Roles and databases are the primary's."""
