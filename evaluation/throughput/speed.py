"""Speed of simulation: golden model, hardware, both, and the cocotb testbench.

``python -m racetrap.evaluation.throughput.speed DETECTOR`` prints the rates with the golden model
that the process uses (see ``racetrap.sim.cosim.verilator.compiled``).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Protocol

from racetrap.evaluation.throughput.rates import Rate, rate
from racetrap.evaluation.throughput.scord_workload import LinesWorkload, ScordWorkload
from racetrap.evaluation.throughput.sigrace_workload import SigraceWorkload
from racetrap.generators.presets import PRESETS
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cosim.verilator.cocotb_build import build
from racetrap.sim.cosim.verilator.cocotb_run import run
from racetrap.sim.cosim.verilator.compiled import is_compiled

__all__ = [
    "Rates",
    "SameTrace",
    "Workload",
    "main",
    "rates",
    "rates_in_child",
    "same_trace",
    "saturated",
    "speed",
]

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


_WORKLOADS: dict[str, type[Workload]] = {"scord": ScordWorkload, "sigrace": SigraceWorkload}


@dataclass(frozen=True)
class Rates:
    """Rates on one workload.

    Parameters
    ----------
    compiled : bool
        Whether the golden model is the compiled one.
    golden, hardware, together : Rate
        Of the golden model alone, of the hardware's simulation alone, and of both with
        everything compared.
    """

    compiled: bool
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


def speed(system: str, compiled: bool) -> dict[str, Any]:
    """Rates with the plain golden model, the compiled one if asked for, and cocotb's.

    Parameters
    ----------
    system : str
        Detector.
    compiled : bool
        Whether to measure the compiled golden model, too.
    """
    plain = rates_in_child(system, compiled=False)
    fast = rates_in_child(system, compiled=True) if compiled else None
    return {
        "plain": asdict(plain),
        "compiled": asdict(fast) if fast and fast.compiled else None,
        "same_trace": asdict(same_trace(system)),
    }


def rates(system: str, preset: str = "", size: int | None = None, runs: int = 5) -> Rates:
    """Measure in this process.

    Parameters
    ----------
    system : str
        Detector.
    preset : str
        Its preset; the paper's by default.
    size : int, optional
        Size of the workload.
    runs : int
        Runs of each measurement.
    """
    model = build_fast(preset or system, PRESETS[preset or system].params)
    return _measure(model, _WORKLOADS[system], size, runs)


def saturated(preset: str, params: ScordParams) -> Rates:
    """Measure on ScoRD in this process, with whole lines of all SMs: no port waits.

    Parameters
    ----------
    preset : str
        Preset that the parameters come from.
    params : ScordParams
        Configuration.
    """
    return _measure(build_fast(preset, params), LinesWorkload)


def _measure(
    model: FastModel, kind: type[Workload], size: int | None = None, runs: int = 5
) -> Rates:
    work = kind(model, _SEED, size or kind.sizes[0])
    return Rates(
        is_compiled(),
        golden=rate(work.volume, runs, work.golden),
        hardware=rate(work.volume, runs, work.hardware),
        together=rate(work.volume, runs, work.together),
    )


def rates_in_child(system: str, compiled: bool) -> Rates:
    """Measure in a process of its own, with the compiled golden model or the plain one.

    Without mypyc the plain one is measured in either case.

    Raises
    ------
    BuildError
        If the process fails; the text ends with what it said.
    """
    modules = ["racetrap.sim.cosim.verilator.compiled"] if compiled else []
    command = [*modules, "racetrap.evaluation.throughput.speed", system]
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BuildError(f"Measurement {' '.join(command)} failed:\n{done.stderr}")
    sys.stderr.write(done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    parts = {name: Rate(**document[name]) for name in ("golden", "hardware", "together")}
    return Rates(document["compiled"], **parts)


def same_trace(system: str, preset: str = "", size: int | None = None) -> SameTrace:
    """Play one workload on the cocotb testbench and on the fast co-simulation.

    Parameters
    ----------
    system, preset, size
        As of :func:`rates`.

    Raises
    ------
    BuildError
        If the testbench finds a difference, or plays another workload.
    """
    kind = _WORKLOADS[system]
    preset, size = preset or system, size or kind.sizes[1]
    params = PRESETS[preset].params
    tests = f"racetrap.tb.{system}.random_tests"
    with TemporaryDirectory() as folder:
        result = run(build(preset, params), tests, Path(folder), kind.plan(size), seed=_SEED)
    if result.failures:
        raise BuildError(
            f"Testbench must agree with the golden model, not say {result.failures[0]}"
        )
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


def main(arguments: Sequence[str]) -> None:
    """Print the rates of a detector, the only one of ``arguments``, as ``rates_in_child`` reads
    them."""
    print(json.dumps(asdict(rates(arguments[0]))))


if __name__ == "__main__":
    main(sys.argv[1:])
