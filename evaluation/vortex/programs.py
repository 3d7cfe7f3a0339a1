"""Programs on Vortex beside each detector: races reported, and what they do to results.

Ref: ScoRD (ISCA'20) Sections III and V, Tables II and VI.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.vortex.applications import APPLICATIONS, BLOCKS, THREADS
from racetrap.sim.cosim.vortex.kernel_image import KernelImage, compile_kernel
from racetrap.sim.cosim.vortex.micro_kernels import kernel_source
from racetrap.sim.cosim.vortex.session import Session, run_beside
from racetrap.sim.cosim.vortex.simulation import Machine, params_beside
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

CORES = 4
_MOST_LATENCY, _MOST_JITTER = 140, 60


@dataclass(frozen=True)
class Program:
    """A micro-benchmark, or an application with one of its race switches or none.

    Parameters
    ----------
    name : str
        Name in the suite.
    switch : str
        The switch.
    """

    name: str
    switch: str = ""

    def __str__(self) -> str:
        return f"{self.name}, {self.switch}" if self.switch else self.name

    @property
    def is_micro(self) -> bool:
        """Whether it is a micro-benchmark."""
        return self.name in MICRO_BENCHMARKS

    @property
    def is_racy(self) -> bool:
        """Whether the suite calls it racy."""
        return MICRO_BENCHMARKS[self.name].racy if self.is_micro else bool(self.switch)

    @property
    def machine(self) -> Machine:
        """Size and launches; the memory is the fastest."""
        if not self.is_micro:
            launches = APPLICATIONS[self.name].launches
            return Machine(CORES, BLOCKS, THREADS, launches=launches)
        micro = MICRO_BENCHMARKS[self.name]
        return Machine(CORES, micro.blocks, 4 * micro.warps_per_block)

    def compile(self) -> KernelImage:
        """Its kernel."""
        if not self.is_micro:
            return APPLICATIONS[self.name].compile(self.switch)
        with TemporaryDirectory() as folder:
            source = Path(folder) / f"{self.name}.c"
            source.write_text(kernel_source(MICRO_BENCHMARKS[self.name]), encoding="utf-8")
            return compile_kernel(source)

    def is_right(self, result: list[int]) -> bool:
        """Whether words are its result; a micro-benchmark has none."""
        return self.is_micro or APPLICATIONS[self.name].is_right(result)


#: All programs, by name.
PROGRAMS: Mapping[str, tuple[Program, ...]] = MappingProxyType({
    **{name: (Program(name),) for name in MICRO_BENCHMARKS},
    **{
        name: tuple(Program(name, switch) for switch in ("", *application.switches))
        for name, application in APPLICATIONS.items()
    },
})  # fmt: skip


@dataclass(frozen=True)
class ProgramRun:
    """A program beside a detector, with a memory drawn by a seed.

    Parameters
    ----------
    program : Program
        The program.
    preset : str
        Name of the detector's preset.
    seed : int
        Seed; odd ones are with L1.
    """

    program: Program
    preset: str
    seed: int

    @property
    def machine(self) -> Machine:
        """Size, launches and memory.

        Its answers vary, since locks that are tried in step may never be had.
        """
        random = Random(f"vortex {self.seed}")
        return replace(
            self.program.machine, l1=bool(self.seed % 2), latency=random.randint(1, _MOST_LATENCY),
            jitter=random.randint(1, _MOST_JITTER),
        )  # fmt: skip


class ProgramFound(NamedTuple):
    """What a run has shown; hardware and golden models were equal.

    Parameters
    ----------
    is_reported : bool
        Whether the hardware has reported a race.
    is_racy : bool
        Whether the exact analysis finds one in the trace.
    is_wrong : bool
        Whether the result is wrong.
    instructions, transactions, cycles : int
        Amounts compared; cycles of the kernel.
    """

    is_reported: bool
    is_racy: bool
    is_wrong: bool
    instructions: int
    transactions: int
    cycles: int


def run_program(run: ProgramRun) -> ProgramFound:
    """Run a program and compare it with the golden models.

    Raises
    ------
    Mismatch
        If hardware and golden models differ.
    Failure
        If Vortex or a tool is missing or fails.
    """
    preset: Any = find_preset(run.preset).params
    done: Session = run_beside(
        run.preset, params_beside(preset, CORES), run.program.compile(), run.machine, run.seed
    )
    return ProgramFound(
        bool(done.reports), bool(run_oracle(done.trace, JUDGE).races),
        not run.program.is_right(done.result), done.instructions, done.transactions, done.cycles,
    )  # fmt: skip
