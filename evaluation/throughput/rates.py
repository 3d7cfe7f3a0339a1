"""Rates of simulation, measured in seconds of the processor."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from racetrap.sim.cosim.verilator.build_cache import BuildError

__all__ = ["Cocotb", "Rate", "Rates", "child_rates", "rate", "rate_of"]


@dataclass(frozen=True)
class Rate:
    """Accesses or events a second: the median of some runs, the slowest and the fastest."""

    median: float
    low: float
    high: float


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
class Cocotb:
    """Accesses or events a second of one trace with everything compared, by cocotb and by us."""

    cocotb: float
    fast: float


def rate(volume: int, runs: int, work: Callable[[], float]) -> Rate:
    """Rate of ``work``, which does ``volume`` and gives the seconds that it took."""
    return rate_of([volume / work() for _ in range(runs)])


def rate_of(measured: Sequence[float]) -> Rate:
    """What some runs give together."""
    return Rate(median(measured), min(measured), max(measured))


def child_rates(module: str, compiled: bool) -> Rates:
    """Measure in a process of its own, with the compiled golden model or the plain one.

    Without mypyc the plain one is measured in either case.

    Parameters
    ----------
    module : str
        Module that prints its ``Rates`` as JSON when it is run.
    compiled : bool
        Whether to use the compiled model.

    Raises
    ------
    BuildError
        If the process fails; the text ends with what it said.
    """
    modules = ["racetrap.sim.cosim.verilator.compiled", module] if compiled else [module]
    command = [sys.executable, "-m", *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"Measurement {' '.join(modules)} failed:\n{done.stderr}")
    sys.stderr.write(done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    return Rates(
        document["compiled"],
        golden=Rate(**document["golden"]),
        hardware=Rate(**document["hardware"]),
        together=Rate(**document["together"]),
    )
