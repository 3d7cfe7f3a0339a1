"""Run of a whole CUDA program: unmodified, with its kernels on the executor."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.launch_requests import LaunchRecord
from racetrap.sim.gpu.cuda.protocol import ProtocolError
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.server import Server
from racetrap.sim.gpu.cuda.session import Session
from racetrap.sim.gpu.executor.machine.event_log import Judge
from racetrap.sim.gpu.ptx.module import Function

#: Seconds that a program has to end by itself.
_END_SECONDS = 2.0


class ProgramError(ValueError):
    """A program that cannot be run."""


@dataclass(frozen=True)
class ProgramRun:
    """What a run left.

    Parameters
    ----------
    status : int
        Exit status of the program; negative, the signal that ended it.
    trace : Trace
        What its kernels and copies did.
    launches : tuple of LaunchRecord
        Its launches.
    problems : tuple of str
        Requests of it that could not be served, a sentence each.
    functions : tuple of Function
        Kernels and device functions that it has loaded.
    judge : Judge or None
        The judge of the run, if that was too long to be kept: then the trace has no events.
    """

    status: int
    trace: Trace
    launches: tuple[LaunchRecord, ...]
    problems: tuple[str, ...]
    functions: tuple[Function, ...]
    judge: Judge | None = None


def _start(command: Sequence[str], socket: Path, output: int) -> subprocess.Popen[bytes]:
    preload = [str(runtime_library()), *os.environ.get("LD_PRELOAD", "").split(":")]
    environment = os.environ | {
        "RACETRAP_EXECUTOR": str(socket),
        "LD_PRELOAD": ":".join(name for name in preload if name),
    }
    try:
        return subprocess.Popen(command, env=environment, stdout=output)
    except OSError as error:
        raise ProgramError(f"Program {command[0]} cannot be started: {error.strerror}") from None


def _serve(server: Server, process: subprocess.Popen[bytes]) -> int:
    """Serve a program until it ends; its exit status."""
    descriptor = os.pidfd_open(process.pid)
    try:
        server.serve_until(descriptor)
        return process.wait()
    except ProtocolError as error:
        raise ProgramError(f"Program breaks the protocol of its runtime library: {error}") from None
    finally:
        os.close(descriptor)
        if process.poll() is None:
            # Its connection is closed, which ends it; but it may be deaf.
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()


def _session_of(sessions: Sequence[Session], name: str, status: int) -> Session:
    """The session of the process that uses CUDA; of one that has ended before it did, any."""
    used = [session for session in sessions if session.launches or session.problems]
    used = used or [session for session in sessions if session.has_begun] or list(sessions[:1])
    if not used:
        ending = f"exit status {status}" if status >= 0 else f"signal {-status}"
        raise ProgramError(
            f"Program {name} ended with {ending} and no call of the CUDA runtime "
            "as a shared library: build it with `racetrap nvcc`"
        )
    if len(used) > 1:
        raise ProgramError(
            f"CUDA was used by {len(used)} processes of {name}: only one is supported"
        )
    return used[0]


def run_program(command: Sequence[str], settings: RunSettings) -> ProgramRun:
    """Run a program to its end.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    settings : RunSettings
        How it is run.

    Raises
    ------
    ProgramError
        If it cannot be started, is not linked with the runtime library, or breaks the protocol.
    ToolkitError
        If the runtime library cannot be compiled.
    """
    name = Path(command[0]).name
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        socket = Path(folder) / "executor"
        server = Server(socket, settings)
        status = _serve(server, _start(command, socket, settings.output))
    session = _session_of(server.sessions, name, status)
    judge = session.judge
    source = "".join(c if c.isprintable() else "?" for c in " ".join([name, *command[1:]]))
    return ProgramRun(
        status, session.trace(source), tuple(session.launches), tuple(session.problems),
        session.functions(), judge,
    )  # fmt: skip
