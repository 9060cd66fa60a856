"""Confines this process for good: it opens no files, no connections and no processes, as far as the kernel can do that.

It is for processes that handle untrusted data and need nothing but their pipes. What they import must be imported
before. Linux only: elsewhere, and on kernels without a feature, `confine_process` reports what does not hold.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass

# Constants of <linux/prctl.h>, <linux/seccomp.h>, <linux/landlock.h> and <linux/capability.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_FILTER_FLAG_TSYNC = 1
_SECCOMP_RET_KILL_PROCESS = 0x80000000
_SECCOMP_RET_ERRNO_EPERM = 0x00050001
_SECCOMP_RET_ALLOW = 0x7FFF0000
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_CREATE_RULESET_VERSION = 1
_LINUX_CAPABILITY_VERSION_3 = 0x20080522

_MAX_OPEN_FILES = 64


@dataclass(frozen=True, slots=True)
class Confinement:
    """Which protections hold in a process; `files_denied` and `network_denied` were tried after the others were set."""

    no_new_privileges: bool = False
    capabilities_dropped: bool = False
    hard_limits: bool = False
    landlock: bool = False
    seccomp: bool = False
    files_denied: bool = False
    network_denied: bool = False


@dataclass(frozen=True, slots=True)
class _Machine:
    """A processor architecture: its audit number, and its numbers of system calls."""

    audit: int
    seccomp: int
    capset: int
    prlimit64: int
    allowed: tuple[int, ...]


# What a Python process needs that computes and uses its pipes: read, write, readv, writev, close, fstat, lseek; brk,
# mmap, mprotect, munmap, mremap, madvise; rt_sigaction, rt_sigprocmask, rt_sigreturn, sigaltstack; sched_yield, futex,
# sched_getaffinity, restart_syscall; nanosleep, clock_gettime, clock_getres, clock_nanosleep, gettimeofday; getpid,
# gettid, getrusage, getrlimit, setrlimit, getrandom; exit, exit_group.
_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E,
        seccomp=317,
        capset=126,
        prlimit64=302,
        allowed=(
            *(0, 1, 19, 20, 3, 5, 8),
            *(12, 9, 10, 11, 25, 28),
            *(13, 14, 15, 131),
            *(24, 202, 204, 219),
            *(35, 228, 229, 230, 96),
            *(39, 186, 98, 97, 160, 318),
            *(60, 231),
        ),
    ),
    "aarch64": _Machine(
        audit=0xC00000B7,
        seccomp=277,
        capset=91,
        prlimit64=261,
        allowed=(
            *(63, 64, 65, 66, 57, 80, 62),
            *(214, 222, 226, 215, 216, 233),
            *(134, 135, 139, 132),
            *(124, 98, 123, 128),
            *(101, 113, 114, 115, 169),
            *(172, 178, 165, 163, 164, 278),
            *(93, 94),
        ),
    ),
}


def confine_process() -> Confinement:
    """Sets every protection that this system has, and returns which of them hold. They cannot be taken back."""
    hard_limits = _limit_resources()
    libc, machine = _libc(), _MACHINES.get(platform.machine())
    if libc is None:
        return Confinement(hard_limits=hard_limits)
    # The child of a parent that was killed would otherwise run on.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    no_new_privileges = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    landlock = no_new_privileges and _deny_with_landlock(libc)
    # Root could raise its hard limits again.
    capabilities_dropped = machine is not None and _drop_capabilities(libc, machine)
    seccomp = machine is not None and no_new_privileges and _filter_calls(libc, machine)
    return Confinement(
        no_new_privileges=no_new_privileges,
        capabilities_dropped=capabilities_dropped,
        hard_limits=hard_limits,
        landlock=landlock,
        seccomp=seccomp,
        files_denied=_files_are_denied(),
        network_denied=_network_is_denied(),
    )


def set_limit(what: int, soft: int, hard: int | None = None) -> bool:
    """Sets a limit of resources; `hard` defaults to the present one. Returns False where that is not possible."""
    _, present = resource.getrlimit(what)
    hard = present if hard is None else _lower(hard, present)
    # Not every operating system supports every limit.
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (_lower(soft, hard), hard))
        return True
    return False


def _lower(one: int, other: int) -> int:
    """Returns the stricter of two limits."""
    bounded = [limit for limit in (one, other) if limit != resource.RLIM_INFINITY]
    return min(bounded, default=resource.RLIM_INFINITY)


def _limit_resources() -> bool:
    """Forbids writing to files, core dumps and new processes, and limits open files."""
    limits = {
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: _MAX_OPEN_FILES,
    }
    failed = [what for what, value in limits.items() if not set_limit(what, value, value)]
    return not failed


def _libc() -> ctypes.CDLL | None:
    """Returns the C library; None on systems other than Linux."""
    return ctypes.CDLL(None, use_errno=True) if platform.system() == "Linux" else None


def _drop_capabilities(libc: ctypes.CDLL, machine: _Machine) -> bool:
    header = struct.pack("=Ii", _LINUX_CAPABILITY_VERSION_3, 0)
    none = struct.pack("=6I", *[0] * 6)
    return bool(libc.syscall(machine.capset, header, none) == 0)


def _deny_with_landlock(libc: ctypes.CDLL) -> bool:
    """Handles every right that the kernel's Landlock knows, and grants none."""
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION)
    if version < 1:
        return False
    # The versions that added rights: 2 moving, 3 truncating, 5 device control; 4 TCP; 6 signals and abstract sockets.
    file_rights = (1 << 13 + sum(version >= added for added in (2, 3, 5))) - 1
    attributes = struct.pack("=3Q", file_rights, 0b11, 0b11)
    size = 24 if version >= 6 else 16 if version >= 4 else 8  # noqa: PLR2004
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        return False
    restricted = libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return bool(restricted)


