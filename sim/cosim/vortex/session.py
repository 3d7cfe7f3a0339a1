"""A kernel on Vortex cores with and without a detector: compared, and as a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from racetrap.generators.systems import system_of
from racetrap.golden_model.events import Event
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.vortex.harness import build_beside
from racetrap.sim.cosim.vortex.kernel_image import KernelImage
from racetrap.sim.cosim.vortex.observed import compare_detector, events_of, observe, trace_of
from racetrap.sim.cosim.vortex.simulation import Machine, VortexRun
from racetrap.sim.cosim.vortex.strong_order import check_order


class Alone(NamedTuple):
    """What a kernel has done without a detector.

    Parameters
    ----------
    cycles : int
        Cycles of all launches.
    result : list of int
        Words of the kernel's variable ``result``; none without such a variable.
    """

    cycles: int
    result: list[int]


class Session(NamedTuple):
    """What a kernel has done beside a detector, in all its launches.

    Parameters
    ----------
    image : KernelImage
        The kernel.
    cycles : int
        Cycles.
    result : list of int
        Words of the kernel's variable ``result``; none without such a variable.
    console : str
        What it has printed.
    reports : list
        Reports of the hardware, as software reads them.
    counters : mapping of str to int
        The detector's counters.
    waits : mapping of str to int
        Cycles in which a core's request has waited for the detector, by what it waited for.
    instructions, transactions : int
        Instructions at the front ends, and transactions of the detector; all compared.
    trace : Trace
        The launches.
    """

    image: KernelImage
    cycles: int
    result: list[int]
    console: str
    reports: list[Any]
    counters: Counter[str]
    waits: Counter[str]
    instructions: int
    transactions: int
    trace: Trace


def run_alone(preset: str, params: Any, image: KernelImage, machine: Machine, seed: int) -> Alone:
    """Run a kernel without a detector; parameters and errors as of :func:`run_beside`."""
    cycles, memory = 0, image.data
    for run in _launches(preset, params, image, machine, seed, has_detector=False):
        cycles, memory = cycles + run.cycles, run.memory
    return Alone(cycles, image.variable("result", memory))


def run_beside(
    preset: str,
    params: Any,
    image: KernelImage,
    machine: Machine,
    seed: int,
    waves: Path | None = None,
) -> Session:
    """Run a kernel with a detector, and compare hardware with the golden models.

    Parameters
    ----------
    preset : str
        Preset of the detector.
    params : GpuParams
        Its parameters, of the size of the machine.
    image : KernelImage
        The kernel.
    machine : Machine
        Size, memory and launches.
    seed : int
        Seed of all that is random.
    waves : Path or None
        File for waves of detector and adapters in the first launch.

    Raises
    ------
    Mismatch
        If hardware and golden models differ.
    SimulationError
        If the kernel does not end, or does what is not supported.
    Failure
        If Vortex or a tool is missing or fails.
    """
    report: Callable[[Any], Any] = (
        system_of(params).own("sim.cosim", "scoreboard").Scoreboard.report_class.from_record
    )
    cycles = instructions = transactions = 0
    console, memory = "", image.data
    reports: list[Any] = []
    events: list[Event] = []
    counters, waits = Counter[str](), Counter[str]()
    for run in _launches(preset, params, image, machine, seed, has_detector=True, waves=waves):
        observed = [observe(run, core) for core in range(machine.cores)]
        if params.orders_accesses:
            check_order(run, observed)
        reports += map(report, compare_detector(run).reports)
        events += events_of(run, observed)
        counters.update(run.sim.counters())
        waits.update(run.waits)
        cycles += run.cycles
        instructions += sum(map(len, observed))
        transactions += sum(len(run.transactions(core)) for core in range(machine.cores))
        console, memory = console + run.console, run.memory
    return Session(
        image, cycles, image.variable("result", memory), console, reports, counters, waits,
        instructions, transactions, trace_of(image, params, events),
    )  # fmt: skip


def _launches(
    preset: str,
    params: Any,
    image: KernelImage,
    machine: Machine,
    seed: int,
    has_detector: bool,
    waves: Path | None = None,
) -> Iterator[VortexRun]:
    """Each launch when it has ended; its memory is what the next begins with."""
    model, memory = build_beside(preset, params, waves is not None), image.data
    for number in range(machine.launches):
        own = None if number else waves
        run = VortexRun(model, image, machine, seed, number, memory, has_detector, own)
        with closing(run):
            yield run
            memory = run.memory
