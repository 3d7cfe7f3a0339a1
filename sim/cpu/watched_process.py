"""Process of a recorded program, with limits and a deadlock test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import IO, NamedTuple

from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.locations import find_locations
from racetrap.sim.cpu.raw import counted_events, followed_child, read_error

_POLL_SECONDS = 0.05
_CHILD_POLL_SECONDS = 0.005
#: Time without progress of any thread that counts as a deadlock.
_DEADLOCK_SECONDS = 1.0
_FUTEX = 202
#: Time for an interrupted program to end by itself.
_GRACE_SECONDS = 2.0
_STATUS_OF_RUNTIME = 97


class Limits(NamedTuple):
    """Limits after which a running program is ended.

    Parameters
    ----------
    timeout : float
        Seconds after which it counts as failed.
    seconds : float or None
        Seconds after which it is stopped.
    events : int or None
        Events after which it is stopped.
    """

    timeout: float
    seconds: float | None = None
    events: int | None = None


class _Child:
    """Followed child of a program, if there is one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process, self._descriptor = 0, -1

    def _look(self) -> None:
        process, _ = followed_child(self._folder)
        if process == self._process:
            return
        self.close()
        self._process = process
        with suppress(ProcessLookupError):
            self._descriptor = os.pidfd_open(process)

    @property
    def process(self) -> int:
        """Its process id while it runs, else 0."""
        self._look()
        has_ended = self._descriptor < 0 or select([self._descriptor], [], [], 0)[0]
        return 0 if has_ended else self._process

    def kill(self) -> None:
        """Kill it, if it runs."""
        if self.process:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def close(self) -> None:
        """Forget it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


class Ending(NamedTuple):
    """Ending of a program's run.

    Parameters
    ----------
    seconds : float
        Seconds that it took.
    text : str
        How it ended (``"returned 3"``); empty if it returned 0.
    waits : tuple of (int, int)
        In a deadlock: the kernel's id of each thread, and the address at which it waits.
    """

    seconds: float
    text: str
    waits: tuple[tuple[int, int], ...] = ()


def _with_place(sentence: str, program: Path, modules: Path) -> str:
    """A sentence with the address of a call at its end replaced by the source line."""
    found = re.search(r" at (0x[0-9a-f]+)$", sentence)
    if not found:
        return sentence
    pc = int(found[1], 16)
    place = find_locations(program, [pc], modules if modules.exists() else None).get(pc)
    return f"{sentence[: found.start(1)]}{place}" if place else sentence


def _waits(task: Path) -> tuple[str, str] | None:
    """Address at which a thread waits without a limit, and its CPU time; else None."""
    try:
        call = (task / "syscall").read_text().split()
        fields = (task / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    # Number of the system call, then its arguments: futex's fourth is its timeout.
    if len(call) < 5 or call[0] != str(_FUTEX) or int(call[4], 16):
        return None
    return call[1], f"{fields[11]} {fields[12]}"


def _waiting(pid: int) -> tuple[tuple[Path, tuple[str, str]], ...] | None:
    """Addresses at which all threads wait, if all do."""
    try:
        tasks = sorted(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return None
    waits = [_waits(task) for task in tasks]
    found = tuple((task, wait) for task, wait in zip(tasks, waits, strict=True) if wait)
    return found if found and len(found) == len(tasks) else None


def _watch(
    process: subprocess.Popen[bytes],
    child: _Child,
    folder: Path,
    limits: Limits,
    progress: Callable[[], None],
    is_interrupted: Callable[[], bool],
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Wait for the end of a program and of its followed child; return the reason to end them, empty
    if they have ended, and the waiting threads in a deadlock."""
    begin = since = time.monotonic()
    before = None
    while True:
        has_ended = _ends(process, child, _POLL_SECONDS)
        if is_interrupted():
            # The terminal has interrupted the program, too, which handles that itself.
            _ends(process, child, _GRACE_SECONDS)
            return "interrupted", ()
        if has_ended:
            return "", ()
        progress()
        now = time.monotonic()
        waiting = _waiting(child.process or process.pid)
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


def _ends(process: subprocess.Popen[bytes], child: _Child, seconds: float) -> bool:
    """Whether a program and its followed child end within some time."""
    limit = time.monotonic() + seconds
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        while child.process and time.monotonic() < limit:
            time.sleep(_CHILD_POLL_SECONDS)
    return process.returncode is not None and not child.process


@contextmanager
def _own_interrupts() -> Iterator[Callable[[], bool]]:
    """Let an interrupt end only the program: handlers that watch for interrupts of this process, to
    end it and its tools soon, get no signal.

    Gives whether there has been one.  An exception instead might come within ``Popen.wait`` where
    that has taken its lock, and whoever waited next would do so for ever.
    """
    noted: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or handler in (signal.SIG_IGN, None):
        yield lambda: False
        return
    descriptor = signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)


def _text_of(status: int | None) -> str:
    """Ending of a process; for a child of another process only exits are known."""
    if status is None:
        return "did not exit, but was ended by a signal"
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
        Folder of the runtime's records and error.
    limits : Limits
        Limits after which it is ended.
    progress : callable
        Called many times a second while the program runs.
    output : file or None
        Its standard output; None: that of this process.

    Raises
    ------
    RecordError
        If it cannot be started, or did something that cannot be recorded.
    """
    begin = time.perf_counter()
    try:
        process = subprocess.Popen(command, env=environment, stdout=output)
    except OSError as error:
        raise RecordError(f"Program {command[0]} cannot be started: {error.strerror}") from None
    child = _Child(folder)
    text = ""
    waits: tuple[tuple[int, int], ...] = ()
    try:
        with _own_interrupts() as is_interrupted:
            text, waits = _watch(process, child, folder, limits, progress, is_interrupted)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        child.kill()
        child.close()
    seconds = time.perf_counter() - begin
    error_of_runtime = read_error(folder)
    followed, status_of_child = followed_child(folder)
    status = status_of_child if followed else process.returncode
    if status == _STATUS_OF_RUNTIME and error_of_runtime:
        raise RecordError(_with_place(error_of_runtime, Path(command[0]), folder / "modules"))
    return Ending(seconds, text or _text_of(status), waits)
