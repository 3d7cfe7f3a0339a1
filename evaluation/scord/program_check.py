"""Verdict on a CUDA program: the exact oracle over the traces of its runs.

Ref: PTX ISA 9.0, Section 8.7; BARRACUDA (PLDI'17) Section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.evaluation.scord.baseline import Baseline, KnownRace
from racetrap.evaluation.scord.line_pairs import LinePair, LinePairs, place_of
from racetrap.golden_model.ptx_memory_model.oracle import OracleRule
from racetrap.sim.gpu.cuda.launch_requests import LaunchRecord
from racetrap.sim.gpu.cuda.program_run import ProgramRun
from racetrap.sim.gpu.oracle import CompiledOracle
from racetrap.sim.gpu.ptx.kernel_names import written_name

__all__ = ["Divergence", "ProgramCheck"]


@dataclass(frozen=True)
class Divergence:
    """A barrier that not all threads of a block came to.

    Parameters
    ----------
    place : str
        Line of the barrier.
    thread, grid_block : int
        First thread that was not there, and its block.
    """

    place: str
    thread: int
    grid_block: int


class ProgramCheck:
    """Runs of a program, one for each schedule, and what is wrong with them.

    Parameters
    ----------
    baseline : Baseline
        Races that are known, and do not count.

    Attributes
    ----------
    runs : list of ProgramRun
        The runs.
    divergences : dict of str to Divergence
        By place.
    """

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self.runs: list[ProgramRun] = []
        self.divergences: dict[str, Divergence] = {}
        self._pairs = LinePairs()

    def add(self, run: ProgramRun) -> None:
        """Check the trace of one more run."""
        locations = run.trace.header.locations
        result = CompiledOracle(OracleRule.CAUSALITY).run(run.trace)
        self._pairs.add(len(self.runs), result, locations)
        for each in result.barrier_divergences:
            place = place_of(each.pc, locations)
            self.divergences.setdefault(place, Divergence(place, each.thread, each.grid_block))
        self.runs.append(run)

    def require_selected(self, kernel: str, launches: str | None) -> None:
        """Raise ``ValueError`` if a choice of launches has left none to check."""
        if (kernel or launches) and not any(launch.traced for launch in self.launches):
            names = ", ".join(dict.fromkeys(written_name(each.kernel) for each in self.launches))
            raise ValueError(
                f"Launches checked must be some of the {len(self.launches)} ({names or 'none'}), "
                f"not {' and '.join(filter(None, (kernel, launches)))}"
            )

    def _divided(self) -> tuple[list[LinePair], list[LinePair], list[KnownRace]]:
        found = sorted(self._pairs.found.values(), key=lambda pair: -pair.instances)
        return self._baseline.divide(found)

    @property
    def pairs(self) -> list[LinePair]:
        """New races by pair of source lines, those with the most instances first."""
        return self._divided()[0]

    @property
    def known(self) -> list[LinePair]:
        """Races of the baseline that were found."""
        return self._divided()[1]

    @property
    def not_found(self) -> list[KnownRace]:
        """Races of the baseline that were not."""
        return self._divided()[2]

    @property
    def faults(self) -> list[str]:
        """What ended kernels before their time, each sentence once."""
        return list(
            dict.fromkeys(each.fault for run in self.runs for each in run.launches if each.fault)
        )

    @property
    def problems(self) -> list[str]:
        """What could not be done for the program, each sentence once."""
        return list(dict.fromkeys(problem for run in self.runs for problem in run.problems))

    @property
    def status(self) -> int:
        """Exit status of the first run that failed; 0 if none did."""
        return next((run.status for run in self.runs if run.status), 0)

    @property
    def has_findings(self) -> bool:
        """Whether anything is wrong with its kernels."""
        return bool(self.pairs or self.divergences or self.faults)

    @property
    def launches(self) -> tuple[LaunchRecord, ...]:
        """Launches of the first run."""
        return self.runs[0].launches
