"""Reports of a detector beside the races of the exact judge, as pairs of program counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from racetrap.golden_model.barracuda import Race
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.parameters import integer
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle.rules import JUDGE, run_oracle
from racetrap.verdict.causality.findings import find_races
from racetrap.verdict.gpu.findings import Finding
from racetrap.verdict.gpu.fit import region_with_window

Pair = frozenset[int]
#: Races that a detector reports of a trace.
Detects = Callable[[Trace], Iterable[Finding]]

#: Nothing is left out because there is no room.
UNLIMITED = {
    "known": 1 << 20, "pending": 1 << 20, "seen": 1 << 20, "undecided": 32, "levels": 32,
    "records": 32, "ratio": 1, "clock_bits": 16,
}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Pairs of instructions of one trace by the judge.

    Parameters
    ----------
    races, strong : set of Pair
        Races, and pairs that are unordered but free to conflict.
    found : list of Race
        The races, each with its first instance.
    """

    races: set[Pair]
    strong: set[Pair]
    found: list[Race]


@dataclass(frozen=True)
class Judged(Verdict):
    """The same beside those of a detector.

    Parameters
    ----------
    reported : set of Pair
        Pairs that the detector reports.
    """

    reported: set[Pair]

    @property
    def ordered(self) -> set[Pair]:
        """Reported pairs that the judge finds ordered."""
        return self.reported - self.races - self.strong

    @property
    def reported_strong(self) -> set[Pair]:
        """Reported pairs that the judge finds unordered but free to conflict."""
        return (self.reported & self.strong) - self.races


def verdict_on(trace: Trace) -> Verdict:
    """The judge on one trace."""
    verdict = run_oracle(trace, JUDGE, bool(trace.header.independent_threads))
    races, strong = (
        {frozenset((race.first.pc, race.second.pc)) for race in found}
        for found in (verdict.races, verdict.unordered_strong)
    )
    return Verdict(races, strong, verdict.races)


@dataclass(frozen=True)
class _FewEntries(CausalityParams):
    """Parameters of causality, so many words of which may share an entry as no hardware has."""

    ratio: int = integer(32, 1, 1 << 16, power_of_two=True)


def params_for(trace: Trace, places: int = 0, **settings: int) -> CausalityParams:
    """Parameters with room for a trace's GPU.

    With ``places`` all global memory shares so many entries, or as many as there are block slots:
    each has an entry of its own for its shared memory.
    """
    size = trace.header.geometry
    made = _FewEntries(
        sm_count=size.sm_count, blocks_per_sm=size.blocks_per_sm,
        warps_per_sm=size.warps_per_sm, address_bits=48, **{"ratio": 1, **settings},
    )  # fmt: skip
    if not places:
        return made
    words = 1 << region_with_window(trace, made).size_log2 - 2
    return replace(made, ratio=max(1, min(words // places, made.shared_bytes // WORD_BYTES)))


def causality(**settings: int) -> Detects:
    """Causality with these parameters, and the size of the trace's GPU."""
    return lambda trace: find_races(trace, params_for(trace, **settings))[1]


def compare(trace: Trace, verdict: Verdict, detects: Detects) -> Judged:
    """A detector on a trace whose verdict is known."""
    reported = {frozenset((each.access.pc, each.earlier.pc)) for each in detects(trace)}
    return Judged(verdict.races, verdict.strong, verdict.found, reported)


def judged(trace: Trace, **settings: int) -> Judged:
    """The judge and causality on one trace."""
    return compare(trace, verdict_on(trace), causality(**settings))
