"""Policies of rollback on one program: requests answered later, and conflicts confirmed first.

Ref: SigRace (ISCA'09) Sections 3.3.1 and 5.5, Fig. 10(a).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from racetrap.evaluation.sigrace.races import RaceCount
from racetrap.golden_model.sigrace.conflict_log import RollbackWhen
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import FirstRace, SigraceResult, SigraceStatistics
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.injection import inject
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace

#: Entries of an address ring, and those of the ring that tables compare by programs.
RING_DEPTHS = (1024, 2048, 4096, 8192, 16384)
CHOSEN_DEPTH = 8192
#: Deeper queues, whose false conflicts cost little with rings: entries of a queue and of a ring.
DEEPER = {32: 16384, 64: 32768}


def ring_name(depth: int) -> str:
    """Name of the policy that confirms conflicts by rings of so many entries."""
    return f"ring of {depth:,}"


@dataclass(frozen=True)
class Policy:
    """When the program is executed again.

    Parameters
    ----------
    rollback_when : RollbackWhen
        Requests that are answered at once.
    ring_depth : int
        Entries of the address rings; 0: there are none.
    history_depth : int or None
        Entries of a BlockHistoryQueue; None: as configured.
    """

    rollback_when: RollbackWhen = RollbackWhen.BLOCKS
    ring_depth: int = 0
    history_depth: int | None = None

    def run(self, params: SigraceParams, trace: ThreadTrace) -> SigraceResult:
        """SigRace with this policy."""
        if self.history_depth is not None:
            params = replace(params, history_depth=self.history_depth)
        sigrace = Sigrace(params, rollback_when=self.rollback_when, ring_depth=self.ring_depth)
        return run_sigrace(sigrace, trace)


#: All that are compared; the first is the paper's.
POLICIES: Mapping[str, Policy] = MappingProxyType(
    {str(when): Policy(when) for when in RollbackWhen}
    | {ring_name(depth): Policy(ring_depth=depth) for depth in RING_DEPTHS}
    | {
        f"{ring_name(ring)}, queues of {queue}": Policy(ring_depth=ring, history_depth=queue)
        for queue, ring in DEEPER.items()
    }
)
PAPERS, CHOSEN = next(iter(POLICIES)), ring_name(CHOSEN_DEPTH)


@dataclass(frozen=True)
class PolicyFigures:
    """A program with one policy, and its first injected run with a race if it has none itself.

    Parameters
    ----------
    first_race : FirstRace or None
        Costs until the first race was analysed.
    statistics : SigraceStatistics
        Counts of the program as it was recorded.
    repeated, repeated_for_nothing : int
        Instructions executed again in all runs, and those of rollbacks that found no race.
    races, missing : RaceCount
        Races of all runs, and those of ``PAPERS`` that are not among them.
    """

    first_race: FirstRace | None
    statistics: SigraceStatistics
    repeated: int
    repeated_for_nothing: int
    races: RaceCount
    missing: RaceCount


def compare_policies(
    trace: ThreadTrace, params: SigraceParams, seeds: Iterable[int]
) -> dict[str, PolicyFigures]:
    """Figures of each of ``POLICIES``.

    Parameters
    ----------
    trace : ThreadTrace
        The program as it was recorded.
    params : SigraceParams
        Configuration.
    seeds : iterable of int
        Each takes out a synchronisation, until a run has a race.
    """
    traces = [trace]
    papers = [POLICIES[PAPERS].run(params, trace)]
    if papers[0].statistics.first_race is None:
        for run, result in _racy_run(trace, params, seeds):
            traces.append(run)
            papers.append(result)
    found = {
        name: [policy.run(params, each) for each in traces]
        for name, policy in POLICIES.items()
        if name != PAPERS
    }
    return {name: _figures(results, papers) for name, results in ({PAPERS: papers} | found).items()}


def _racy_run(
    trace: ThreadTrace, params: SigraceParams, seeds: Iterable[int]
) -> list[tuple[ThreadTrace, SigraceResult]]:
    """The first injected run with a race, and what the paper's policy finds; none if none has."""
    for seed in seeds:
        if (injection := inject(trace, seed)) is None:
            break
        result = POLICIES[PAPERS].run(params, injection.trace)
        if result.statistics.first_race is not None:
            return [(injection.trace, result)]
    return []


def _figures(results: list[SigraceResult], papers: list[SigraceResult]) -> PolicyFigures:
    """Sums over the runs of a policy, beside those of the paper's policy."""
    statistics = [result.statistics for result in results]
    pairs = list(zip(results, papers, strict=True))
    missing = RaceCount(
        sum(len(_static(theirs) - _static(mine)) for mine, theirs in pairs),
        sum(len(set(theirs.races) - set(mine.races)) for mine, theirs in pairs),
    )
    counts = [RaceCount.of(result.races) for result in results]
    return PolicyFigures(
        next((each.first_race for each in statistics if each.first_race is not None), None),
        statistics[0],
        sum(each.repeated for each in statistics),
        sum(each.repeated_for_nothing for each in statistics),
        RaceCount(sum(each.static for each in counts), sum(each.dynamic for each in counts)),
        missing,
    )


def _static(result: SigraceResult) -> set[tuple[int, int]]:
    return {race.static_key for race in result.races}
