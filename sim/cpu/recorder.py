"""Recorder of real programs: C or C++ sources with threads to a trace of a run.

Ref: SigRace (ISCA'09) Section 3.2.3: the application is unmodified, and only relinked with a
synchronisation library.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple, TypedDict, Unpack

from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.trace.container.rules import TraceError
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.compiler import compile_program
from racetrap.sim.cpu.deadlock import WaitingThread, waiting_threads
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.instruction_counts import write_counts
from racetrap.sim.cpu.locations import find_locations
from racetrap.sim.cpu.merge import merge_records, prepare_merge
from racetrap.sim.cpu.raw import RAW_DTYPE, RawFrame, read_losses, thread_ids, used_bytes
from racetrap.sim.cpu.symbols import find_functions, find_names, find_variables
from racetrap.sim.cpu.trace_rules import checked_trace, prepare_rules
from racetrap.sim.cpu.unseen import unseen_functions
from racetrap.sim.cpu.unsupported import check_program
from racetrap.sim.cpu.watched_process import Ending, Limits, run_watched

#: Seconds after which a program is ended.
TIMEOUT = 600.0
#: Seconds that threads may outlive the program.
GRACE, MOST_GRACE = 1.0, 86_400.0
_MAX_SEED = (1 << 64) - 1
#: Maximum frames named in a trace, whose header is limited.
_MOST_FRAMES = 50_000


class Recording(NamedTuple):
    """A recorded run.

    Parameters
    ----------
    trace : ThreadTrace
        Its events.
    run_seconds : float
        Run time of the program under recording.
    merge_seconds : float
        Time to merge the threads' records into one order.
    raw_bytes : int
        Bytes of the raw records.
    ending : str
        How the program ended (``"ended by signal SIGABRT"``); empty if it returned 0.
    waiting : list of WaitingThread
        In a deadlock: what each thread waits for.
    losses : dict of str to int
        Amount of each kind of action that the trace lacks.
    unseen : list of str
        Functions of the C library that the program uses and whose writes the trace lacks.
    """

    trace: ThreadTrace
    run_seconds: float
    merge_seconds: float
    raw_bytes: int
    ending: str
    waiting: list[WaitingThread]
    losses: dict[str, int]
    unseen: list[str]


class RunOptions(TypedDict, total=False):
    """Options of a recorded run.

    Parameters
    ----------
    seed : int or None
        Seed of small delays before synchronisation, which vary the order of events.
    timeout : float
        Seconds after which the program is killed and counts as failed.
    seconds : float or None
        Seconds after which it is stopped; for programs that do not end.
    events : int or None
        Events after which it is stopped; the trace has no more, apart from the ends of threads.
    grace : float
        Seconds for which threads may continue after the program's end; 0 for none.
    child : bool
        Whether to record, from a fork on, the child instead of its parent.
    only : sequence of str
        Functions of the program; plain accesses are recorded only within calls of them.  Empty:
        everywhere.
    progress : callable or None
        Called from time to time with the approximate number of events so far.
    output : file or None
        The program's standard output; None: that of this process.
    """

    seed: int | None
    timeout: float
    seconds: float | None
    events: int | None
    grace: float
    child: bool
    only: Sequence[str]
    progress: Callable[[int], None] | None
    output: IO[str] | None


def _progress_of(raw: Path, progress: Callable[[int], None] | None) -> Callable[[], None]:
    """Call ``progress`` with the approximate number of events: the file grows by large parts."""

    def report() -> None:
        if progress is not None:
            progress(used_bytes(raw) // RAW_DTYPE.itemsize)

    return report


def _run(
    program: Path, arguments: Sequence[str], raw: Path, limits: Limits, options: RunOptions
) -> Ending:
    # An interrupt meant for the program would also stop a compiler, so none runs from here on.
    prepare_merge()
    prepare_rules()
    counts = raw / "counts"
    try:
        write_counts(program, counts)
    except OSError as error:
        raise RecordError(f"Instruction counts cannot be written: {error.strerror}") from None
    environment = os.environ | {"RACETRAP_RAW": str(raw), "RACETRAP_COUNTS": str(counts)}
    only = options.get("only", ())
    regions = ",".join(f"{begin:x}-{end:x}" for begin, end in find_functions(program, only))
    for name, value in (
        ("RACETRAP_SEED", options.get("seed")), ("RACETRAP_COUNTING", limits.events),
        ("RACETRAP_ONLY", regions or None),
        ("RACETRAP_FOLLOW", "child" if options.get("child") else None),
        ("RACETRAP_GRACE", round(1000 * options.get("grace", GRACE))),
    ):  # fmt: skip
        environment.pop(name, None)
        if value is not None:
            environment[name] = str(value)
    command = [str(program), *arguments]
    progress = _progress_of(raw, options.get("progress"))
    return run_watched(command, environment, raw, limits, progress, options.get("output"))


def _trace_of(
    raw: Path, program: Path, source: str, seed: int | None, most: int | None
) -> tuple[ThreadTrace, dict[str, int]]:
    """Trace of the raw records, and its losses."""
    events, pcs, frames = merge_records(raw, most)
    if not len(events):
        raise RecordError("Program left no records: link it with the C library as a shared one")
    calls = {frame.call for frame in frames.values()}
    places = find_locations(program, calls.union(pcs), raw / "modules")
    header = ThreadTraceHeader(
        threads=int(events["thread"].max()) + 1,
        source=source,
        seed=seed,
        locations={pc: places[pc] for pc in pcs if pc in places},
        variables=find_variables(program, events["address"], raw / "modules"),
        frames=_named(program, frames, places, raw / "modules"),
    )
    losses = {loss.name.lower(): count for loss, count in read_losses(raw).items()}
    if len(frames) > len(header.frames):
        losses["frames"] = len(frames) - len(header.frames)
    try:
        return checked_trace(header, events), losses
    except TraceError as error:
        raise RecordError(f"Program breaks a rule of its synchronisation: {error}") from None


def _named(
    program: Path, frames: dict[int, RawFrame], places: dict[int, str], modules: Path
) -> dict[int, Frame]:
    """Frames with names and places; the first ones if there are too many."""
    names = find_names(program, {frame.function for frame in frames.values()}, modules)
    return {
        number: Frame(
            frame.caller,
            names.get(frame.function, f"{frame.function:#x}"),
            places.get(frame.call, "") if frame.caller else "",
        )
        for number, frame in sorted(frames.items())[:_MOST_FRAMES]
    }


def source_text(sources: Sequence[Path], arguments: Sequence[str]) -> str:
    """Source text of a trace's header: the program's files and arguments, printable."""
    text = " ".join([*(Path(path).name for path in sources), *arguments])
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def record(
    sources: Sequence[Path],
    arguments: Sequence[str] = (),
    *,
    include: Sequence[Path] = (),
    options: Sequence[str] = (),
    **run: Unpack[RunOptions],
) -> Recording:
    """Compile a program, run it, and return its trace with the figures of the run.

    Parameters
    ----------
    sources : sequence of Path
        C and C++ files, unmodified.
    arguments : sequence of str
        Arguments of the program.
    include : sequence of Path
        Folders of header files, in addition to that of ``racetrap.h``.
    options : sequence of str
        More options for compiler and linker.
    run : RunOptions
        Options as for :func:`record_program`.

    Raises
    ------
    RecordError
        If the program cannot be compiled, run or recorded.
    ValueError
        If the seed or a limit is out of range.
    """
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        folder = Path(name)
        program = compile_program([Path(path) for path in sources], folder, include, options)
        title = " ".join(Path(path).name for path in sources)
        return record_program(program, arguments, title=title, **run)


def record_program(
    program: Path, arguments: Sequence[str] = (), *, title: str = "", **run: Unpack[RunOptions]
) -> Recording:
    """Run a program that ``racetrap cc`` or ``racetrap c++`` has built, and return its trace.

    If a program crashes, returns a status other than 0, is interrupted (SIGINT),
    deadlocks or runs too long, the trace ends there, and its ``source`` says how it ended.

    Parameters
    ----------
    program : Path
        The program.
    arguments : sequence of str
        Its arguments.
    title : str
        Its name in the trace's source, if not that of its file.
    run : RunOptions
        Options of the run.

    Raises
    ------
    RecordError
        If it cannot be run or recorded.
    ValueError
        If the seed or a limit is out of range.
    """
    seed, events = run.get("seed"), run.get("events")
    if seed is not None and not 0 <= seed <= _MAX_SEED:
        raise ValueError(f"Seed must be from 0 to {_MAX_SEED}, not {seed}")
    if events is not None and events < 1:
        raise ValueError(f"Events must be at least 1, not {events}")
    if not 0 <= run.get("grace", GRACE) <= MOST_GRACE:
        raise ValueError(f"Grace must be from 0 to {MOST_GRACE:g} seconds, not {run['grace']}")
    check_program(program)
    limits = Limits(run.get("timeout", TIMEOUT), run.get("seconds"), events)
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        raw = Path(name) / "raw"
        raw.mkdir()
        ending = _run(program.resolve(), arguments, raw, limits, run)
        raw_bytes = used_bytes(raw)
        begin = time.perf_counter()
        source = source_text([Path(title) if title else program], arguments)
        source += f" ({ending.text})" if ending.text else ""
        trace, losses = _trace_of(raw, program, source, seed, events)
        waiting = waiting_threads(trace, ending.waits, thread_ids(raw)) if ending.waits else []
        merge_seconds = time.perf_counter() - begin
        return Recording(
            trace,
            ending.seconds,
            merge_seconds,
            raw_bytes,
            ending.text,
            waiting,
            losses,
            unseen_functions(program),
        )
