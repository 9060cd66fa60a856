"""The commands of deploy/README.md, run unchanged on a PostgreSQL without roles and databases of Braid."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from deploy.local.cluster import Cluster
from deploy.local.postgres import Postgres
from deploy.local.provision import DATABASES, ROLES, write_and_run
from services.vector_search import database as vector
from tests.stores import FORGETFUL, data_folder

ROOT = Path(__file__).parents[3]
README = (ROOT / "deploy" / "README.md").read_text()
OWN_STORES = README.partition("\n# 2. Your own PostgreSQL and Neo4j\n")[2]
PROVISION, MIGRATE, *_ = re.findall(r"```sh\n(.*?)```", OWN_STORES, flags=re.DOTALL)


@pytest.fixture
async def bare() -> AsyncIterator[Postgres]:
    """A server without the databases and roles that the local stack creates."""
    with data_folder() as data:
        for folder in ("logs", "run"):
            (data / folder).mkdir(mode=0o700)
        postgres = Postgres(data, settings=FORGETFUL)
        postgres.prepare()
        await postgres.start()
        try:
            await forget(postgres.admin_dsn)
            yield postgres
        finally:
            await postgres.stop()


async def forget(dsn: str) -> None:
    admin = await asyncpg.connect(dsn)
    try:
        for database in DATABASES:
            await write_and_run(admin, "drop_database", database.name)
        for role in ROLES:
            await admin.execute(f"DROP ROLE {role}")
    finally:
        await admin.close()


def shell(postgres: Postgres, commands: str) -> subprocess.CompletedProcess[str]:
    """Runs commands in the repository's root with the tools of this run's environment."""
    admin = urlsplit(postgres.admin_dsn)
    folders = (Path(sys.executable).parent, Cluster(Path()).binaries, os.environ["PATH"])
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=ROOT,
        env={
            **os.environ,
            "PATH": os.pathsep.join(map(str, folders)),
            "PGHOST": host(postgres),
            "PGUSER": admin.username or "",
            "PGPASSWORD": admin.password or "",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def host(postgres: Postgres) -> str:
    """The folder of the server's socket."""
    return parse_qs(urlsplit(postgres.admin_dsn).query)["host"][0]


async def row_count(dsn: str, table: str) -> int:
    connection = await asyncpg.connect(dsn)
    try:
        count: int = await connection.fetchval(f"SELECT count(*) FROM {table}")  # noqa: S608
        return count
    finally:
        await connection.close()


async def test_the_commands_of_the_readme_create_databases_that_the_roles_can_use(
    bare: Postgres,
) -> None:
    before_replacing = MIGRATE.replace(" migrate\n", " migrate --pre\n")
    for commands in (PROVISION, before_replacing, MIGRATE, MIGRATE):
        ran = shell(bare, commands)
        assert ran.returncode == 0, ran.stderr
    vectors = f"@/braid_vector?host={host(bare)}"
    known = len(vector.load_schema().migrations)
    for user in ("braid_writer:change-me-2", "braid_reader:change-me-3"):
        assert await row_count(f"postgresql://{user}{vectors}", "schema_migration") == known
    jobs = f"postgresql://braid_agent:change-me-5@/braid_agent?host={host(bare)}"
    assert await row_count(jobs, "job") == 0


async def test_the_agents_role_cannot_connect_to_the_vector_database(bare: Postgres) -> None:
    assert shell(bare, PROVISION).returncode == 0
    wrong = f"postgresql://braid_agent:change-me-5@/braid_vector?host={host(bare)}"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await asyncpg.connect(wrong)
