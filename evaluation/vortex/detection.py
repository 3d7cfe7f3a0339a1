"""Micro-benchmarks on Vortex beside each detector: races reported, and what they do to results.

Ref: ScoRD (ISCA'20) Sections III and V, Table VI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from racetrap.evaluation.table import Table
from racetrap.generators.presets import find_preset
from racetrap.generators.systems import system_of
from racetrap.sim.cosim.vortex.harness import build_beside
from racetrap.sim.cosim.vortex.kernel_image import compile_kernel
from racetrap.sim.cosim.vortex.micro_kernels import kernel_source
from racetrap.sim.cosim.vortex.observed import compare_detector, observe, trace_of
from racetrap.sim.cosim.vortex.simulation import Machine, VortexRun, params_beside
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

#: Presets beside the cores, and whether their verdict is the suite's; else the exact analysis's.
DETECTORS = {"scord-nocache": True, "causality-nocache": False}
#: Seeds of each benchmark beside each detector.
SEEDS = range(1, 21)
_CORES = 4
_MOST_LATENCY, _MOST_JITTER = 140, 60


@dataclass(frozen=True)
class MicroRun:
    """A micro-benchmark beside a detector, with a memory drawn by a seed.

    Parameters
    ----------
    benchmark, preset : str
        Names.
    seed : int
        Seed; odd ones are with L1.
    """

    benchmark: str
    preset: str
    seed: int

    @property
    def machine(self) -> Machine:
        """Size and memory."""
        program, random = MICRO_BENCHMARKS[self.benchmark], Random(f"vortex {self.seed}")
        return Machine(
            cores=_CORES, blocks=program.blocks, threads=4 * program.warps_per_block,
            l1=bool(self.seed % 2), latency=random.randint(1, _MOST_LATENCY),
            jitter=random.randint(0, _MOST_JITTER),
        )  # fmt: skip


class MicroFound(NamedTuple):
    """What a run has shown; hardware and golden models were equal.

    Parameters
    ----------
    is_reported : bool
        Whether the hardware has reported a race.
    is_racy : bool
        Whether the exact analysis finds one in the trace.
    missed, false : int
        Addresses with a race that was not reported, and with a report without one.
    instructions, transactions, cycles : int
        Amounts compared; cycles of the kernel.
    """

    is_reported: bool
    is_racy: bool
    missed: int
    false: int
    instructions: int
    transactions: int
    cycles: int


def run_micro(run: MicroRun) -> MicroFound:
    """Run a micro-benchmark and compare it with the golden models.

    Raises
    ------
    Mismatch
        If hardware and golden models differ.
    Failure
        If Vortex or a tool is missing or fails.
    """
    preset: Any = find_preset(run.preset).params
    params = params_beside(preset, _CORES)
    with TemporaryDirectory() as folder:
        source = Path(folder) / f"{run.benchmark}.c"
        source.write_text(kernel_source(MICRO_BENCHMARKS[run.benchmark]), encoding="utf-8")
        kernel = compile_kernel(source)
    model = build_beside(run.preset, params)
    with closing(VortexRun(model, kernel, run.machine, run.seed)) as done:
        observed = [observe(done, core) for core in range(_CORES)]
        launch = compare_detector(done)
        report: Any = system_of(params).own("sim.cosim", "scoreboard").Scoreboard.report_class
        reported = {report.from_record(record).address & ~3 for record in launch.reports}
        races = run_oracle(trace_of(done, observed), JUDGE).races
        racy = {race.address & ~3 for race in races}
        return MicroFound(
            bool(reported), bool(racy), len(racy - reported), len(reported - racy),
            sum(map(len, observed)), sum(len(done.transactions(core)) for core in range(_CORES)),
            done.cycles,
        )  # fmt: skip


def detection_tables(found: Mapping[tuple[str, str], Sequence[MicroFound]]) -> list[Table]:
    """Tables of all runs by benchmark and preset."""
    names = list(dict.fromkeys(name for name, _ in found))
    presets = [preset for preset in DETECTORS if preset in {preset for _, preset in found}]
    rows = []
    for name in names:
        of_name = [run for preset in presets for run in found.get((name, preset), ())]
        reported = [
            f"{sum(run.is_reported for run in runs)} of {len(runs)}"
            if (runs := found.get((name, preset))) else None
            for preset in presets
        ]  # fmt: skip
        exact = f"{sum(run.is_racy for run in of_name)} of {len(of_name)}"
        rows.append(
            (name, "racy" if MICRO_BENCHMARKS[name].racy else "race-free", *reported, exact)
        )
    sums = []
    for preset in presets:
        runs = [run for (_, each), some in found.items() if each == preset for run in some]
        sums.append((
            preset, len(runs), sum(run.missed for run in runs), sum(run.false for run in runs),
            sum(run.instructions for run in runs), sum(run.transactions for run in runs),
            sum(run.cycles for run in runs),
        ))  # fmt: skip
    return [
        Table(
            "micro-benchmarks", "Runs of the ScoR micro-benchmarks in which a race is reported",
            "Each seed draws the latency of memory and how much it varies; every other run is with "
            "L1. Exact: runs whose trace is racy by PTX's memory model.",
            ("benchmark", "suite", *presets, "exact"), tuple(rows),
        ),
        Table(
            "sums", "Sums over all runs",
            "Words with a race by the exact analysis that the detector does not report, and the "
            "reverse; amounts of which hardware and golden models were compared, without a "
            "difference.",
            ("detector", "runs", "missed", "besides", "instructions", "transactions", "cycles"),
            tuple(sums),
        ),
    ]  # fmt: skip


def problems_of(found: Mapping[tuple[str, str], Sequence[MicroFound]]) -> list[str]:
    """Verdicts that are not those of the method, in sentences.

    ScoRD's are the suite's; causality's those of the exact analysis on the same run.
    """
    problems = []
    for (name, preset), runs in found.items():
        for number, run in enumerate(runs, 1):
            due = MICRO_BENCHMARKS[name].racy if DETECTORS[preset] else run.is_racy
            if run.is_reported != due:
                must = "be reported" if due else "not be reported"
                problems.append(f"{name} must {must} by {preset} in run {number}")
    return problems
