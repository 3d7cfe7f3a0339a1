"""Recorder of programs with accelerators: from C or C++ sources and shims to a trace.

Ref: Young (UBC 2020) Section 4.2, whose instrumentation was by hand.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    NoncoherentTraceHeader,
)
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_DTYPE
from racetrap.sim.accelerator.runtimes import RECORDER
from racetrap.sim.accelerator.target_map import TargetMap
from racetrap.sim.cpu.compiler import compile_program
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.locations import find_locations
from racetrap.sim.cpu.raw import used_bytes
from racetrap.sim.cpu.recorder import TIMEOUT, source_text
from racetrap.sim.cpu.watched_process import Limits, run_watched

#: File of records: the header, the open runs, then records.
_RUNS_AT, _RECORDS_AT = 4096, 8192
_PAGE = 4096
_OPEN_RUNS = 4
_RUN_DTYPE = np.dtype([
    ("first", "<u8"), ("last", "<u8"), ("pc", "<u4"), ("kind", "<u2"), ("is_open", "<u2"),
])  # fmt: skip
#: Operations processed together.
_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Allocator:
    """Layout of blocks on the target's heap.

    Parameters
    ----------
    padding : int
        Bytes between two blocks, for the allocator's own data.
    alignment : int
        Alignment of addresses and sizes of blocks.
    base : int or None
        Start address of the heap; None if unknown.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    padding: int = 16
    alignment: int = 16
    base: int | None = None

    def __post_init__(self) -> None:
        check_integer("Padding of the allocator", self.padding, 0, _PAGE)
        check_integer("Alignment of the allocator", self.alignment, 1, _PAGE)
        if self.alignment & (self.alignment - 1):
            raise ValueError(
                f"Alignment of the allocator must be a power of two, not {self.alignment}"
            )
        if self.base is not None:
            check_integer("Begin of the heap", self.base, 0, (1 << 64) - 1)

    def environment(self) -> dict[str, str]:
        """Environment of the runtime's heap; its lines are those of the target's heap."""
        return {
            "RACETRAP_PADDING": str(self.padding),
            "RACETRAP_ALIGNMENT": str(self.alignment),
            "RACETRAP_HEAP_OFFSET": str((self.base or 0) % _PAGE),
        }


class AcceleratorRecording(NamedTuple):
    """A recorded run.

    Parameters
    ----------
    trace : NoncoherentTrace
        Its operations.
    run_seconds : float
        Run time of the program under recording.
    """

    trace: NoncoherentTrace
    run_seconds: float


def _operations(raw: Path) -> np.ndarray:
    """Records of a run, including the runs that were open at its end."""
    end = used_bytes(raw)
    if end < _RECORDS_AT:
        raise RecordError("Program left no records: link it with the C library as a shared one")
    data = np.memmap(raw / "records", np.uint8, "r", shape=(end,))
    runs_end = _RUNS_AT + _OPEN_RUNS * _RUN_DTYPE.itemsize
    runs = data[_RUNS_AT:runs_end].view(_RUN_DTYPE)
    oldest = int(data[runs_end : runs_end + 8].view("<u8")[0])
    records = data[_RECORDS_AT:].view(OPERATION_DTYPE).view(np.ndarray)
    # The unused rest of the last part is zero; no operation is.
    last = records[-_BLOCK:]
    filled = np.flatnonzero((last["size"] != 0) | (last["kind"] != 0))
    count = len(records) - len(last) + (int(filled[-1]) + 1 if len(filled) else 0)
    left = [run for run in np.roll(runs, -oldest) if run["is_open"]]
    open_runs = np.zeros(len(left), OPERATION_DTYPE)
    open_runs["address"] = [run["first"] for run in left]
    open_runs["size"] = [run["last"] - run["first"] + np.uint64(1) for run in left]
    for name in ("pc", "kind"):
        open_runs[name] = [run[name] for run in left]
    return np.concatenate([records[:count], open_runs]) if left else records[:count]


def _values(operations: np.ndarray, name: str) -> list[int]:
    """Different values of a field, ascending."""
    found: set[int] = set()
    for start in range(0, len(operations), _BLOCK):
        found.update(np.unique(operations[name][start : start + _BLOCK]).tolist())
    return sorted(found)


def record_accelerator(
    sources: Sequence[Path],
    arguments: Sequence[str] = (),
    *,
    memory: MemorySystem | None = None,
    allocator: Allocator | None = None,
    target_map: Path | None = None,
    include: Sequence[Path] = (),
    options: Sequence[str] = (),
    timeout: float = TIMEOUT,
    progress: Callable[[int], None] | None = None,
    output: IO[str] | None = None,
) -> AcceleratorRecording:
    """Compile a program, run it, and return its trace.

    Parameters
    ----------
    sources : sequence of Path
        C and C++ files: the program, with a platform layer that calls the shims.
    arguments : sequence of str
        Arguments of the program.
    memory : MemorySystem or None
        The target's hardware; the number of engines is taken from the run.
    allocator : Allocator or None
        The target's heap.
    target_map : Path or None
        Map file of the target's linker, which gives its objects' addresses.
    include : sequence of Path
        Folders of header files, in addition to those of the shims.
    options : sequence of str
        More options for compiler and linker.
    timeout : float
        Seconds after which the program is ended.
    progress : callable or None
        Called from time to time with the approximate number of operations so far.
    output : file or None
        Target of the program's standard output; None: that of this process.

    Raises
    ------
    RecordError
        If the program cannot be compiled, run or recorded.
    ValueError
        If an option is out of range, or the map has no symbols.
    """
    memory, allocator = memory or MemorySystem(), allocator or Allocator()
    symbols = TargetMap.read(target_map) if target_map else None
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        folder, raw = Path(name), Path(name) / "raw"
        raw.mkdir()
        program = compile_program(
            [Path(path) for path in sources], folder, include, options, RECORDER
        )
        environment = os.environ | {
            "RACETRAP_RAW": str(raw),
            "RACETRAP_LINE": str(memory.line_bytes),
            **allocator.environment(),
        }

        def tell() -> None:
            if progress is not None:
                progress(used_bytes(raw) // OPERATION_DTYPE.itemsize)

        command = [str(program), *arguments]
        seconds, ending, _ = run_watched(command, environment, raw, Limits(timeout), tell, output)
        if ending:
            raise RecordError(f"Program must return 0, but it {ending}")
        operations = _operations(raw)
        layout = "host"
        if symbols is not None:
            operations, layout = symbols.relocated(operations, program)
        engines = _values(operations, "engine")
        header = NoncoherentTraceHeader(
            memory=replace(memory, engines=1 + max(engines, default=0)),
            layout=layout,
            source=source_text(sources, arguments),
            locations=find_locations(program, _values(operations, "pc")),
        )
        return AcceleratorRecording(NoncoherentTrace(header, operations), seconds)
