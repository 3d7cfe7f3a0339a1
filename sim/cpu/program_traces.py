"""Traces of the programs, recorded once and cached."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.trace.files import read_thread_trace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.cpu.compiler import runtime_hash
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.recorder import record
from racetrap.sim.gnu_tools import run_tool

#: Seed of the recorder's small delays: threads alternate even on fewer processors.
_SEED = 1


@cache
def _compiler_version() -> str:
    return run_tool(["gcc", "--version"], "Version of the compiler cannot be read")


def program_trace(name: str, size: str, threads: int = 8) -> ThreadTrace:
    """Trace of a run of a program.

    The first call compiles, runs and records it; later ones, also of other processes, read the
    file that was kept.  A change of sources, arguments, compiler or recorder makes a new one.

    Parameters
    ----------
    name : str
        Name in ``PROGRAMS``.
    size : str
        Name of a size of that program.
    threads : int
        Number of threads, 1 to 64.

    Raises
    ------
    ValueError
        If the program or size is unknown, or the number of threads is out of range.
    RecordError
        If it cannot be recorded.
    """
    if name not in PROGRAMS:
        raise ValueError(unknown_name("program", name, PROGRAMS))
    if not 1 <= threads <= 64:
        raise ValueError(f"Threads must be from 1 to 64, not {threads}")
    program = PROGRAMS[name]
    arguments = program.command_line(size, threads)
    # All inputs of a recording, except the machine's scheduling.
    files = (*program.files, Path(__file__))
    key = content_key(arguments, runtime_hash(), _compiler_version(), files=files)
    path = cache_folder() / "programs" / f"{name}-{size}-{threads}-{key}.trace"

    def write(file: Path) -> None:
        recording = record([program.source], arguments, seed=_SEED)
        if recording.ending:
            raise RecordError(f"Program {name} must return 0, but it {recording.ending}")
        recording.trace.write_binary(file)

    keep(path, write)
    return read_thread_trace(path)
