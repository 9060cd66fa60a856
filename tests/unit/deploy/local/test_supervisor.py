"""Crashed processes are restarted, stopped ones stay stopped, and processes stop in reverse order."""

import asyncio
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from deploy.local.child_process import Command, end_leftover
from deploy.local.errors import DataFolderInUseError, LocalStackError, NotRunningError, StartError
from deploy.local.ports import LOOPBACK, free_ports
from deploy.local.probes import listening
from deploy.local.processes import ProcessSpec
from deploy.local.progress import Silent
from deploy.local.stack import LocalStack
from deploy.local.supervisor import Backoff, Process
from tests.unit.deploy.local.waiting import alive, eventually

FAKE = str(Path(__file__).with_name("fake_process.py"))
QUICK = Backoff(first=0.01, longest=0.05)


def fake(diary: Path, name: str, **changes: object) -> ProcessSpec:
    """Returns a process that reads its address from its environment, as Braid's processes do."""
    code = f"import os, runpy, sys; sys.argv[1:] = [os.environ['LISTEN'], {str(diary)!r}, {name!r}]"
    program = (sys.executable, "-c", f"{code}; runpy.run_path({FAKE!r}, run_name='__main__')")
    spec = ProcessSpec(name=name, program=program, probe=listening, listen="LISTEN")
    return replace(spec, **changes)  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def running(data: Path, *specs: ProcessSpec) -> AsyncIterator[LocalStack]:
    stack = LocalStack(data, ports="free", processes=specs, with_stores=False, backoff=QUICK)
    async with stack:
        yield stack


class Notes(Silent):
    """Collects the notes."""

    def __init__(self) -> None:
        self.reported: list[str] = []

    def note(self, text: str) -> None:
        """Keeps the note."""
        self.reported.append(text)


async def test_settings_without_effect_are_reported(tmp_path: Path) -> None:
    notes = Notes()
    environment = {"LISTEN": "127.0.0.1:9", "BRAID_API_KEYS_FILE": "/mine.json"}
    stack = LocalStack(
        tmp_path,
        ports="free",
        processes=[fake(tmp_path / "diary", "one")],
        with_stores=False,
        base_env={**os.environ, **environment},
        progress=notes,
    )
    async with stack:
        assert stack.addresses["one"] != environment["LISTEN"]
    [keys, addresses] = notes.reported
    assert str(tmp_path / "api_keys.json") in keys
    assert addresses.endswith(": LISTEN")


async def test_a_crashed_process_is_restarted(tmp_path: Path) -> None:
    async with running(tmp_path, fake(tmp_path / "diary", "one")) as stack:
        before = stack.pid("one")
        assert before is not None
        os.kill(before, signal.SIGKILL)
        await eventually(lambda: stack.pid("one") not in (None, before))
        await eventually(lambda: stack.restarts("one") == 1)
        await listening(stack.addresses["one"])


async def test_a_killed_process_stays_stopped_until_it_is_started(tmp_path: Path) -> None:
    async with running(tmp_path, fake(tmp_path / "diary", "one")) as stack:
        await stack.kill("one")
        assert stack.pid("one") is None
        with pytest.raises(NotRunningError):
            await stack.kill("one")
        await stack.start_process("one")
        assert psutil.pid_exists(stack.pid("one") or 0)
        assert stack.restarts("one") == 0


async def test_a_process_killed_with_restart_is_restarted(tmp_path: Path) -> None:
    async with running(tmp_path, fake(tmp_path / "diary", "one")) as stack:
        await stack.kill("one", restart=True)
        await eventually(lambda: stack.pid("one") is not None)


