"""Runs of builds through oracle, golden models and hardware.

Ref: ScoRD (ISCA'20) Section V-A.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from racetrap.evaluation.scord.programs import Build, Schedule, trace_of
from racetrap.golden_model.barracuda import Race
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.sim.gpu.oracle import PAPER_RULE
from racetrap.verdict.gpu.findings import Reports, UniqueRace, reports_of
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.gpu.oracle import NOT_CHECKED, oracle_races
from racetrap.verdict.scord.detect import detect
from racetrap.verdict.scord.findings import find_races
from racetrap.verdict.scord.hardware import HardwareRun, run_hardware


@dataclass(frozen=True)
class BuildRun:
    """One run of a build; plain data, for a worker process.

    Parameters
    ----------
    build : Build
        What to run.
    size : str
        Size of an application's input.
    schedule : Schedule
        How to schedule it.
    seed : int
        Seed of the input.
    detectors : mapping of str to ScordParams
        Configurations of the golden model to run, by name.
    explained : str
        The one whose outcome for each actual race is recorded.
    model : FastModel or None
        Hardware to run too.
    region_log2 : int
        Log2 of the bytes of an application that are monitored at least.
    rule : str
        The oracle's definition of a race: one of ``ORACLE_RULES``.
    """

    build: Build
    size: str
    schedule: Schedule
    seed: int
    detectors: Mapping[str, ScordParams]
    explained: str
    model: FastModel | None = None
    region_log2: int = DEFAULT_REGION_LOG2
    rule: str = PAPER_RULE


@dataclass
class RunResult:
    """Result of a run.

    Parameters
    ----------
    run : BuildRun
        The run.
    events : int
        Events of its trace.
    oracle : set of (int, int, str)
        Unique races that are there in this run, and that ScoRD looks for: both program
        counters and kind.
    detectors : dict of str to set of UniqueRace
        Unique races that each golden model reports.
    reports : Reports
        Reports of the explained detector, each with the instructions that it conflicts with.
    outcomes : Counter of str
        Outcomes in the explained detector of each unique race, also of those that it does not look
        for.
    hardware : HardwareRun or None
        Result on the hardware.
    places : dict of int to str
        Source place of each program counter of a race.
    """

    run: BuildRun
    events: int = 0
    oracle: set[tuple[int, int, str]] = field(default_factory=set)
    detectors: dict[str, set[UniqueRace]] = field(default_factory=dict)
    reports: Reports = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    hardware: HardwareRun | None = None
    places: dict[int, str] = field(default_factory=dict)


def run_build(run: BuildRun) -> RunResult:
    """Make one run; everything about its result follows from ``run``.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    """
    trace = trace_of(run.build, run.size, run.schedule, run.seed, run.region_log2)
    params = run.detectors[run.explained]
    reports = reports_of(find_races(trace, params, region_of(trace))[1])
    found = oracle_races(trace, params, reports, run.rule)
    checked = [each for each in found if each.outcome not in NOT_CHECKED.values()]
    result = RunResult(
        run,
        events=len(trace),
        oracle={_key(each.race) for each in checked},
        detectors={
            # Explaining reports takes a whole run of that golden model.
            name: set(reports) if name == run.explained else detect(trace, params)
            for name, params in run.detectors.items()
        },
        reports=reports,
        outcomes=Counter(each.outcome for each in found),
    )
    if run.model is not None:
        result.hardware = run_hardware(run.model, trace, run.seed)
    pcs = {pc for first, second, _ in result.oracle for pc in (first, second)}
    pcs |= {pc for found in result.detectors.values() for pc, _ in found}
    locations = trace.header.locations
    result.places = {pc: locations[pc] for pc in sorted(pcs) if pc in locations}
    return result


def _key(race: Race) -> tuple[int, int, str]:
    pcs = sorted((race.first.pc, race.second.pc))
    return pcs[0], pcs[1], race.kind.value
