"""Process of a program that is being recorded, with a time limit and a test for deadlocks."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.raw import read_error

__all__ = ["run_watched"]

_POLL_SECONDS = 0.05
#: All threads must wait, without any progress, for so long.
_DEADLOCK_SECONDS = 1.0
_FUTEX = 202
_STATUS_OF_RUNTIME = 97


def _waits(task: Path) -> tuple[str, str] | None:
    """What a thread that waits without a limit waits for, and its time used; else None."""
    try:
        call = (task / "syscall").read_text().split()
        fields = (task / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    # Number of the call, then its arguments: the fourth of futex is its limit.
    if len(call) < 5 or call[0] != str(_FUTEX) or int(call[4], 16):
        return None
    return call[1], f"{fields[11]} {fields[12]}"


def _waiting(pid: int) -> tuple[object, ...] | None:
    """What all threads wait for, if they all do."""
    try:
        tasks = sorted(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return None
    waits = [_waits(task) for task in tasks]
    return tuple(zip(tasks, waits, strict=True)) if waits and all(waits) else None


def _watch(process: subprocess.Popen[bytes], timeout: float, progress: Callable[[], None]) -> None:
    begin = since = time.monotonic()
    before = None
    while True:
        try:
            process.wait(_POLL_SECONDS)
            return
        except subprocess.TimeoutExpired:
            progress()
        now = time.monotonic()
        waiting = _waiting(process.pid)
        if waiting is None or waiting != before:
            before, since = waiting, now
        elif now - since > _DEADLOCK_SECONDS:
            raise RecordError(
                f"Program is in a deadlock: all {len(waiting)} threads wait for each other"
            )
        if now - begin > timeout:
            raise RecordError(f"Program must end within {timeout:g} seconds")


def run_watched(
    command: Sequence[str],
    environment: dict[str, str],
    folder: Path,
    timeout: float,
    progress: Callable[[], None],
    output: IO[str] | None = None,
) -> float:
    """Run a program with the recording runtime.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    environment : dict of str to str
        Its environment.
    folder : Path
        Where the runtime leaves its records, and its error.
    timeout : float
        Seconds after which the program is ended.
    progress : callable
        Called many times a second while the program runs.
    output : file or None
        Its standard output; None: that of this process.

    Returns
    -------
    float
        Seconds that the program took.

    Raises
    ------
    RecordError
        If it crashed, returned a status other than 0, ran too long or into a deadlock, or did
        what cannot be recorded.
    """
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=output)
    try:
        _watch(process, timeout, progress)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    seconds = time.perf_counter() - begin
    status, error = process.returncode, read_error(folder)
    if status == _STATUS_OF_RUNTIME and error:
        raise RecordError(error)
    if status < 0:
        raise RecordError(f"Program was ended by signal {signal.Signals(-status).name}")
    if status:
        raise RecordError(f"Program must return 0, not {status}")
    return seconds