async def test_a_stopped_process_ends_cleanly(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    async with running(tmp_path, fake(diary, "one"), fake(diary, "two")) as stack:
        await stack.stop_process("one")
        assert "stop one" in diary.read_text()
        assert stack.pid("one") is None
        assert stack.pid("two") is not None


async def test_processes_stop_in_reverse_order(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    async with running(tmp_path, *(fake(diary, name) for name in ("a", "b", "c"))):
        pass
    stops = [line for line in diary.read_text().splitlines() if line.startswith("stop")]
    assert stops == ["stop c", "stop b", "stop a"]


async def test_a_process_that_does_not_stop_is_killed_with_its_children_after_its_grace(
    tmp_path: Path,
) -> None:
    process = fake_process(tmp_path, "stubborn", grace=0.2)
    await process.start()
    pid = process.pid
    assert pid is not None
    (started,) = psutil.Process(pid).children()
    await process.stop()
    assert not psutil.pid_exists(pid)
    await eventually(lambda: not alive(started))


async def test_a_process_that_ends_immediately_is_an_error_with_the_end_of_its_log(
    tmp_path: Path,
) -> None:
    broken = fake(tmp_path / "diary", "broken", program=(sys.executable, "-c", "1 / 0"))
    with pytest.raises(
        StartError, match=r"^broken did not start: it ended with code 1: ZeroDivisionError: [^\n]*$"
    ):
        async with running(tmp_path, fake(tmp_path / "diary", "fine"), broken):
            pass
    assert not (tmp_path / "run.json").exists()
    assert not list((tmp_path / "run").glob("*.pid"))


async def test_the_reported_end_of_the_log_excludes_earlier_starts(tmp_path: Path) -> None:
    def failing_with(reported: str) -> ProcessSpec:
        program = (sys.executable, "-c", f"raise SystemExit({reported!r})")
        return fake(tmp_path / "diary", "broken", program=program)

    for reported in ("the first is wrong", "the second is wrong"):
        with pytest.raises(StartError) as failed:
            async with running(tmp_path, failing_with(reported)):
                pass
        assert f"it ended with code 1: {reported}. Its log" in str(failed.value)


async def test_setup_runs_before_the_process_and_its_failure_is_an_error(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    setup = (sys.executable, "-c", f"open({str(diary)!r}, 'a').write('setup\\n')")
    async with running(tmp_path, fake(diary, "one", setup=setup)):
        assert diary.read_text().splitlines() == ["setup", "start one"]
    with pytest.raises(StartError, match=r"one\.setup did not start: it ended with code 3"):
        async with running(
            tmp_path, fake(diary, "one", setup=(sys.executable, "-c", "raise SystemExit(3)"))
        ):
            pass


async def test_the_run_file_lists_the_processes_and_is_private(tmp_path: Path) -> None:
    async with running(tmp_path, fake(tmp_path / "diary", "one")) as stack:
        content = json.loads(stack.run_file.read_text())
        assert content["pid"] == os.getpid()
        assert content["processes"] == {"one": stack.pid("one")}
        assert content["addresses"] == stack.addresses
        assert content["keys_file"] == str(tmp_path / "api_keys.json")
        assert stat.S_IMODE(stack.run_file.stat().st_mode) == 0o600
    assert not stack.run_file.exists()


async def test_each_process_gets_its_key_and_no_settings_of_other_stores(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = (
        sys.executable,
        "-c",
        f"import json, os; json.dump(dict(os.environ), open({str(seen)!r}, 'w'))",
    )
    spec = fake(tmp_path / "diary", "one", setup=program, target="ONE_TARGET")
    async with LocalStack(
        tmp_path,
        ports="free",
        processes=[spec],
        with_stores=False,
        base_env={**os.environ, "DATABASE_URL": "somebody else's"},
        extra_env={"BRAID_LOG_LEVEL": "debug"},
    ) as stack:
        environment = json.loads(seen.read_text())
        assert environment["ONE_TARGET"] == stack.addresses["one"]
        assert environment["BRAID_LOG_LEVEL"] == "debug"
        assert len(environment["BRAID_SERVICE_KEY"]) >= 32
        assert "DATABASE_URL" not in environment


async def test_a_default_port_in_use_is_replaced_and_reported(tmp_path: Path) -> None:
    notes: list[str] = []

    class Notes(Silent):
        def note(self, text: str) -> None:
            notes.append(text)

        def amount(self, task: str, done: int, total: int) -> None:
            raise AssertionError("nothing is downloaded")

    (port,) = free_ports(1)
    holder = await asyncio.start_server(lambda _, writer: writer.close(), LOOPBACK, port)
    async with (
        holder,
        LocalStack(
            tmp_path,
            processes=[fake(tmp_path / "diary", "one", port=port)],
            with_stores=False,
            progress=Notes(),
        ) as stack,
    ):
        assert stack.addresses["one"] != f"{LOOPBACK}:{port}"
    assert notes == [f"Port {port} is taken: one listens on {stack.addresses['one']}"]


async def test_a_second_stack_on_the_same_folder_is_rejected(tmp_path: Path) -> None:
    async with running(tmp_path, fake(tmp_path / "diary", "one")) as stack:
        with pytest.raises(DataFolderInUseError, match=f"process {os.getpid()}"):
            await LocalStack(tmp_path, processes=(), with_stores=False).start()
        assert stack.pid("one") is not None
    async with running(tmp_path, fake(tmp_path / "diary", "one")):
        pass


async def test_an_unknown_process_name_is_rejected_with_the_known_ones(tmp_path: Path) -> None:
    async with running(tmp_path, fake(tmp_path / "diary", "one")) as stack:
        with pytest.raises(LocalStackError, match=r"'two'.*only one"):
            await stack.kill("two")


def fake_process(data: Path, name: str, *, grace: float = 10.0) -> Process:
    address = f"{LOOPBACK}:{free_ports(1)[0]}"
    command = Command(
        name=name,
        program=(sys.executable, FAKE, address, str(data / "diary"), name),
        environment=dict(os.environ),
        run=data,
        log=data / f"{name}.log",
        grace=grace,
    )
    return Process(command, listening, address)


async def test_a_process_left_over_from_a_killed_supervisor_is_ended(tmp_path: Path) -> None:
    command = command_of(tmp_path, ("/bin/sleep", "1000"))
    leftover = orphan(command)
    await end_leftover(command)
    assert not alive(leftover)
    assert not command.pid_file.exists()


async def test_an_unrelated_process_with_the_recorded_id_is_not_ended(tmp_path: Path) -> None:
    command = command_of(tmp_path, ("/bin/sleep", "1000"))
    command.pid_file.write_text(json.dumps({"pid": os.getpid(), "created": 1.0}))
    await end_leftover(command)
    assert psutil.pid_exists(os.getpid())


def orphan(command: Command) -> psutil.Process:
    """Starts a command as an orphan, as a killed supervisor leaves it, with its pid file."""
    started = subprocess.run(
        ["/bin/sh", "-c", '"$@" >/dev/null 2>&1 & echo $!', "sh", *command.program],
        check=True,
        capture_output=True,
        text=True,
    )
    process = psutil.Process(int(started.stdout))
    remembered = {"pid": process.pid, "created": process.create_time()}
    command.pid_file.write_text(json.dumps(remembered))
    return process


def command_of(data: Path, program: tuple[str, ...]) -> Command:
    return Command(
        name="sleeper", program=program, environment={}, run=data, log=data / "sleeper.log"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="parents' deaths are signalled on Linux only")
async def test_child_processes_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    script = (
        "import asyncio, pathlib, sys\n"
        "from deploy.local.child_process import Child, Command\n"
        "async def main():\n"
        "    data = pathlib.Path(sys.argv[1])\n"
        "    child = await Child.start(Command('sleeper', ('/bin/sleep', '1000'), {}, data,"
        " data / 'log'))\n"
        "    print(child.pid, flush=True)\n"
        "    await child.wait()\n"
        "asyncio.run(main())\n"
    )
    supervisor = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(tmp_path), stdout=subprocess.PIPE
    )
    assert supervisor.stdout is not None
    child = psutil.Process(int(await supervisor.stdout.readline()))
    await eventually(lambda: "sleep" in child.name())
    supervisor.kill()
    await supervisor.wait()
    await eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_the_delay_doubles_up_to_its_maximum_and_is_reset_after_a_steady_run() -> None:
    backoff = Backoff(first=1.0, longest=5.0, steady=30.0)
    assert [backoff.next(delay, 0.1) for delay in (0.5, 1.0, 2.0, 4.0)] == [1.0, 2.0, 4.0, 5.0]
    assert backoff.next(5.0, 30.0) == 1.0
