"""Cycles that a detector costs the applications on Vortex, and what they wait for.

Ref: ScoRD (ISCA'20) Section V, Figure 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean
from typing import Any, NamedTuple

from racetrap.evaluation.table import Cell, Table
from racetrap.evaluation.vortex.programs import CORES, Program
from racetrap.generators.presets import chosen_params
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.vortex.applications import APPLICATIONS
from racetrap.sim.cosim.vortex.harness import DetectorWait
from racetrap.sim.cosim.vortex.session import Alone, Session, run_alone, run_beside
from racetrap.sim.cosim.vortex.simulation import Machine, params_beside

#: Detectors by title: preset and changed parameters.
DETECTORS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ScoRD": ("scord-nocache", ()),
    "ScoRD, 8 outstanding": ("scord-nocache", ("outstanding=8",)),
    "ScoRD, 512 outstanding": ("scord-nocache", ("outstanding=512",)),
    "ScoRD, 8 words a cycle": ("scord-nocache", ("words_per_cycle=8", "banks=8")),
    "ScoRD, local metadata": ("scord-local", ("local_bytes=8192",)),
    "causality": ("causality-nocache", ()),
}
#: Memories by title: cycles of an access, and of 16 bytes on the wires that metadata share.
MEMORIES: Mapping[str, tuple[int, int]] = {
    "latency 20": (20, 0), "latency 20, shared": (20, 1),
    "latency 140": (140, 0), "latency 140, shared": (140, 1),
}  # fmt: skip
_SEED, _JITTER = 1, 3
#: ScoRD's mean overhead in the paper, in %.
PAPER = 35


@dataclass(frozen=True)
class OverheadRun:
    """An application beside a detector.

    Parameters
    ----------
    program : Program
        An application without a switch.
    detector, memory : str
        Titles.
    """

    program: Program
    detector: str
    memory: str

    @property
    def machine(self) -> Machine:
        """Size, launches and memory, with L1."""
        latency, transfer = MEMORIES[self.memory]
        return replace(
            self.program.machine, l1=True, latency=latency, jitter=_JITTER, transfer=transfer
        )

    @property
    def params(self) -> Any:
        """The detector's parameters."""
        (params,) = chosen_params(*DETECTORS[self.detector], Trace)
        return params_beside(params, CORES)

    def sessions(self) -> tuple[Alone, Session]:
        """The application without and with the detector; errors as of ``run_beside``."""
        preset, _ = DETECTORS[self.detector]
        given = preset, self.params, self.program.compile(), self.machine, _SEED
        return run_alone(*given), run_beside(*given)


class OverheadFound(NamedTuple):
    """Cycles without and with the detector, and those in which a core's request waits for it."""

    without: int
    beside: int
    waits: Mapping[str, int]

    @property
    def more(self) -> float:
        """Cycles with the detector, for each without."""
        return self.beside / self.without


def run_overhead(run: OverheadRun) -> OverheadFound:
    """Run an application without and with a detector; errors as of ``run_beside``."""
    alone, done = run.sessions()
    return OverheadFound(alone.cycles, done.cycles, done.waits)


def overhead_runs(names: Sequence[str]) -> dict[str, list[OverheadRun]]:
    """Runs of applications, by a row's label."""
    return {
        f"overhead of {detector}, {memory}": [
            OverheadRun(Program(name), detector, memory) for name in names
        ]
        for detector in DETECTORS
        for memory in MEMORIES
    }


def overhead_tables(
    names: Sequence[str], found: Mapping[str, Sequence[OverheadFound]]
) -> list[Table]:
    """Tables of cycles and of waits, from the results by a row's label."""
    rows: list[tuple[Cell, ...]] = []
    waits: list[tuple[Cell, ...]] = []
    causes = [wait.name.lower() for wait in DetectorWait]
    for label, runs in found.items():
        if len(runs) != len(names):
            continue
        mean = geometric_mean(run.more for run in runs)
        title = label.removeprefix("overhead of ")
        rows.append((title, *(round(100 * (run.more - 1), 1) for run in runs),
                     round(100 * (mean - 1), 1)))  # fmt: skip
        cycles = sum(run.beside for run in runs) * CORES
        shares = (sum(run.waits[cause] for run in runs) / cycles for cause in causes)
        waits.append((title, *(round(100 * share, 1) for share in shares)))
    if not rows:
        return []
    return [
        Table(
            "overhead", "Cycles more with the detector, in %",
            "Applications without a race switch, with L1. Shared: metadata are in the memory of "
            f"the data, whose wires carry 16 bytes a cycle. The paper's mean is {PAPER} %, of a "
            "GPU with 15 SMs and 1,024 threads on each, whose network and caches metadata share.",
            ("detector, memory", *names, "mean"), tuple(rows),
        ),
        Table(
            "waits", "Cycles in which a core's request waits, in % of all cycles of all cores",
            "For the detector, which takes no transaction; for adapter and front end; for a fence "
            "on its way to the banks; for a lock's transaction; for the order of strong accesses. "
            "A core offers one request.",
            ("detector, memory", *(cause.replace("_", " ") for cause in causes)), tuple(waits),
        ),
    ]  # fmt: skip


#: Names of the applications.
NAMES = tuple(APPLICATIONS)
