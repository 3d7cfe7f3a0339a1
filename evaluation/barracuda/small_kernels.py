"""Verdicts on the small kernels beside the truth, which rests on no analysis.

Ref: BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.evaluation.barracuda.measure import RULES
from racetrap.evaluation.barracuda.witnesses import WitnessRun, find_witnesses
from racetrap.sim.gpu.oracle import run_oracle
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import SCHEDULES, capture


@dataclass(frozen=True)
class KernelVerdict:
    """Verdicts on a small kernel.

    Parameters
    ----------
    name : str
        Its name.
    is_racy : bool
        Whether it has a race, as the suite says.
    witnesses : tuple of str
        Kinds of witness that its runs show.
    racy_by : frozenset of str
        Rules by which it has a race or a barrier that some threads do not reach.
    """

    name: str
    is_racy: bool
    witnesses: tuple[str, ...]
    racy_by: frozenset[str]

    @property
    def wrong_rules(self) -> list[str]:
        """Rules whose verdict is not the truth."""
        return [rule for rule in RULES if (rule in self.racy_by) != self.is_racy]


def judge(run: WitnessRun) -> KernelVerdict:
    """Look for witnesses in a kernel's runs, and judge those of the suite's schedules by each
    rule."""
    racy_by = set()
    for scheduler, seed in SCHEDULES:
        trace = capture(run.case, scheduler, seed)
        for rule in RULES:
            result = run_oracle(trace, rule)
            if result.races or result.barrier_divergences:
                racy_by.add(rule)
    case = CASES[run.case.name]
    return KernelVerdict(case.name, case.is_racy, find_witnesses(run), frozenset(racy_by))
