"""Runs of firmware on an example system, with what the bus monitor reports."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from racetrap.golden_model.noncoherent.packets import (
    BusOperation,
    Hit,
    MonitorStep,
    Row,
    is_empty,
    rows_of,
    rules_of,
)
from racetrap.golden_model.noncoherent.races import MonitorRace
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.noncoherent.taps.params import TapParams
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    DMA_KINDS,
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)
from racetrap.rtl.soc.params import SocParams
from racetrap.sim.failure import Failure
from racetrap.sim.soc.image import Image
from racetrap.sim.soc.systems import build_system

#: Cycles after which a run is ended: minutes.
MOST_CYCLES = 100_000_000
#: Cycles in which registers at the monitor's ports may still change when nothing is in it.
_MONITOR_CYCLES = 4
_K = OperationKind
_DIRTY = frozenset({_K.CACHED_WRITE})
_BEHIND_THE_CACHE = frozenset({_K.UNCACHED_WRITE, _K.DMA_WRITE})
#: Kinds of the earlier operation of the rules with the cache.
_EARLIER = {
    Rule.STALE_READ: _BEHIND_THE_CACHE, Rule.STALE_WRITE_BACK: _BEHIND_THE_CACHE
}  # fmt: skip


@dataclass(frozen=True)
class SystemRun:
    """A run of firmware.

    Parameters
    ----------
    status : int
        What ``main`` has returned.
    console : str
        Output of the firmware.
    cycles, instructions : int
        Clock cycles and instructions.
    empty_operations, lost_operations : int
        Operations of no bytes, and those that the queue has lost.
    wrong_reads : int
        Reads, by the CPU or the engine, of other data than coherent memory would have held.
    first_wrong : tuple of (int, int) or None
        PC of the first of them, 0 if it was the engine's, and number of operations before it.
    trace : NoncoherentTrace
        All operations that the monitor has taken.
    races : tuple of MonitorRace
        What the monitor has reported; the earlier operation is the latest with its tag.
    """

    status: int
    console: str
    cycles: int
    instructions: int
    empty_operations: int
    lost_operations: int
    wrong_reads: int
    first_wrong: tuple[int, int] | None
    trace: NoncoherentTrace
    races: tuple[MonitorRace, ...]


def run_firmware(
    system: str, params: SocParams, image: Image, arguments: Sequence[str] = (), *, seed: int = 1,
    waves: Path | None = None, program: Path | None = None, most_cycles: int = MOST_CYCLES,
    monitor_cycles: int = _MONITOR_CYCLES,
) -> SystemRun:  # fmt: skip
    """Run firmware until ``main`` returns.

    Parameters
    ----------
    system : str
        Name of the system, one of ``SYSTEMS``.
    params : SocParams
        Its parameters.
    image : Image
        The firmware.
    arguments : sequence of str
        Arguments of ``main``; its name comes before them.
    seed : int
        Seed of the engine's delays.
    waves : Path or None
        File of waves, in FST.
    program : Path or None
        Another build of the system, to plant a bug.
    most_cycles : int
        Cycles after which the run is ended.
    monitor_cycles : int
        Cycles with nothing in the monitor after which its clock stops until something comes, for
        speed; more change nothing.

    Raises
    ------
    Failure
        If the system cannot be built, the core meets an error, or ``main`` does not return.
    """
    program = program or build_system(system, params, has_waves=waves is not None)
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        folder = Path(name)
        words = "".join(f"{address:x} {word:x}\n" for address, word in image.words.items())
        (folder / "image").write_text(words, encoding="ascii")
        command = [
            str(program), str(folder / "image"), str(folder), str(seed), str(most_cycles),
            str(monitor_cycles), image.path.stem, *arguments,
        ]  # fmt: skip
        subprocess.run(command, check=True)
        if waves is not None:
            shutil.copy(folder / "waves.fst", waves)
        return _result(system, params.taps, image, arguments, seed, folder)


def _result(
    system: str, taps: TapParams, image: Image, arguments: Sequence[str], seed: int,
    folder: Path,
) -> SystemRun:  # fmt: skip
    monitor = taps.monitor
    lines = (folder / "summary").read_text(encoding="ascii").splitlines()
    found = {name: int(value) for name, value in (line.split() for line in lines)}
    console = (folder / "console").read_bytes().decode("utf-8", "replace")
    if not found["exited"]:
        what = "the core meets an error" if found["trapped"] else "it does not end"
        raise Failure(f"Firmware must return from main, but {what} after {found['cycles']} cycles")
    taken = [
        BusOperation(**monitor.operation_layout.unpack(word))
        for word in _words(folder / "operations", monitor.operation_layout.width)
    ]
    operations = [each for each in taken if not is_empty(each)]
    owners = [at for at, each in enumerate(operations) for _ in rows_of(monitor, each)]
    if found["rows"] != len(owners):
        raise Failure(
            f"Firmware must leave the monitor enabled, but it has checked {found['rows']} of "
            f"{len(owners)} rows"
        )
    events = [_operation(each) for each in operations]
    header = NoncoherentTraceHeader(
        memory=monitor.memory,
        layout="target",
        source=" ".join((f"{image.path.name} on {system}:", *arguments)).removesuffix(":"),
        seed=seed,
        locations=image.locations(
            sorted({event.pc for event in events} | {found["first_wrong_pc"]} - {0})
        ),
    )
    has_wrong = found["wrong_reads"] > 0
    return SystemRun(
        status=found["status"],
        console=console,
        cycles=found["cycles"],
        instructions=found["instructions"],
        empty_operations=len(taken) - len(operations),
        lost_operations=found["lost"],
        wrong_reads=found["wrong_reads"],
        first_wrong=(
            (found["first_wrong_pc"], found["first_wrong_operation"]) if has_wrong else None
        ),
        trace=NoncoherentTrace.from_events(header, events),
        races=tuple(_races(taps, operations, owners, folder / "steps")),
    )


def _words(path: Path, bits: int, extra: int = 0) -> Iterator[int]:
    """Payloads of a file, each of whole words, with ``extra`` words in front."""
    rows = np.fromfile(path, "<u4").reshape(-1, extra - (-bits // 32))
    return (int.from_bytes(row.tobytes(), "little") for row in rows)


def _operation(taken: BusOperation) -> Operation:
    rows, stride = (taken.rows, taken.stride) if taken.rows > 1 else (0, 0)
    return Operation(
        taken.kind, taken.address, taken.size, rows, stride, taken.engine, taken.tag
    )  # fmt: skip


def _races(
    taps: TapParams, operations: Sequence[BusOperation], owners: Sequence[int], steps: Path
) -> Iterator[MonitorRace]:
    """Reports of the monitor, each with the numbers of both operations; ``owners`` has the
    operation of each row."""
    monitor = taps.monitor
    by_tag: dict[int, list[int]] = {}
    for at, each in enumerate(operations):
        by_tag.setdefault(each.tag, []).append(at)
    for word in _words(steps, monitor.step_layout.width, extra=2):
        later = owners[word & ((1 << 64) - 1)]
        parts = monitor.step_layout.unpack(word >> 64)
        row = Row(**parts["row"])
        step = MonitorStep(row, Hit(**parts["dma"]), Hit(**parts["cache"]), 0)
        for rule, hit in rules_of(step):
            kinds = DMA_KINDS if hit is step.dma else _EARLIER.get(rule, _DIRTY)
            earlier = max(
                at for at in by_tag[hit.tag] if at < later and operations[at].kind in kinds
            )
            yield MonitorRace(
                rule, later, earlier, bool(hit.definite), bool(hit.others), row.first, row.end - 1
            )
