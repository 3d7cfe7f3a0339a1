"""Reports of causality beside the races of the exact judge, as pairs of program counters."""

from dataclasses import dataclass

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle.rules import JUDGE, run_oracle
from racetrap.verdict.causality.findings import find_races

Pair = frozenset[int]

#: Nothing is left out for want of room.
UNLIMITED = {
    "known": 1 << 20, "pending": 1 << 20, "seen": 1 << 20, "undecided": 32, "levels": 32,
    "records": 32, "ratio": 1, "clock_bits": 16,
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """Pairs of instructions of one trace.

    Parameters
    ----------
    races, strong : set of Pair
        Races by the judge, and pairs that it finds unordered but free to conflict.
    reported : set of Pair
        Pairs that causality reports.
    """

    races: set[Pair]
    strong: set[Pair]
    reported: set[Pair]

    @property
    def ordered(self) -> set[Pair]:
        """Reported pairs that the judge finds ordered: there must be none."""
        return self.reported - self.races - self.strong


def params_for(trace: Trace, **settings: int) -> CausalityParams:
    """Parameters with room for a trace's GPU."""
    size = trace.header.geometry
    return CausalityParams(
        sm_count=size.sm_count, blocks_per_sm=size.blocks_per_sm,
        warps_per_sm=size.warps_per_sm, address_bits=48, **{"ratio": 1, **settings},
    )  # fmt: skip


def judged(trace: Trace, **settings: int) -> Judged:
    """The judge and causality on one trace."""
    verdict = run_oracle(trace, JUDGE, bool(trace.header.independent_threads))
    reported = {
        frozenset((finding.access.pc, finding.earlier.pc))
        for finding in find_races(trace, params_for(trace, **settings))[1]
    }
    return Judged(
        {frozenset((race.first.pc, race.second.pc)) for race in verdict.races},
        {frozenset((race.first.pc, race.second.pc)) for race in verdict.unordered_strong},
        reported,
    )
