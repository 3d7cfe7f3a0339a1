"""Process of a program that is being recorded, with its limits and a test for deadlocks."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.locations import find_locations
from racetrap.sim.cpu.raw import counted_events, read_error

__all__ = ["Ending", "Limits", "run_watched"]

_POLL_SECONDS = 0.05
#: All threads must wait, without any progress, for so long.
_DEADLOCK_SECONDS = 1.0
_FUTEX = 202
#: An interrupted program has so long to end by itself.
_GRACE_SECONDS = 2.0
_STATUS_OF_RUNTIME = 97


class Limits(NamedTuple):
    """When a program that runs on is ended.

    Parameters
    ----------
    timeout : float
        Seconds after which it has failed.
    seconds : float or None
        Seconds that are enough.
    events : int or None
        Events that are enough.
    """

    timeout: float
    seconds: float | None = None
    events: int | None = None


class Ending(NamedTuple):
    """How a run of a program ended.

    Parameters
    ----------
    seconds : float
        Seconds that it took.
    text : str
        How it ended (``"returned 3"``); empty if it returned 0.
    waits : tuple of (int, int)
        In a deadlock: number of each thread, as the kernel has it, and address that it waits at.
    """

    seconds: float
    text: str
    waits: tuple[tuple[int, int], ...] = ()


def _with_place(sentence: str, program: Path, modules: Path) -> str:
    """A sentence that may end with the address of a call, with its source line instead."""
    found = re.search(r" at (0x[0-9a-f]+)$", sentence)
    if not found:
        return sentence
    pc = int(found[1], 16)
    place = find_locations(program, [pc], modules if modules.exists() else None).get(pc)
    return f"{sentence[: found.start(1)]}{place}" if place else sentence


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


def _waiting(pid: int) -> tuple[tuple[Path, tuple[str, str]], ...] | None:
    """What all threads wait for, if they all do."""
    try:
        tasks = sorted(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return None
    waits = [_waits(task) for task in tasks]
    found = tuple((task, wait) for task, wait in zip(tasks, waits, strict=True) if wait)
    return found if found and len(found) == len(tasks) else None


def _watch(
    process: subprocess.Popen[bytes], folder: Path, limits: Limits, progress: Callable[[], None]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Wait for the end of a program; why it must be ended, or nothing if it has ended, and what
    its threads wait for in a deadlock."""
    begin = since = time.monotonic()
    before = None
    while True:
        try:
            process.wait(_POLL_SECONDS)
            return "", ()
        except subprocess.TimeoutExpired:
            progress()
        now = time.monotonic()
        waiting = _waiting(process.pid)
        if waiting is None or waiting != before:
            before, since = waiting, now
        elif now - since > _DEADLOCK_SECONDS:
            text = f"in a deadlock: all {len(waiting)} threads wait for each other"
            return text, tuple((int(task.name), int(wait[0], 16)) for task, wait in waiting)
        if limits.events is not None and counted_events(folder) >= limits.events:
            return f"stopped after {limits.events} events", ()
        if limits.seconds is not None and now - begin > limits.seconds:
            return f"stopped after {limits.seconds:g} seconds", ()
        if now - begin > limits.timeout:
            return f"did not end within {limits.timeout:g} seconds", ()


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Let an interrupt end the program alone: whoever watches for interrupts of this process, to
    end it and its tools soon, is told of no signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    descriptor = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)


def _wait_after_interrupt(process: subprocess.Popen[bytes]) -> None:
    """Let a program that the terminal has interrupted, too, do what it does then."""
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _text_of(status: int) -> str:
    if status < 0:
        return f"ended by signal {signal.Signals(-status).name}"
    return f"returned {status}" if status else ""


def run_watched(
    command: Sequence[str],
    environment: dict[str, str],
    folder: Path,
    limits: Limits,
    progress: Callable[[], None],
    output: IO[str] | None = None,
) -> Ending:
    """Run a program with the recording runtime.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    environment : dict of str to str
        Its environment.
    folder : Path
        Where the runtime leaves its records, and its error.
    limits : Limits
        When it is ended.
    progress : callable
        Called many times a second while the program runs.
    output : file or None
        Its standard output; None: that of this process.

    Raises
    ------
    RecordError
        If it cannot be started, or did what cannot be recorded.
    """
    begin = time.perf_counter()
    try:
        process = subprocess.Popen(command, env=environment, stdout=output)
    except OSError as error:
        raise RecordError(f"Program {command[0]} cannot be started: {error.strerror}") from None
    text = ""
    waits: tuple[tuple[int, int], ...] = ()
    try:
        with _own_interrupts():
            try:
                text, waits = _watch(process, folder, limits, progress)
            except KeyboardInterrupt:
                _wait_after_interrupt(process)
                text = "interrupted"
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    seconds = time.perf_counter() - begin
    error_of_runtime = read_error(folder)
    if process.returncode == _STATUS_OF_RUNTIME and error_of_runtime:
        raise RecordError(_with_place(error_of_runtime, Path(command[0]), folder / "modules"))
    return Ending(seconds, text or _text_of(process.returncode), waits)