def _filter_calls(libc: ctypes.CDLL, machine: _Machine) -> bool:
    """Installs a seccomp filter, after which system calls other than the allowed ones fail with EPERM."""
    program = _build_filter(machine)
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, padding, their address.
    pointer = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    result = libc.syscall(
        machine.seccomp, _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC, pointer
    )
    return bool(result == 0)


def _build_filter(machine: _Machine) -> bytes:
    """Returns the filter's program in classic BPF (<linux/filter.h>)."""
    load, equal, answer = 0x20, 0x15, 0x06  # ld [k]; jeq #k, true, false; ret #k
    number, architecture, first_argument = 0, 4, 16  # offsets in struct seccomp_data
    instructions = [
        (load, 0, 0, architecture),
        (equal, 1, 0, machine.audit),
        (answer, 0, 0, _SECCOMP_RET_KILL_PROCESS),
        (load, 0, 0, number),
    ]
    for call in machine.allowed:
        instructions += [(equal, 0, 1, call), (answer, 0, 0, _SECCOMP_RET_ALLOW)]
    instructions += [
        # The limits of other processes stay out of reach: prlimit64 works on this process (0) alone.
        (equal, 0, 3, machine.prlimit64),
        (load, 0, 0, first_argument),
        (equal, 0, 1, 0),
        (answer, 0, 0, _SECCOMP_RET_ALLOW),
        (answer, 0, 0, _SECCOMP_RET_ERRNO_EPERM),
    ]
    return b"".join(struct.pack("=HBBI", *one) for one in instructions)


def _files_are_denied() -> bool:
    try:
        os.close(os.open("/", os.O_RDONLY))
    except OSError:
        return True
    return False


def _network_is_denied() -> bool:
    """Tries to bind a TCP port: Landlock permits sockets, but neither binding nor connecting them."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
            tried.bind(("127.0.0.1", 0))
    except OSError:
        return True
    return False
