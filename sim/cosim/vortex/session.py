"""A kernel on Vortex cores with and without a detector: compared, and as a trace."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from racetrap.generators.systems import system_of
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.vortex.harness import build_beside
from racetrap.sim.cosim.vortex.kernel_image import KernelImage, compile_kernel
from racetrap.sim.cosim.vortex.observed import compare_detector, observe, trace_of
from racetrap.sim.cosim.vortex.simulation import Machine, VortexRun


class Session(NamedTuple):
    """What a kernel has done.

    Parameters
    ----------
    image : KernelImage
        The kernel.
    cycles, cycles_without : int
        Cycles with the detector and without.
    result, result_without : list of int
        Words of the kernel's variable ``result``; none without such a variable.
    console : str
        What it has printed.
    reports : list
        Reports of the hardware, as software reads them.
    counters : dict of str to int
        The detector's counters.
    instructions, transactions : int
        Instructions at the front ends, and transactions of the detector; all compared.
    trace : Trace
        The run with the detector.
    """

    image: KernelImage
    cycles: int
    cycles_without: int
    result: list[int]
    result_without: list[int]
    console: str
    reports: list[Any]
    counters: dict[str, int]
    instructions: int
    transactions: int
    trace: Trace


def run_beside(
    preset: str, params: Any, source: Path, macros: Sequence[str], machine: Machine, seed: int
) -> Session:
    """Run a kernel with a detector and without, and compare hardware with the golden models.

    Parameters
    ----------
    preset : str
        Preset of the detector.
    params : GpuParams
        Its parameters, of the size of the machine.
    source : Path
        The kernel in C.
    macros : sequence of str
        Macros for the compiler.
    machine : Machine
        Size, memory and launch.
    seed : int
        Seed of all that is random.

    Raises
    ------
    Mismatch
        If hardware and golden models differ.
    SimulationError
        If the kernel does not end, or does what is not supported.
    Failure
        If Vortex or a tool is missing or fails.
    """
    image = compile_kernel(source, macros)
    model = build_beside(preset, params)
    with closing(VortexRun(model, image, machine, seed, has_detector=False)) as alone:
        cycles_without, result_without = alone.cycles, _result(alone)
    with closing(VortexRun(model, image, machine, seed)) as run:
        observed = [observe(run, core) for core in range(machine.cores)]
        launch = compare_detector(run)
        report = system_of(params).own("sim.cosim", "scoreboard").Scoreboard.report_class
        return Session(
            image, run.cycles, cycles_without, _result(run), result_without, run.console,
            [report.from_record(record) for record in launch.reports], run.sim.counters(),
            sum(map(len, observed)),
            sum(len(run.transactions(core)) for core in range(machine.cores)),
            trace_of(run, observed),
        )  # fmt: skip


def _result(run: VortexRun) -> list[int]:
    return run.variable("result") if "result" in run.kernel.symbols else []
