"""Speed of simulation: golden model, hardware, both, and the cocotb testbench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Protocol

from racetrap.evaluation.throughput.rates import Rate, rate
from racetrap.generators.system import Params, System
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cosim.verilator.cocotb_build import build
from racetrap.sim.cosim.verilator.cocotb_run import run

_SEED = 1


class Workload(Protocol):
    """A random workload of one detector.

    Parameters
    ----------
    model : FastModel
        Hardware to run on.
    seed, size : int
        Seed of the stimulus, and how much of it.

    Attributes
    ----------
    sizes : tuple of (int, int)
        Size that is measured, and the one that cocotb can do in some seconds.
    volume : int
        Accesses or events.

    Raises
    ------
    Mismatch, SimulationError
        If hardware and golden model differ, or the simulation stops.
    """

    sizes: ClassVar[tuple[int, int]]
    volume: int

    def __init__(self, model: FastModel[Any], seed: int, size: int) -> None: ...

    def golden(self) -> float:
        """Seconds of the golden model alone."""

    def hardware(self) -> float:
        """Seconds of the hardware's simulation alone."""

    def together(self) -> float:
        """Seconds of both, with everything compared."""

    @staticmethod
    def plan(size: int) -> dict[str, Any]:
        """Plan of the testbench's random test."""

    @staticmethod
    def volume_of(note: Mapping[str, Any]) -> int | None:
        """Accesses or events that a note of that test counts; None if it is on something else."""


@dataclass(frozen=True)
class Rates:
    """Rates on one workload.

    Parameters
    ----------
    golden, hardware, together : Rate
        Of the golden model alone, of the hardware's simulation alone, and of both with
        everything compared.
    """

    golden: Rate
    hardware: Rate
    together: Rate


@dataclass(frozen=True)
class SameTrace:
    """One trace with everything compared.

    Parameters
    ----------
    cocotb, fast : float
        Accesses or events a second by cocotb and by the fast co-simulation.
    """

    cocotb: float
    fast: float


def speed(system: System[Any]) -> dict[str, Any]:
    """Rates of the preset of the detector's name, and cocotb's beside the fast co-simulation's."""
    preset = system.presets[system.name]
    return {
        **asdict(rates(preset.name, preset.params, _workload_of(system))),
        "same_trace": asdict(same_trace(system)),
    }


def _workload_of(system: System[Any]) -> type[Workload]:
    kind: type[Workload] = system.own("evaluation", "throughput").WORKLOAD
    return kind


def rates(
    preset: str, params: Params, kind: type[Workload], size: int | None = None, runs: int = 5
) -> Rates:
    """Measure in this process.

    Parameters
    ----------
    preset : str
        Preset that the parameters come from.
    params : Params
        Configuration.
    kind : type of Workload
        What is played.
    size : int, optional
        How much of it.
    runs : int
        Runs of each measurement.
    """
    work = kind(build_fast(preset, params), _SEED, size or kind.sizes[0])
    return Rates(
        golden=rate(work.volume, runs, work.golden),
        hardware=rate(work.volume, runs, work.hardware),
        together=rate(work.volume, runs, work.together),
    )


def same_trace(system: System[Any], preset: str = "", size: int | None = None) -> SameTrace:
    """Play one workload on the cocotb testbench and on the fast co-simulation.

    Parameters
    ----------
    system : System
        Detector.
    preset : str
        Its preset; the one of its name by default.
    size : int, optional
        Size of the workload.

    Raises
    ------
    BuildError
        If the testbench finds a difference, or plays another workload.
    """
    kind = _workload_of(system)
    preset, size = preset or system.name, size or kind.sizes[1]
    params = system.presets[preset].params
    tests = f"racetrap.tb.{system.name}.random_tests"
    with TemporaryDirectory() as folder:
        result = run(build(preset, params), tests, Path(folder), kind.plan(size), seed=_SEED)
    if result.failures:
        raise BuildError(f"Testbench disagrees with the golden model: {result.failures[0]}")
    volume, note = next(
        (volume, note) for note in result.notes if (volume := kind.volume_of(note)) is not None
    )
    # The testbench draws its first stimulus from this seed.
    seed = Random(f"{_SEED} stimulus 0").getrandbits(32)
    work = kind(build_fast(preset, params), seed, size)
    if work.volume != volume:
        raise BuildError(f"Testbench must check the same {work.volume} steps, not {volume}")
    fast = rate(volume, 5, work.together)
    return SameTrace(volume / note["seconds"], fast.median)
